# SPDX-License-Identifier: Apache-2.0
"""The checks that Google and AWS make: signatures, and the claims in signed tokens."""

import base64
import hashlib
import hmac
import json
import re
import time
import urllib.parse

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding


class Refused(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


def refuse_unless(condition, reason):
    if not condition:
        raise Refused(400, reason)


def decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def read_jwt(token, key):
    """The header and the claims of an RS256 JWT. Its signature is verified with `key`."""
    header, payload, signature = token.split(".")
    try:
        key.public_key().verify(decode(signature), f"{header}.{payload}".encode(),
                                padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise Refused(400, "the JWT's signature is wrong") from None
    header = json.loads(decode(header))
    refuse_unless(header.get("alg") == "RS256", "the JWT's algorithm")
    return header, json.loads(decode(payload))


def check_subject(token, audience, key):
    _, claims = read_jwt(token, key)
    refuse_unless(claims["aud"] == "https:" + audience, "the subject token's audience")
    refuse_unless(claims["exp"] > time.time(), "the subject token has ended")


def check_assertion(token, key):
    header, claims = read_jwt(token, key)
    refuse_unless(header.get("kid") == "key-1", "the assertion's kid")
    refuse_unless(claims["aud"] == "https://oauth2.googleapis.com/token", "its audience")
    refuse_unless(abs(claims["iat"] - time.time()) < 60, "its iat")
    refuse_unless(claims["exp"] - claims["iat"] == 3600, "its lifetime")
    refuse_unless(claims["scope"], "its scope")


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def quote(text):
    return urllib.parse.quote(text, safe="-_.~")


def check_aws_request(subject_token, audience, session, region):
    """Checks a GetCallerIdentity request, which the session's key signed (Signature Version 4)."""
    refuse_unless(subject_token.startswith("%7B"), "it is not quoted")
    request = json.loads(urllib.parse.unquote(subject_token))
    refuse_unless(set(request) == {"headers", "method", "url"}, "the request's members")
    headers = {header["key"].lower(): header["value"] for header in request["headers"]}
    refuse_unless(len(headers) == len(request["headers"]), "a header comes twice")
    refuse_unless(headers["x-goog-cloud-target-resource"] == audience, "the target")
    refuse_unless(headers["x-amz-security-token"] == session["Token"], "the session token")
    url = urllib.parse.urlsplit(request["url"])
    refuse_unless(headers["host"] == url.netloc == f"sts.{region}.amazonaws.com", "the host")
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/sts/aws4_request, "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", headers["authorization"])
    refuse_unless(match, "the Authorization's form")
    key_id, date, scope_region, names, signature = match.groups()
    refuse_unless((key_id, scope_region) == (session["AccessKeyId"], region), "the credential")
    signed = names.split(";")
    refuse_unless(signed == sorted(signed), "the signed headers' order")
    refuse_unless({"host", "x-amz-date", "x-amz-security-token"} <= set(signed), "what is signed")
    query = "&".join(f"{quote(name)}={quote(value)}"
                     for name, value in sorted(urllib.parse.parse_qsl(url.query)))
    canonical = "\n".join([
        request["method"], url.path or "/", query,
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed),
        names, hashlib.sha256(b"").hexdigest()])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"],
                         f"{date}/{region}/sts/aws4_request",
                         hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + session["SecretAccessKey"]).encode()
    for part in (date, region, "sts", "aws4_request"):
        key = sign(key, part)
    refuse_unless(sign(key, to_sign).hex() == signature, "the signature is wrong")
