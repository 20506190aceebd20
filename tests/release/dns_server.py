# SPDX-License-Identifier: Apache-2.0
"""DNS servers (RFC 1035) of one zone, by UDP and TCP, working ones and faulty ones."""

import ipaddress
import socketserver
import struct
import threading

TYPES = {1: "A", 28: "AAAA"}
NOERROR, SERVFAIL, NXDOMAIN = 0, 2, 3
MAX_UDP_BYTES = 512  # the limit of a client without EDNS


class Zone:
    """Lines of `NAME TYPE VALUE`, and a log of what was asked: `udp A NAME`."""

    def __init__(self, path, log):
        self._records = {}
        self._log = log
        self._lock = threading.Lock()
        with open(path, encoding="ascii") as lines:
            for name, kind, value in (line.split() for line in lines if line.strip()):
                self._records.setdefault(name, []).append((kind, value))

    def note(self, line):
        with self._lock, open(self._log, "a", encoding="ascii") as log:
            log.write(line + "\n")

    def addresses(self, name, kind):
        """None for a name that does not exist."""
        records = self._records.get(name)
        if records is None:
            return None
        return [ipaddress.ip_address(value).packed for of, value in records if of == kind]


def question_of(query):
    """The name in lower case, the type's number, and the question as it was sent."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii"))
        at += 1 + query[at]
    number = struct.unpack_from(">H", query, at + 1)[0]
    return ".".join(labels).lower(), number, query[12 : at + 5]


def reply_to(query, zone, transport, code):
    name, number, question = question_of(query)
    kind = TYPES.get(number, str(number))
    zone.note(f"{transport} {kind} {name}")
    found = zone.addresses(name, kind)
    if code == NOERROR and found is None:
        code = NXDOMAIN
    records = b""
    for packed in found or [] if code == NOERROR else []:
        records += struct.pack(">HHHIH", 0xC00C, number, 1, 60, len(packed)) + packed
    count = len(found or []) if records else 0
    is_cut = transport == "udp" and 12 + len(question) + len(records) > MAX_UDP_BYTES
    if is_cut:
        count, records = 0, b""
    flags = 0x8180 | code | (0x0200 if is_cut else 0)
    return query[:2] + struct.pack(">5H", flags, 1, count, 0, 0) + question + records


def serve(address, zone, code=NOERROR):
    """Serves UDP and TCP. A server without a zone answers nothing, as behind a firewall."""

    class OverUdp(socketserver.BaseRequestHandler):
        def handle(self):
            query, server = self.request
            if zone is not None:
                server.sendto(reply_to(query, zone, "udp", code), self.client_address)

    class OverTcp(socketserver.StreamRequestHandler):
        def handle(self):
            size = struct.unpack(">H", self.rfile.read(2))[0]
            reply = reply_to(self.rfile.read(size), zone, "tcp", code)
            self.wfile.write(struct.pack(">H", len(reply)) + reply)

    servers = [socketserver.ThreadingUDPServer((address, 53), OverUdp)]
    if zone is not None:
        servers.append(socketserver.ThreadingTCPServer((address, 53), OverTcp))
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
