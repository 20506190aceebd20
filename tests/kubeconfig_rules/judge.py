#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a client over the kubeconfigs of table.txt, and compares its verdicts with the table's.

    judge.py EXECCRED            execcred doctor and lint
    judge.py EXECCRED KUBECTL    also the real kubectl, whose verdicts and words the table has
"""
import base64
import concurrent.futures
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading

TABLE = pathlib.Path(__file__).with_name("table.txt")
EXECCRED = sys.argv[1]
KUBECTL = sys.argv[2] if len(sys.argv) > 2 else None
TOKEN = "the-token"
VERSION = "client.authentication.k8s.io/v1"
BOM = b"\xef\xbb\xbf"
MALFORMED = b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"


class Server(http.server.BaseHTTPRequestHandler):
    """Accepts one token, and any client certificate of its CA."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200 if self.is_known() else 401, {"kind": "Status", "apiVersion": "v1"})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        user = self.headers.get("Impersonate-User", "jane")
        review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
                  "status": {"userInfo": {"username": user, "groups": ["system:authenticated"]}}}
        if self.is_known():
            self.answer(201, review)
        else:
            self.answer(401, {"kind": "Status", "apiVersion": "v1", "code": 401})

    def is_known(self):
        given = self.headers.get("Authorization")
        if given is None or given.startswith("Basic "):  # which API servers ignore
            return bool(self.connection.getpeercert())
        return given == f"Bearer {TOKEN}"

    def answer(self, code, document):
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stderr=subprocess.DEVNULL)


def make_certificates(folder):
    ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *ec, "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.crt", "-days",
            "365", "-subj", "/CN=ca")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", *ec, "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.csr",
                "-subj", "/CN=jane")
        openssl("x509", "-req", "-in", f"{folder}/{name}.csr", "-CA", f"{folder}/ca.crt", "-CAkey",
                f"{folder}/ca.key", "-CAcreateserial", "-days", "365", "-out",
                f"{folder}/{name}.crt", *(["-extfile", f"{folder}/names"] if name == "server" else []))


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    context.load_verify_locations(folder / "ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def sec1_key(folder):
    """The client's key in SEC 1, below the label of PKCS #8."""
    pem = subprocess.run(["openssl", "ec", "-in", folder / "client.key"], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return pem.replace(b"EC PRIVATE", b"PRIVATE")


def indented(pem):
    return b"".join(b"  " + line for line in pem.splitlines(keepends=True))


def values(folder, port):
    """The words with $ in the table."""
    ca, certificate, key = ((folder / name).read_bytes() for name in ("ca.crt", "client.crt", "client.key"))
    (folder / "token").write_text(TOKEN)
    (folder / "token-line").write_text(TOKEN + "\n")
    plugin = folder / "plugin"
    plugin.write_text("#!/bin/sh\ncase \"$KUBERNETES_EXEC_INFO\" in *v1beta1*) b=beta1 ;; esac\n"
                      f"echo '{{\"kind\": \"ExecCredential\", \"status\": {{\"token\": \"{TOKEN}\"}},'\n"
                      f"echo '\"apiVersion\": \"{VERSION}'$b'\"}}'\n")
    plugin.chmod(0o755)
    first, body = ca.split(b"\n", 1)
    data = {"CA": ca, "CERT": certificate, "KEY": key, "TOKEN64": TOKEN.encode(),
            "CA_INDENTED": indented(ca), "CA_BOM": BOM + ca, "CA_TEXT": b"CN: a\n" + ca + b"b\n",
            "CA_TWO": ca + certificate, "CA_AND_KEY": key + ca, "CA_HEADER": first + b"\nA: b\n\n" + body,
            "CA_BLANKS": ca.replace(b"\n", b" \t\n"), "CA_CRLF": ca.replace(b"\n", b"\r\n"),
            "CA_NO_END": ca[:ca.index(b"-----END")], "CA_TRUSTED": ca.replace(b"CERT", b"TRUSTED CERT"),
            "CA_BAD_BASE64": first + b"\n*" + body[1:], "CA_TWO_BEGINS": b"-----BEGIN X-----\n" + ca,
            "CA_DER": ssl.PEM_cert_to_DER_cert(ca.decode()), "CERT_BOM": BOM + certificate,
            "CERT_INDENTED": indented(certificate), "CERT_TEXT": b"a\n" + certificate,
            "CERT_CRLF": certificate.replace(b"\n", b"\r\n"), "KEY_INDENTED": indented(key),
            "KEY_BOM": BOM + key, "CERT_AND_KEY": certificate + key,
            "CERT_HEADER": certificate.replace(b"\n", b"\nA: b\n\n", 1),
            "KEY_OTHER": (folder / "server.key").read_bytes(), "KEY_SEC1": sec1_key(folder),
            "KEY_ENCRYPTED": b"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMAA=\n"
                             b"-----END EC PRIVATE KEY-----\n",
            "MALFORMED": MALFORMED, "CA_AND_MALFORMED": MALFORMED + ca}
    words = {name: base64.b64encode(value).decode() for name, value in data.items()}
    words.update(SERVER=f"https://localhost:{port}", PORT=str(port), TOKEN=TOKEN, PLUGIN=str(plugin),
                 CA_FILE=f"{folder}/ca.crt", CERT_FILE=f"{folder}/client.crt", V1=VERSION,
                 KEY_FILE=f"{folder}/client.key", TOKEN_FILE=f"{folder}/token",
                 TOKEN_LINE_FILE=f"{folder}/token-line")
    return words


ENTRIES = {"cluster": ("clusters", "c", "{server: $SERVER, certificate-authority-data: $CA}"),
           "user": ("users", "u", "{token: $TOKEN}"),
           "context": ("contexts", "x", "{cluster: c, user: u}")}


def lists(place="", value="", current="current-context: x\n"):
    text = current
    for field, (name, entry, body) in ENTRIES.items():
        body = value if place == field else body
        text += f"{name}:\n- {{name: {entry}, {field}: {body}}}\n"
        if place == f"other-{field}":
            text += f"- {{name: other, {field}: {value}}}\n"
        if place == name:
            text += "".join(f"- {item}\n" for item in value.split(" ;; "))
    return text


def kubeconfig(place, value, words):
    """The bytes of a row's kubeconfig."""
    def filled(text):
        return re.sub(r"\$([A-Z0-9_]+)", lambda match: words[match[1]], text)

    if place == "file":
        raw = value.encode().decode("unicode_escape").encode("latin-1")
        return raw.replace(b"$LISTS", filled(lists()).encode()).replace(
            b"$NO_CURRENT", filled(lists(current="")).encode())
    if place == "utf-16-le":
        return b"\xff\xfe" + filled(lists()).encode(place)
    if place == "utf-16-be":
        return b"\xfe\xff" + filled(lists()).encode(place)
    if place == "json":
        document = {"current-context": "x",
                    "clusters": [{"name": "c", "cluster": {"server": words["SERVER"],
                                                           "certificate-authority-data": words["CA"]}}],
                    "users": [{"name": "u", "user": {"token": TOKEN}}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]}
        return value.encode().decode("unicode_escape").encode("latin-1").replace(
            b"$JSON", json.dumps(document).encode())
    if place == "top":
        return filled(f"apiVersion: v1\nkind: Config\n{value}\n{lists()}").encode()
    return filled("apiVersion: v1\nkind: Config\n" + lists(place, value)).encode()


def run(*command):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(FOLDER)}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, timeout=120, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def check(number, row):
    """The ways in which a row's verdict is not that of the clients."""
    verdict, place, value, words = row
    path = FOLDER / f"{number}.yaml"
    path.write_bytes(kubeconfig(place, value, WORDS))
    wrong = []
    if KUBECTL:
        status, _, said = run(KUBECTL, "--kubeconfig", path, "get", "--raw", "/version")
        is_right = status == 0 if verdict in ("ok", "not-ours", "not-lint") else (
            status != 0 and (verdict in ("load", "no-kubeconfig")) == ("error loading config file" in said))
        if not is_right or words not in said:
            wrong.append(f"kubectl: exit {status}, {said.strip()[-400:]}")
    status, told, said = run(EXECCRED, "doctor", "--kubeconfig", path, "--warn-before", "1h", "-o", "json")
    wanted = {"ok": (0,), "not-lint": (0,), "load": (2,), "no-kubeconfig": (2,)}.get(verdict, (1, 2, 3))
    if status not in wanted:
        steps = json.loads(told)["items"][0]["steps"] if told else []
        failed = [step for step in steps if step["result"] == "fail"]
        wrong.append(f"doctor: exit {status}, {said.strip()[-300:]} {failed}")
    status, told, _ = run(EXECCRED, "lint", path, "-o", "json")
    errors = [item for item in json.loads(told)["items"] if item["severity"] == "error"] if told else []
    # Lint checks all contexts, not only the current one.
    if (errors and verdict == "ok" and place in (*ENTRIES, "top", "file", "json", "utf-16-le", "utf-16-be")) or (
            not errors and verdict in ("load", "use")):
        wrong.append(f"lint: exit {status}, {errors[:2]}")
    return wrong


def rows():
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            columns = line.split(" | ")
            yield [column.strip() for column in columns] + [""] * (4 - len(columns))


with tempfile.TemporaryDirectory() as name:
    FOLDER = pathlib.Path(name)
    make_certificates(FOLDER)
    WORDS = values(FOLDER, serve(FOLDER))
    table = list(rows())
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, wrong in zip(table, pool.map(check, range(len(table)), table)):
            failed += bool(wrong)
            for text in wrong:
                print(" | ".join(row), text.replace(WORDS["CA"], "$CA"), sep="\n    ")
    print(f"{len(table) - failed} of {len(table)} rows have the clients' verdict")
    sys.exit(1 if failed or not table else 0)
