# SPDX-License-Identifier: Apache-2.0
"""The servers in the network namespace of a plugin: DNS servers and, by HTTPS on port 443 of every
address, the token endpoints of several providers, the hub's API, and that of a cluster which issues
tokens and certificates.

  network.py DIRECTORY

DIRECTORY has zone, server.pem (certificates and key), root-ca.crt and root-ca.key, token and dns.log, to
which every question is added; tls/NAME.pem replaces server.pem for a name. When all servers listen,
it writes network.pid. Ends when standard input ends.
"""

import base64
import http.server
import json
import os
import socket
import ssl
import subprocess
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


def encoded(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def service_account_token(path, request):
    """The answer to a TokenRequest. Only an API server would check the signature."""
    _, _, _, _, namespace, _, name, _ = path.split("/")
    end = int(time.time()) + request["spec"]["expirationSeconds"]
    claims = {"sub": f"system:serviceaccount:{namespace}:{name}", "exp": end, "aud": ["cluster"]}
    token = ".".join(map(encoded, ('{"alg":"RS256"}', json.dumps(claims), "signed by nobody")))
    times = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    return {**request, "status": {"token": token, "expirationTimestamp": times}}


def signed(request):
    """The CertificateSigningRequest, approved and with a certificate."""
    command = ["openssl", "x509", "-req", "-CA", "root-ca.crt", "-CAkey", "root-ca.key", "-set_serial",
               "7", "-days", "1", "-extfile", "/dev/fd/0"]
    with open("request.pem", "wb") as pem:
        pem.write(base64.b64decode(request["spec"]["request"]))
    certificate = subprocess.run(command + ["-in", "request.pem"], input=b"extendedKeyUsage=clientAuth\n",
                                 capture_output=True, check=True).stdout
    approved = {"type": "Approved", "status": "True", "reason": "Test", "message": "approved"}
    return {**request, "status": {"conditions": [approved],
                                  "certificate": base64.b64encode(certificate).decode()}}


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    token = ""
    signing_requests = {}

    def _answer(self, kind, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "/serviceaccounts/" in self.path:
            reply = service_account_token(self.path, json.loads(body))
            return self._answer("application/json", json.dumps(reply), 201)
        if self.path.endswith("/certificatesigningrequests"):
            request = json.loads(body)
            self.signing_requests[request["metadata"]["name"]] = signed(request)
            return self._answer("application/json", body.decode(), 201)
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
        if "/certificatesigningrequests/" in self.path:
            if name in self.signing_requests:
                return self._answer("application/json", json.dumps(self.signing_requests[name]))
            missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
                       "message": f"no {name}", "code": 404, "details": {"name": name}}
            return self._answer("application/json", json.dumps(missing), 404)
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": "fleet"},
            "data": {"token": base64.b64encode(b"stored-token-of-" + name.encode()).decode()},
        }
        return self._answer("application/json", json.dumps(secret))

    def log_message(self, *_):
        pass


class AnyAddressServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    # Tests expect that a client ends a handshake.
    def handle_error(self, request, client_address):
        pass


def tls_context(path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The client must refuse weak certificates, so the server allows them.
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(path)
    return context


def choose_identity(connection, name, _):
    """Uses the identity in tls/ for a name that has one."""
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
