# SPDX-License-Identifier: Apache-2.0
"""The servers that paths call, each on its own port or socket: those of tests/support, the stand-in
for Entra of tests/conformance, and those of stand_ins.py."""
import collections
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import time
import traceback

import stand_ins
from path import service_account_token

ENTRA = os.path.join(os.path.dirname(__file__), "..", "conformance", "entra_stand_in.py")


# The errors of the servers and relays of this process, as texts. An injected fault is never the
# reason for one.
DEFECTS = []


def note_defect(error):
    """Ignores the error if the client has ended."""
    if not isinstance(error, (OSError, SystemExit)):
        DEFECTS.append("".join(traceback.format_exception(error)))


threading.excepthook = lambda raised: note_defect(raised.exc_value)


Request = collections.namedtuple("Request", "method path body headers")


class JsonHandler(http.server.BaseHTTPRequestHandler):
    """Sends what answer(request) returns: a status, a document (or a text, which is not encoded),
    and optional headers."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one(self):
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size)
        if len(body) < size:  # the client was killed
            self.close_connection = True
            return
        status, document, *more = self.server.answer(
            Request(self.command, self.path, body.decode(), self.headers))
        reply = (document if isinstance(document, str) else json.dumps(document)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        for name, value in (more[0] if more else {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_POST = do_PUT = do_DELETE = handle_one


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.connections = 0
        self.lock = threading.Lock()

    def get_request(self):
        taken = super().get_request()
        self.count(1)
        return taken

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.count(-1)

    def count(self, change):
        with self.lock:
            self.connections += change

    def is_busy(self):
        with self.lock:
            return self.connections > 0

    def handle_error(self, *_):
        note_defect(sys.exc_info()[1])


def serve_json(answer, certificate=None, key=None):
    """A server in this process, with TLS if there is a certificate. `url` is its address."""
    server = Server(("127.0.0.1", 0), JsonHandler)
    server.answer = answer
    server.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Servers:
    def __init__(self, programs, directory):
        def at(name):
            return os.path.join(directory, name)
        self.token_ca, self.agent_socket = at("token-ca.pem"), at("agent.sock")
        self.api_ca, self.api_token_file = at("api-ca.pem"), at("api-token")
        self.stand_in_ca, self.stand_in_key = at("stand-in.pem"), at("stand-in-key.pem")
        self.processes = []
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=stand-in", "-addext",
             "subjectAltName=IP:127.0.0.1", "-keyout", self.stand_in_key, "-out",
             self.stand_in_ca], check=True, stderr=subprocess.DEVNULL)
        token = service_account_token("bootstrap")
        for name, text in ((self.api_token_file, token), (at("users"), f"{token},bootstrap,1\n")):
            with open(name, "w", encoding="utf-8", opener=private) as file:
                file.write(text)
        self.start(os.path.join(programs, "loopback-token-server"), self.token_ca, at("token-url"))
        self.start(os.path.join(programs, "loopback-api-server"), "--token-auth-file", at("users"),
                   "--ca-file", self.api_ca, "--url-file", at("api-url"))
        self.start(os.path.join(programs, "spiffe-agent"), "--socket", self.agent_socket)
        self.start(sys.executable, "-B", ENTRA, self.stand_in_ca, self.stand_in_key,
                   at("entra-url"))
        self.token_url = self.text_of(at("token-url"))
        self.api_url = self.text_of(at("api-url"))
        self.entra_url = self.text_of(at("entra-url"))
        self.text_of(self.agent_socket)
        self.metadata = serve_json(stand_ins.metadata)
        self.metadata_url = self.metadata.url
        cluster = stand_ins.Cluster(token, self.stand_in_ca, self.stand_in_key)
        self.stand_in = serve_json(lambda request: stand_ins.over_tls(request, cluster),
                                   self.stand_in_ca, self.stand_in_key)
        self.stand_in_url = self.stand_in.url

    def start(self, *command):
        self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))

    def text_of(self, path):
        """The text of a file that a server writes when it is ready. Empty for a socket."""
        deadline = time.monotonic() + 20
        while not os.path.exists(path) or (os.path.isfile(path) and not os.path.getsize(path)):
            ended = any(each.poll() is not None for each in self.processes)
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"no '{path}': a server did not start")
            time.sleep(0.01)
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read().strip()

    def stop(self):
        self.metadata.shutdown()
        self.stand_in.shutdown()
        for process in self.processes:
            process.terminate()
            process.wait()


def private(path, flags):
    return os.open(path, flags, 0o600)
