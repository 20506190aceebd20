# SPDX-License-Identifier: Apache-2.0
"""Strict stand-ins for Entra (HTTPS), with a resource manager that has no subscription, and for the metadata
endpoints of managed identities (HTTP).

    server.py CERTIFICATE KEY ISSUER_PUBLIC_KEY DIRECTORY

Both listen on 127.0.0.1. Each request and its status is a line of JSON in DIRECTORY/requests.
They read these files of DIRECTORY:
    settings.json  the only accepted tenant, client, server, issuer, subject and header
    token          the token that they issue
    failures       HTTP statuses, one per line, for the next requests
and write entra.url and metadata.url once both listen.
"""

import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

import jwt

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
FIELDS = {"client_assertion", "client_assertion_type", "client_id", "grant_type", "scope"}
# Headers of transport and telemetry, which differ between all clients.
UNCOMPARED = {"host", "connection", "accept", "accept-encoding", "content-length", "user-agent",
              "return-client-request-id"}
UNCOMPARED_PREFIXES = ("x-client-", "x-ms-")


class Refusal(Exception):
    """An answer without a token: its status and the members of its JSON."""

    def __init__(self, status, **body):
        super().__init__(body)
        self.status = status
        self.body = body


def aadsts(status, code, error, text):
    description = f"AADSTS{code}: {text} Trace ID: 0\r\nCorrelation ID: 0"
    return Refusal(status, error=error, error_description=description, error_codes=[code])


def pairs_of(text, refusal):
    try:
        pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=True)
    except ValueError as problem:
        raise refusal from problem
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise refusal
    return fields


class Strict:
    """Accepts only correct requests. It refuses others as the platforms do, or more strictly."""

    def __init__(self, directory, issuer_key):
        self.directory = directory
        self.issuer_key = issuer_key
        self.lock = threading.Lock()

    def read(self, name):
        with open(os.path.join(self.directory, name), encoding="utf-8") as file:
            return file.read()

    def settings(self):
        return json.loads(self.read("settings.json"))

    def next_failure(self):
        with self.lock:
            statuses = self.read("failures").split()
            if not statuses:
                return None
            with open(os.path.join(self.directory, "failures"), "w", encoding="utf-8") as file:
                file.write("\n".join(statuses[1:]))
            return int(statuses[0])

    def fail_if_told(self):
        status = self.next_failure()
        if status is not None:
            raise Refusal(status, error="told_to_fail")

    def entra(self, request, body):
        settings = self.settings()
        parts = urllib.parse.urlsplit(request.path)
        tenant, _, path = parts.path.lstrip("/").partition("/")
        base = f"https://{request.headers['Host']}/{settings['tenant']}"
        if request.command == "GET" and path == "v2.0/.well-known/openid-configuration":
            return {"issuer": f"{base}/v2.0", "token_endpoint": f"{base}/oauth2/v2.0/token",
                    "authorization_endpoint": f"{base}/oauth2/v2.0/authorize"}
        if request.command == "GET" and parts.path == "/subscriptions":
            if request.headers.get("Authorization") != "Bearer " + self.read("token").strip():
                raise Refusal(401, error={"code": "InvalidAuthenticationToken"})
            return {"value": []}
        if request.command != "POST" or path != "oauth2/v2.0/token" or parts.query:
            raise Refusal(404, error="not_found")
        if tenant != settings["tenant"]:
            raise aadsts(400, 90002, "invalid_request", f"Tenant '{tenant}' not found.")
        self.fail_if_told()
        self.check_form(request, body, settings)
        return {"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599,
                "access_token": self.read("token").strip()}

    def check_form(self, request, body, settings):
        malformed = aadsts(400, 900144, "invalid_request", "The request body is malformed.")
        media_type = request.headers.get("Content-Type", "").partition(";")[0]
        if media_type != "application/x-www-form-urlencoded" or "Authorization" in request.headers:
            raise malformed
        fields = pairs_of(body, malformed)
        # msal also requests information about the client, and az says what it can handle.
        if set(fields) - {"claims", "client_info"} != FIELDS or not all(fields.values()):
            raise malformed
        if fields["client_id"] != settings["client"]:
            raise aadsts(400, 700016, "unauthorized_client",
                         f"Application '{fields['client_id']}' was not found in the directory.")
        if fields["grant_type"] != "client_credentials":
            raise aadsts(400, 70003, "unsupported_grant_type", "Not this one.")
        if fields["client_assertion_type"] != ASSERTION_TYPE:
            raise aadsts(400, 50027, "invalid_request", "Invalid assertion type.")
        if not fields["scope"].endswith("/.default"):
            raise aadsts(400, 1002012, "invalid_scope", "The scope must end in /.default.")
        if fields["scope"] != settings["server"] + "/.default":
            raise aadsts(400, 500011, "invalid_resource",
                         f"The resource principal named {fields['scope']} was not found.")
        self.check_assertion(fields["client_assertion"], settings)

    def check_assertion(self, assertion, settings):
        try:
            if assertion != assertion.strip():
                raise jwt.DecodeError("white space")
            claims = jwt.decode(assertion, self.issuer_key, ["RS256"], issuer=settings["issuer"],
                                audience="api://AzureADTokenExchange",
                                options={"require": ["exp", "iss", "sub", "aud"]})
        except jwt.ExpiredSignatureError as problem:
            raise aadsts(401, 700024, "invalid_client", "Not within its time range.") from problem
        except jwt.InvalidAudienceError as problem:
            raise aadsts(400, 700212, "invalid_client", "No matching record: audience.") from problem
        except jwt.InvalidIssuerError as problem:
            raise aadsts(400, 700211, "invalid_client", "No matching record: issuer.") from problem
        except jwt.PyJWTError as problem:
            raise aadsts(401, 50027, "invalid_client", f"Invalid JWT: {problem}") from problem
        if claims["sub"] != settings["subject"]:
            raise aadsts(400, 700213, "invalid_client",
                         f"No matching record for the subject '{claims['sub']}'.")

    def metadata(self, request, body):
        settings = self.settings()
        parts = urllib.parse.urlsplit(request.path)
        if request.command != "GET" or body:
            raise Refusal(405, error="method_not_allowed")
        if "X-Forwarded-For" in request.headers:
            raise Refusal(400, error="bad_request")
        if request.headers.get("Metadata") != "true":
            raise Refusal(400, error="bad_request_102",
                          error_description="Required metadata header not specified")
        is_imds = parts.path == "/metadata/identity/oauth2/token"
        if not is_imds and parts.path != "/msi/token":
            raise Refusal(404, error="not_found")
        if not is_imds and request.headers.get("X-IDENTITY-HEADER") != settings["header"]:
            raise Refusal(401, statusCode=401, message="bad header")
        fields = pairs_of(parts.query, Refusal(400, error="invalid_request"))
        self.check_query(fields, is_imds, settings)
        self.fail_if_told()
        now = int(time.time())
        reply = {"access_token": self.read("token").strip(), "resource": fields["resource"],
                 "token_type": "Bearer", "expires_on": str(now + 3599),
                 "client_id": fields.get("client_id", settings["client"])}
        if is_imds:
            reply.update(expires_in="86399", ext_expires_in="86399", not_before=str(now))
        return reply

    @staticmethod
    def check_query(fields, is_imds, settings):
        resource_id = "msi_res_id" if is_imds else "mi_res_id"
        selectors = {"client_id", "object_id", resource_id} & set(fields)
        if set(fields) - selectors != {"api-version", "resource"} or len(selectors) > 1:
            raise Refusal(400, error="invalid_request")
        if fields["api-version"] != ("2018-02-01" if is_imds else "2019-08-01"):
            raise Refusal(400, error="bad_request_101")
        if fields["resource"] != settings["server"]:
            raise Refusal(400, error="invalid_resource")
        identity = settings.get("selected", {})
        if {name: fields[name] for name in selectors} != identity:
            raise Refusal(400, error="invalid_request", error_description="Identity not found")


def handler(strict, answer):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            try:
                status, reply = 200, answer(self, body)
            except Refusal as refusal:
                status, reply = refusal.status, refusal.body
            self.record(body, status)
            text = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def record(self, body, status):
            headers = {name.lower(): value for name, value in self.headers.items()}
            parts = urllib.parse.urlsplit(self.path)
            line = json.dumps({
                "method": self.command, "path": parts.path, "body": body, "status": status,
                "query": urllib.parse.parse_qsl(parts.query, keep_blank_values=True),
                "headers": {name: value for name, value in sorted(headers.items())
                            if name not in UNCOMPARED
                            and not name.startswith(UNCOMPARED_PREFIXES)}})
            with strict.lock, open(os.path.join(strict.directory, "requests"), "a",
                                   encoding="utf-8") as file:
                file.write(line + "\n")

        do_GET = do_POST = respond

        def log_message(self, *_):
            pass

    return Handler


def write_url(directory, name, url):
    # A rename, so that a reader that polls for the file never sees a part of it.
    path = os.path.join(directory, name)
    with open(path + ".unfinished", "w", encoding="utf-8") as file:
        file.write(url + "\n")
    os.rename(path + ".unfinished", path)


def main():
    certificate, key, issuer_key, directory = sys.argv[1:]
    with open(issuer_key, encoding="utf-8") as file:
        strict = Strict(directory, file.read())
    entra = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(strict, strict.entra))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    entra.socket = context.wrap_socket(entra.socket, server_side=True)
    metadata = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(strict, strict.metadata))
    threading.Thread(target=entra.serve_forever, daemon=True).start()
    write_url(directory, "metadata.url", f"http://127.0.0.1:{metadata.server_port}")
    write_url(directory, "entra.url", f"https://127.0.0.1:{entra.server_port}")
    metadata.serve_forever()


main()
