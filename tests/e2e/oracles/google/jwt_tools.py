# SPDX-License-Identifier: Apache-2.0
"""Makes subject tokens, and prepares JWTs for a comparison."""

import base64
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from checks import decode


def new_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                             serialization.NoEncryption()).decode()


def encode(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def subject(key, audience):
    """A ServiceAccount's token for Google's STS, as a hub's API server would issue it."""
    claims = {"iss": "https://hub.example", "sub": "system:serviceaccount:fleet:controller",
              "aud": "https:" + audience, "exp": int(time.time()) + 3600}
    signed = encode({"alg": "RS256", "typ": "JWT"}) + "." + encode(claims)
    signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return signed + "." + encode(signature)


def without_times(token):
    """The header, in any order, and the claims without the time of signing."""
    header, payload, _ = token.split(".")
    claims = json.loads(decode(payload))
    if "iat" in claims:
        claims["exp"] -= claims["iat"]
        claims["iat"] = 0
    return {"header": dict(sorted(json.loads(decode(header)).items())), "claims": claims}
