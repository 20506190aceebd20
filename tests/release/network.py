# SPDX-License-Identifier: Apache-2.0
"""What a plugin finds on the network of a namespace: DNS servers, and by HTTPS on port 443 of every
address the token endpoints of several providers and the hub's API.

  network.py DIRECTORY

DIRECTORY has zone, server.pem (certificates and key), token and dns.log, to which every question
is added; tls/NAME.pem replaces server.pem for a name. When all listen, it gets network.pid. Ends when standard input does.
"""

import base64
import http.server
import json
import os
import socket
import ssl
import sys
import threading
import time

import dns_server

GOOD, BLACK_HOLE, FAILING = "127.0.0.53", "127.0.0.54", "127.0.0.55"

STS_SESSION = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
 <AssumeRoleWithWebIdentityResult>
  <AssumedRoleUser>
   <Arn>arn:aws:sts::111122223333:assumed-role/fleet/execcred-aws</Arn>
   <AssumedRoleId>AROAEXAMPLE:execcred-aws</AssumedRoleId>
  </AssumedRoleUser>
  <Credentials>
   <AccessKeyId>ASIAEXAMPLE</AccessKeyId>
   <SecretAccessKey>wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY</SecretAccessKey>
   <SessionToken>FwoGexample==</SessionToken>
   <Expiration>{end}</Expiration>
  </Credentials>
 </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>
"""


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    token = ""

    def _answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Host"].endswith(".amazonaws.com"):
            end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
            return self._answer("text/xml", STS_SESSION.format(end=end))
        reply = {
            "access_token": self.token,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "token_type": "Bearer",
            "expires_in": 3600,
        }
        return self._answer("application/json", json.dumps(reply))

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": "fleet"},
            "data": {"token": base64.b64encode(b"stored-token-of-" + name.encode()).decode()},
        }
        self._answer("application/json", json.dumps(secret))

    def log_message(self, *_):
        pass


class AnyAddressServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    # A handshake that the client gives up belongs to the tests.
    def handle_error(self, request, client_address):
        pass


def tls_context(path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Weak certificates are for the client to refuse.
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(path)
    return context


def choose_identity(connection, name, _):
    """A name that has an identity of its own in tls/ shows that."""
    path = f"tls/{name}.pem"
    if name and "/" not in name and os.path.exists(path):
        connection.context = tls_context(path)


def main():
    os.chdir(sys.argv[1])
    with open("token", encoding="ascii") as token:
        Provider.token = token.read().strip()
    zone = dns_server.Zone("zone", "dns.log")
    dns_server.serve(GOOD, zone)
    dns_server.serve(BLACK_HOLE, None)
    dns_server.serve(FAILING, zone, dns_server.SERVFAIL)
    tls = tls_context("server.pem")
    tls.sni_callback = choose_identity
    web = AnyAddressServer(("", 443), Provider)
    web.socket = tls.wrap_socket(web.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    with open("network.pid.part", "w", encoding="ascii") as pid:
        pid.write(str(os.getpid()))
    os.rename("network.pid.part", "network.pid")
    sys.stdin.read()


if __name__ == "__main__":
    main()
