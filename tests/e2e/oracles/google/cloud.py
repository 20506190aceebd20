# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for Google and for an AWS instance on loopback, which check requests as strictly.

`Cloud` has three servers: a proxy that connects every https host name to Google's endpoints (over
TLS), those endpoints, and the metadata servers (plain http). Each one records its requests. A
request that Google would refuse is answered with 400 and the reason. Tokens are the same in each
run, so that the requests of two clients can be compared.
"""

import http.server
import json
import re
import socket
import ssl
import threading
import time
import urllib.parse

from checks import Refused, check_assertion, check_aws_request, check_subject, refuse_unless

ACCOUNT = "robot@project-1.iam.gserviceaccount.com"
OTHER_ACCOUNT = "other@project-1.iam.gserviceaccount.com"
FLEET_ACCOUNTS = [f"fleet-{i}@project-1.iam.gserviceaccount.com" for i in range(50)]
TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:"
STS_FIELDS = {"grant_type", "audience", "scope", "requested_token_type", "subject_token",
              "subject_token_type", "options"}
AWS_SESSION = {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "ASIATESTKEY",
               "SecretAccessKey": "secret/Key+1", "Token": "FwoG/session+token==",
               "Expiration": "2099-01-01T00:00:00Z", "LastUpdated": "2020-01-01T00:00:00Z"}
AWS_REGION = "us-east-2"


def read_form(request):
    refuse_unless(request["headers"].get("content-type") == "application/x-www-form-urlencoded",
                  "the content type is " + str(request["headers"].get("content-type")))
    pairs = urllib.parse.parse_qsl(request["body"], keep_blank_values=True, strict_parsing=True)
    form = dict(pairs)
    refuse_unless(len(form) == len(pairs), "a field comes twice")
    refuse_unless(all(form.values()), "a field is empty")
    return form


def token_reply(token):
    return {"access_token": token, "token_type": "Bearer", "expires_in": 3600}


class Google:
    """The endpoints of the googleapis.com hosts."""

    def __init__(self, settings):
        self.settings = settings

    def answer(self, request):
        host, path = request["host"], urllib.parse.unquote(request["path"])
        refuse_unless(request["method"] == "POST", "only POST is known")
        if host == "sts.googleapis.com" and path == "/v1/token":
            return self.exchange(request)
        if host == "oauth2.googleapis.com" and path == "/token":
            return self.oauth(request)
        match = re.fullmatch(r"/v1/projects/-/serviceAccounts/([^/]+):generateAccessToken", path)
        if host == "iamcredentials.googleapis.com" and match:
            return self.impersonate(request, match.group(1))
        raise Refused(404, f"nothing is at {host}{path}")

    def exchange(self, request):
        form = read_form(request)
        refuse_unless(set(form) <= STS_FIELDS, "unknown fields: " + str(set(form) - STS_FIELDS))
        refuse_unless(form["grant_type"] == GRANT_TYPE + "token-exchange", "the grant type")
        refuse_unless(form["requested_token_type"] == TOKEN_TYPE + "access_token", "what is wanted")
        refuse_unless(form["audience"] in self.settings["audiences"], "the audience")
        refuse_unless(form.get("scope"), "there is no scope")
        if form["subject_token_type"] == "urn:ietf:params:aws:token-type:aws4_request":
            check_aws_request(form["subject_token"], form["audience"], AWS_SESSION, AWS_REGION)
        else:
            check_subject(form["subject_token"], form["audience"], self.settings["subject_key"])
        return token_reply("ya29.federated")

    def oauth(self, request):
        form = read_form(request)
        refuse_unless("authorization" not in request["headers"], "there is an Authorization")
        if form["grant_type"] == "refresh_token":
            refuse_unless(form["refresh_token"] == self.settings["refresh_token"], "that token")
            refuse_unless(form["client_secret"] == self.settings["client_secret"], "that secret")
            return token_reply("ya29.of-a-person")
        refuse_unless(form["grant_type"] == GRANT_TYPE + "jwt-bearer", "the grant type")
        check_assertion(form["assertion"], self.settings["account_key"])
        return token_reply("ya29.of-a-key")

    def impersonate(self, request, account):
        refuse_unless(account in [ACCOUNT, OTHER_ACCOUNT, *FLEET_ACCOUNTS], "that account")
        refuse_unless(request["headers"].get("content-type") == "application/json", "no JSON")
        token = request["headers"].get("authorization", "")
        refuse_unless(token.startswith("Bearer ya29."), "that Authorization")
        body = json.loads(request["body"])
        refuse_unless(set(body) == {"delegates", "scope", "lifetime"}, "the members")
        refuse_unless(isinstance(body["scope"], list) and body["scope"], "the scope")
        seconds = int(re.fullmatch(r"(\d+)s", body["lifetime"]).group(1))
        refuse_unless(600 <= seconds <= 43200, "the lifetime")
        refuse_unless(body["delegates"] is None or isinstance(body["delegates"], list), "delegates")
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        return {"accessToken": "ya29.of-" + account, "expireTime": ends}


class Machine:
    """Metadata servers of Google and of an AWS instance, and URLs that return subject tokens."""

    def __init__(self, settings):
        self.settings = settings

    def answer(self, request):
        path, headers = request["path"], request["headers"]
        if path.startswith("/computeMetadata/"):
            refuse_unless(headers.get("metadata-flavor") == "Google", "no Metadata-Flavor")
            return self.google(path)
        if path.startswith("/latest/"):
            return self.aws(request)
        refuse_unless(headers.get("x-source") == "1", "the source's header is missing")
        if path == "/text":
            return self.settings["subject"]
        if path == "/json":
            return {"access": self.settings["subject"]}
        raise Refused(404, "nothing is at " + path)

    def google(self, path):
        root = "/computeMetadata/v1/instance/service-accounts/default/"
        if path == root + "token":
            return token_reply("ya29.of-a-machine")
        if path == root:
            return {"email": ACCOUNT, "scopes": ["x"], "aliases": ["default"]}
        raise Refused(404, "nothing is at " + path)

    def aws(self, request):
        path, headers = request["path"], request["headers"]
        if path == "/latest/api/token":
            refuse_unless(request["method"] == "PUT", "a token is PUT")
            seconds = int(headers["x-aws-ec2-metadata-token-ttl-seconds"])
            refuse_unless(1 <= seconds <= 21600, "its lifetime")
            return "imds-2"
        refuse_unless(headers.get("x-aws-ec2-metadata-token") == "imds-2", "version 1 is off")
        roles = "/latest/meta-data/iam/security-credentials"
        if path in (roles, roles + "/"):
            return "role-1"
        if path == roles + "/role-1":
            return AWS_SESSION
        if path == "/latest/meta-data/placement/availability-zone":
            return AWS_REGION + "b"
        raise Refused(404, "nothing is at " + path)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        size = int(self.headers.get("Content-Length") or 0)
        target = urllib.parse.urlsplit(self.path)
        request = {"host": self.headers["Host"].split(":")[0], "method": self.command,
                   "path": target.path, "query": target.query,
                   "headers": {name.lower(): value for name, value in self.headers.items()},
                   "body": self.rfile.read(size).decode()}
        status, body = 200, ""
        try:
            body = self.server.service.answer(request)
        except Refused as refusal:
            status, body = refusal.status, {"error": "invalid_request",
                                            "error_description": str(refusal)}
        except (KeyError, ValueError, AttributeError, TypeError) as problem:
            status, body = 400, {"error": "invalid_request", "error_description": repr(problem)}
        request["status"] = status
        request["refusal"] = "" if status == 200 else body["error_description"]
        self.server.journal.append(request)
        is_text = isinstance(body, str)
        data = (body if is_text else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if is_text else "application/json")
        self.send_header("Metadata-Flavor", "Google")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = handle_any

    def log_message(self, *_):
        pass


def relay(source, target):
    try:
        while data := source.recv(16384):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Proxy(http.server.BaseHTTPRequestHandler):
    """Accepts CONNECT for every host name, and connects to Google's endpoints here."""

    def do_CONNECT(self):
        with socket.create_connection(self.server.target) as far:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=relay, args=(far, self.connection), daemon=True)
            back.start()
            relay(self.connection, far)
            back.join()
        self.close_connection = True

    def log_message(self, *_):
        pass


def start(handler, **attributes):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    for name, value in attributes.items():
        setattr(server, name, value)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Cloud:
    def __init__(self, certificate, key, settings):
        self.journal = []
        self.google = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.google.service, self.google.journal = Google(settings), self.journal
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.google.socket = context.wrap_socket(self.google.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        threading.Thread(target=self.google.serve_forever, daemon=True).start()
        self.machine = start(Handler, service=Machine(settings), journal=self.journal)
        self.proxy = start(Proxy, target=self.google.server_address)

    def machine_url(self, path=""):
        return f"http://127.0.0.1:{self.machine.server_port}{path}"

    def proxy_url(self):
        return f"http://127.0.0.1:{self.proxy.server_port}"

    def take_journal(self):
        taken = self.journal[:]
        self.journal.clear()
        return taken
