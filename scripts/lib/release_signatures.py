# SPDX-License-Identifier: Apache-2.0
"""Signatures of one Ed25519 key in the formats of the tools that check releases. openssl makes each
of them, so this program never reads the key.

    release_signatures.py sign --key PRIVATE_PEM --epoch SECONDS SUMS STATEMENT
        writes SUMS.sig         of the bytes: openssl, cosign verify-blob
               SUMS.minisig     of their BLAKE2b-512: minisign
               provenance.intoto.jsonl, beside SUMS, the in-toto STATEMENT in a DSSE envelope:
                                cosign verify-blob-attestation
    release_signatures.py minisign-key PUBLIC_PEM
        prints the public key in minisign's form
"""
import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import tempfile

IN_TOTO = "application/vnd.in-toto+json"


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout


def encode(data):
    return base64.b64encode(data).decode()


def public_key(*source):
    """The 32 bytes of the public key, at the end of its DER form."""
    return openssl("pkey", *source, "-outform", "DER")[-32:]


class Signer:
    def __init__(self, key):
        self.key = key
        self.public = public_key("-in", key, "-pubout")

    def sign(self, data):
        # With -rawin pkeyutl cannot sign data from a pipe.
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.key, "-in", file.name)


def key_id(public):
    """minisign's key IDs are random. This one is a hash of the key, so that it never changes."""
    return hashlib.sha256(public).digest()[:8]


def minisign_signature(signer, data, name, epoch):
    signature = signer.sign(hashlib.blake2b(data).digest())
    trusted = f"timestamp:{epoch}\tfile:{name}\thashed"
    return (f"untrusted comment: Ed25519 signature of execcred's {name}\n"
            f"{encode(b'ED' + key_id(signer.public) + signature)}\n"
            f"trusted comment: {trusted}\n"
            f"{encode(signer.sign(signature + trusted.encode()))}\n")


def minisign_key(public):
    number = key_id(public)[::-1].hex().upper()
    return (f"untrusted comment: minisign public key {number}\n"
            f"{encode(b'Ed' + key_id(public) + public)}\n")


def envelope(signer, statement):
    """DSSE signs the statement with its type and length before it."""
    signed = b"DSSEv1 %d %s %d %s" % (len(IN_TOTO), IN_TOTO.encode(), len(statement), statement)
    return json.dumps({"payloadType": IN_TOTO, "payload": encode(statement),
                       "signatures": [{"keyid": "", "sig": encode(signer.sign(signed))}]}) + "\n"


def sign(arguments):
    signer = Signer(arguments.key)
    sums, statement = (pathlib.Path(path) for path in arguments.files)
    data = sums.read_bytes()
    sums.with_name(f"{sums.name}.sig").write_bytes(signer.sign(data))
    sums.with_name(f"{sums.name}.minisig").write_text(
        minisign_signature(signer, data, sums.name, arguments.epoch))
    sums.with_name("provenance.intoto.jsonl").write_text(envelope(signer, statement.read_bytes()))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("sign")
    command.add_argument("--key", required=True)
    command.add_argument("--epoch", required=True, type=int)
    command.add_argument("files", nargs=2, metavar="FILE")
    command = commands.add_parser("minisign-key")
    command.add_argument("key")
    arguments = parser.parse_args()
    if arguments.command == "sign":
        sign(arguments)
    else:
        print(minisign_key(public_key("-pubin", "-in", arguments.key)), end="")


main()
