# SPDX-License-Identifier: Apache-2.0
"""Changes a reply at every byte N: it ends after N bytes, stops there with the connection open,
continues with one byte a second, or has this byte changed. A relay does this to the bytes on the
connection: TLS records of token endpoints and Kubernetes APIs, HTTP of metadata services, HTTP/2
frames of the Workload API."""
import os
import socket
import threading
import time

import campaign
import judge
import path as paths
import plugin_paths

NAME = "replies"
SAMPLE = 6
BUILDS = ("glibc", "musl")
CUT, SILENT, SLOW, FLIPPED = "cut after", "silent after", "a byte a second after", "changed"
# The time limit of a run. Many run at once, because most of them only wait.
TIMEOUT = 2
WAITING_WORKERS = 32
PATHS = ("oidc-federation, no cache", "oidc-federation, discovery", "oidc-federation, Concierge",
         "oidc-federation, refresh token", "oidc-federation, client assertion",
         "oidc-federation, JWT as grant",
         "azure, managed identity", "google, metadata server", "aws, STS", "aws, instance metadata",
         "spiffe, JWT-SVID", "spiffe, X.509-SVID", "static-secret, hub", "bootstrap, TokenRequest",
         "bootstrap, CertificateSigningRequest", "execcred get --from-hub")
HOUR = paths.HOUR
# Without TLS a program cannot detect a changed bit. So a token or key of a metadata service with
# one changed bit is right. For a credential of the Workload API only the identity is checked, and
# not the expiry: only the issuer's signature would show a change.
UNPROTECTED = {
    "azure, managed identity": paths.credential(plugin_paths.is_issued_but_for_a_bit, longest=HOUR),
    "google, metadata server": paths.credential(plugin_paths.is_issued_but_for_a_bit, longest=HOUR),
    "aws, instance metadata": paths.credential(plugin_paths.is_signed_but_for_a_bit, longest=HOUR),
    "spiffe, JWT-SVID": paths.credential(plugin_paths.is_jwt_svid, longest=float("inf")),
    "spiffe, X.509-SVID": paths.credential(plugin_paths.is_x509_svid, longest=float("inf"))}


class Relay:
    """Connects to `upstream`, an address for connect(). Each connection gets the current fault."""

    def __init__(self, upstream, unix_path=None):
        self.upstream = upstream
        self.family = socket.AF_UNIX if unix_path else socket.AF_INET
        self.listener = socket.socket(self.family, socket.SOCK_STREAM)
        self.listener.bind(unix_path or ("127.0.0.1", 0))
        self.listener.listen(16)
        self.address = self.listener.getsockname()
        self.fault = None
        self.sent = 0
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(self.family, socket.SOCK_STREAM)
            server.connect(self.upstream)
            for pump, source, target in ((self.pass_on, client, server),
                                         (self.pump, server, client)):
                threading.Thread(target=pump, args=(source, target), daemon=True).start()

    def pass_on(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        shut(source, target)

    def pump(self, source, target):
        fault, passed = self.fault, 0
        try:
            while data := source.recv(65536):
                before, passed = passed, passed + len(data)
                if fault is None:
                    self.sent = max(self.sent, passed)
                elif fault[0] == FLIPPED:
                    data = changed(data, fault[1] - before)
                elif fault[1] < passed:
                    self.end(source, target, data, max(0, fault[1] - before), fault[0])
                    break
                target.sendall(data)
        except OSError:
            pass
        shut(source, target)

    @staticmethod
    def end(source, target, data, good, kind):
        target.sendall(data[:good])
        if kind == SLOW:
            for byte in data[good:]:
                time.sleep(1)
                target.sendall(bytes([byte]))
        if kind == SILENT:
            target.settimeout(60)
            while source.recv(65536):  # until the client disconnects
                pass

    def close(self):
        # Ends accept() before close(), because another relay may get the same descriptor number.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()


def shut(*sockets):
    for each in sockets:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def changed(data, at):
    if not 0 <= at < len(data):
        return data
    return data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1:]


class Relayed:
    """The servers of the paths, with a relay in front of each."""

    def __init__(self, servers, directory):
        self.__dict__.update(servers.__dict__)
        self.agent_socket = os.path.join(directory, "relay.sock")
        self.relays = [Relay(servers.agent_socket, self.agent_socket)]
        for name in ("token_url", "entra_url", "api_url", "metadata_url", "stand_in_url"):
            scheme, rest = getattr(servers, name).split("://")
            authority, slash, tail = rest.partition("/")
            host, port = authority.split(":")
            relay = Relay((host, int(port)))
            self.relays.append(relay)
            setattr(self, name, f"{scheme}://{host}:{relay.address[1]}{slash}{tail}")

    def set(self, fault):
        for relay in self.relays:
            relay.fault = fault

    def sent(self):
        return max(relay.sent for relay in self.relays)

    def close(self):
        for relay in self.relays:
            relay.close()


def applies(path):
    return path.name in PATHS


class Changed(paths.Path):
    """The path, with the check for credentials that came without TLS."""

    def __init__(self, path):
        self.__dict__ = dict(path.__dict__)
        self.is_true = UNPROTECTED[path.name]


def relayed_boxes(path, environment, workers):
    """Sandboxes, each with an environment that has its own relays."""
    boxes = []
    for number in range(workers):
        box = campaign.bare_sandbox(environment, number, path.timeout or TIMEOUT)
        own = environment.asking(Relayed(environment.servers, box.directory))
        path.prepare(box, own)
        boxes.append((box, own))
    return dict(boxes)


def run(path, environment, effort):
    tally = campaign.Tally()
    boxes = relayed_boxes(path, environment, WAITING_WORKERS if effort.most is None else 4)
    count = next(iter(boxes.values())).servers.sent()
    # Not in a sample: such runs would wait for a minute.
    kinds = (CUT, FLIPPED) if path.timeout and effort.most is not None else (CUT, FLIPPED, SILENT)
    faults = [(kind, number) for kind in kinds for number in range(count)]
    # With the last byte as N the reply is still in time, so the answer must be the true one.
    faults += [(SLOW, number) for number in (0, count // 2, count - 1)]
    def strike(sandbox, fault):
        own = boxes[sandbox]
        sandbox.reset()
        own.servers.set(fault)
        outcome = path.run(sandbox, own)
        own.servers.set(None)
        is_changed = fault[0] == FLIPPED and path.name in UNPROTECTED
        taken = Changed(path) if is_changed else path
        # The cache rightly keeps the failure for its window, so there is no next run to check.
        tally.add(outcome, f"{fault[0]} byte {fault[1]} of {count}",
                  judge.wrong(taken, sandbox, outcome, codes={1, 3}))

    campaign.sweep(tally, list(boxes), faults, strike, effort)
    for own in boxes.values():
        own.servers.close()
    return tally
