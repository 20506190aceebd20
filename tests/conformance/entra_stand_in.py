# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Entra, over TLS on 127.0.0.1. It gives a token to every request, so that a plugin
for Azure can give a credential. It checks nothing.

    entra_stand_in.py CERTIFICATE KEY URL_FILE     writes its URL once it listens
"""
import base64
import http.server
import json
import os
import ssl
import sys
import time


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def token():
    claims = {"aud": "server", "sub": "conformance", "exp": int(time.time()) + 3600}
    return ".".join((part({"alg": "RS256", "typ": "JWT"}), part(claims), part("no signature")))


class StandIn(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        tenant = f"{self.server.url}/{self.path.strip('/').split('/')[0]}"
        self.answer({"issuer": f"{tenant}/v2.0", "token_endpoint": f"{tenant}/oauth2/v2.0/token",
                     "authorization_endpoint": f"{tenant}/oauth2/v2.0/authorize"})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer({"token_type": "Bearer", "expires_in": 3599, "access_token": token()})


def main():
    certificate, key, url_file = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    server.url = f"https://127.0.0.1:{server.server_port}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(url_file + ".partial", "w", encoding="utf-8") as file:
        file.write(server.url)
    os.rename(url_file + ".partial", url_file)
    server.serve_forever()


main()
