# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the services that the paths call, as functions from a request to a status, a
document and headers: metadata services over plain HTTP; an issuer, AWS STS, a Concierge and
clusters over TLS. The credentials that they issue are kept, so that a check can compare results
with them."""
import base64
import http.client
import itertools
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse

from path import SERVER, claims_of, encoded

# The issued tokens and certificates.
ISSUED = set()
# The issued AWS sessions: by access key ID, the secret key and the session token.
SESSIONS = {}
# The identifiers (jti) of the client assertions that were sent.
ASSERTIONS = set()
# The refresh token that a login gave, and those that were issued with an access token.
FIRST_REFRESH_TOKEN = "refresh.0"
REFRESH_TOKENS = {}
NUMBERS = itertools.count(1)
SESSION_LIFETIME = 3600


def new_token():
    claims = {"aud": "server", "sub": "conformance", "exp": int(time.time()) + 3500}
    token = f"{encoded({'alg': 'RS256'})}.{encoded(claims)}.{encoded(f'no {next(NUMBERS)}')}"
    ISSUED.add(token)
    return token, claims["exp"]


def time_text(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


# Metadata services

IMDS_TOKEN = "a-token-of-the-metadata-service"
ROLE_PATH = "/latest/meta-data/iam/security-credentials/"
ROLE = "node-role"


def metadata(request):
    if request.path.startswith("/latest/"):
        return imds(request)
    token, end = new_token()
    document = {"access_token": token, "token_type": "Bearer", "expires_in": 3500}
    if request.path.startswith("/computeMetadata/"):
        return 200, document, {"Metadata-Flavor": "Google"}
    return 200, document | {"expires_in": "3500", "expires_on": str(end), "resource": "server"}


def imds(request):
    """The metadata service of an EC2 instance, version 2."""
    if request.method == "PUT":
        return 200, IMDS_TOKEN
    if request.headers.get("X-aws-ec2-metadata-token") != IMDS_TOKEN:
        return 401, ""
    if request.path == ROLE_PATH:
        return 200, ROLE
    if request.path != ROLE_PATH + ROLE:
        return 404, ""
    key, secret, token = new_session()
    return 200, {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": key,
                 "SecretAccessKey": secret, "Token": token,
                 "LastUpdated": time_text(time.time()),
                 "Expiration": time_text(time.time() + SESSION_LIFETIME)}


def new_session():
    number = next(NUMBERS)
    key, secret = f"ASIASESSION{number}", f"s3cret+Of/{number}+{'x' * 24}"
    token = f"Fwo/{number}+t=="
    SESSIONS[key] = (secret, token)
    return key, secret, token


# Services over TLS

CONCIERGE = "/apis/login.concierge.pinniped.dev/v1alpha1/tokencredentialrequests"


def over_tls(request, cluster):
    path = request.path.partition("?")[0]
    if path == "/.well-known/openid-configuration":
        issuer = f"https://{request.headers['Host']}"
        return 200, {"issuer": issuer, "token_endpoint": f"{issuer}/token"}
    if path == "/token":
        return token_endpoint(dict(urllib.parse.parse_qsl(request.body)))
    if path == "/":
        return sts()
    if path == CONCIERGE:
        token, end = new_token()
        return 201, {"kind": "TokenCredentialRequest",
                     "apiVersion": "login.concierge.pinniped.dev/v1alpha1", "spec": {},
                     "status": {"credential": {"token": token,
                                               "expirationTimestamp": time_text(end)}}}
    return cluster.answer(request)


def token_endpoint(asked):
    """Accepts a client assertion once, and replaces a refresh token at each use. The replaced one is
    accepted too, because the reply with its successor may be lost."""
    if "client_assertion" in asked:
        number = claims_of(asked["client_assertion"]).get("jti")
        if not number or number in ASSERTIONS:
            return 401, {"error": "invalid_client"}
        ASSERTIONS.add(number)
    token = new_token()[0]
    reply = {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
    if asked["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange":
        reply["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token"
    if asked["grant_type"] == "refresh_token":
        if asked["refresh_token"] not in (FIRST_REFRESH_TOKEN, *list(REFRESH_TOKENS.values())):
            return 400, {"error": "invalid_grant"}
        REFRESH_TOKENS[token] = reply["refresh_token"] = f"refresh.{next(NUMBERS)}"
    return 200, reply


def sts():
    key, secret, token = new_session()
    return 200, {"AssumeRoleWithWebIdentityResponse": {"AssumeRoleWithWebIdentityResult": {
        "Credentials": {"AccessKeyId": key, "SecretAccessKey": secret, "SessionToken": token,
                        "Expiration": time.time() + SESSION_LIFETIME}}}}


def status(code, reason, name=None):
    """A Kubernetes Status. With a name it is about that object, otherwise about the API."""
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
                  "message": http.client.responses[code], "code": code,
                  "details": {"name": name} if name else {}}


PROFILES = "/apis/multicluster.x-k8s.io"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SECRETS = re.compile(r"/api/v1/namespaces/([^/]+)/secrets/([^/]+)")
SERVER_ANNOTATION = "example.com/server"
PROFILE = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
           "metadata": {"name": "member", "namespace": "fleet"},
           "status": {"accessProviders": [{"name": "file", "cluster": {"server": SERVER}}]}}


def server_of(name):
    """The server of the cluster whose credential is in the Secret of this name."""
    return f"https://{name}.example.com:6443"


def secret_token(space, name, key):
    return f"of.{space}.{name}.{key}"


class Cluster:
    """A cluster that accepts one token. It returns every requested Secret, and a ClusterProfile,
    and signs each certificate request at once."""

    def __init__(self, token, authority, key):
        self.token = token
        self.authority = authority
        self.key = key
        self.extensions = f"{authority}.extensions"
        with open(self.extensions, "w", encoding="utf-8") as file:
            file.write("extendedKeyUsage = clientAuth\nkeyUsage = digitalSignature\n")
        self.requests = {}

    def answer(self, request):
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return status(401, "Unauthorized")
        path = request.path.partition("?")[0]
        if path.startswith(REQUESTS):
            return self.signed(request, path.removeprefix(REQUESTS).removeprefix("/"))
        if found := SECRETS.fullmatch(path):
            space, name = (urllib.parse.unquote(part) for part in found.groups())
            return 200, {"kind": "Secret", "apiVersion": "v1", "type": "Opaque",
                         "metadata": {"name": name, "namespace": space,
                                      "annotations": {SERVER_ANNOTATION: server_of(name)}},
                         "data": {key: base64.b64encode(
                             secret_token(space, name, key).encode()).decode()
                                  for key in ("token", "other")}}
        if path == PROFILES:
            return 200, {"kind": "APIGroup", "versions": [
                {"groupVersion": "multicluster.x-k8s.io/v1alpha1", "version": "v1alpha1"}]}
        if path.endswith("/clusterprofiles"):
            return 200, {"kind": "ClusterProfileList", "metadata": {"resourceVersion": "1"},
                         "items": [PROFILE]}
        return status(404, "NotFound")

    def signed(self, request, name):
        if request.method == "GET":
            found = self.requests.get(name)
            return (200, found) if found else status(404, "NotFound", name)
        asked = json.loads(request.body)
        name = asked["metadata"]["name"]
        if name in self.requests:
            return status(409, "AlreadyExists", name)
        certificate = subprocess.run(
            ["openssl", "x509", "-req", "-CA", self.authority, "-CAkey", self.key, "-days", "1",
             "-set_serial", str(next(NUMBERS)), "-extfile", self.extensions],
            input=base64.b64decode(asked["spec"]["request"]), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, check=True).stdout
        ISSUED.add(certificate.decode())
        asked["status"] = {"conditions": [{"type": "Approved", "status": "True"}],
                           "certificate": base64.b64encode(certificate).decode()}
        self.requests[name] = asked
        return 201, asked


class SecretStore:
    """The Secrets of a hub. Each is a file in `directory`, which a sandbox restores."""

    def __init__(self, directory, token):
        self.directory = directory
        self.token = token
        self.lock = threading.Lock()

    def answer(self, request):
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return status(401, "Unauthorized")
        parts = urllib.parse.urlsplit(request.path).path.split("/")
        if parts[:4] != ["", "api", "v1", "namespaces"] or parts[5:6] != ["secrets"]:
            return status(404, "NotFound")
        with self.lock:
            if len(parts) == 6 and request.method == "GET":
                return self.listed(request)
            document = json.loads(request.body or "{}")
            name = parts[6] if len(parts) > 6 else document["metadata"]["name"]
            return self.changed(request.method, parts[4], name, document)

    def listed(self, request):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(request.path).query)
        wanted = [pair.split("=") for pair in query.get("labelSelector", [""])[0].split(",")
                  if pair]
        found = [self.read(name) for name in self.names()]
        return 200, {"kind": "SecretList", "metadata": {"resourceVersion": "1"},
                     "items": [each for each in found if all(
                         each["metadata"].get("labels", {}).get(label) == value
                         for label, value in wanted)]}

    def changed(self, method, space, name, document):
        is_there = name in self.names()
        if method == "POST":
            if is_there:
                return status(409, "AlreadyExists", name)
            return 201, self.written(space, name, document)
        if not is_there:
            return status(404, "NotFound", name)
        old = self.read(name)
        asked = document.get("preconditions", {}) if method == "DELETE" else document.get(
            "metadata", {})
        if any(asked.get(field, old["metadata"][field]) != old["metadata"][field]
               for field in ("uid", "resourceVersion")):
            return status(409, "Conflict", name)
        if method == "DELETE":
            os.unlink(os.path.join(self.directory, name))
            return 200, {"kind": "Status", "status": "Success"}
        return 200, self.written(space, name, document) if method == "PUT" else old

    def names(self):
        return [name for name in sorted(os.listdir(self.directory)) if not name.startswith(".")]

    def read(self, name):
        with open(os.path.join(self.directory, name), encoding="utf-8") as file:
            return json.load(file)

    def written(self, space, name, document):
        version = str(time.time_ns())
        document["metadata"] |= {"namespace": space, "resourceVersion": version}
        document["metadata"].setdefault("uid", f"uid-{version}")
        path = os.path.join(self.directory, name)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.rename(f"{path}.new", path)
        return document
