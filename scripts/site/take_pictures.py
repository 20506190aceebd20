# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of the output of execcred doctor for the documentation: its text and HTML page.

    take_pictures.py BIN PICTURES

It makes a few clusters, of which one works and the others have faults. Headless Chromium shows
doctor's output. PICTURES gets doctor-text.png, doctor-wide.png and doctor-phone.png.
"""
import base64
import functools
import html
import http.server
import json
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading

import check_browser

VERSION = "client.authentication.k8s.io/v1"
PICTURES = {"doctor-text": (1160, 760), "doctor-wide": (1280, 480), "doctor-phone": (390, 844)}
STYLES = {"31": "color:#ff7b72", "32": "color:#7ee787", "33": "color:#e3b341", "2": "color:#8b949e"}
STYLED = re.compile(r"\x1b\[([0-9;]*)m")
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body{margin:0;padding:16px;background:#0d1117;color:#e6edf3;font:14px/1.45 "DejaVu Sans Mono",monospace}
pre{margin:0;font:inherit;white-space:pre-wrap}</style><pre>"""
# The access provider and the server of each cluster. None is the server that works.
CLUSTERS = {"berlin": ("token", None), "lagos": ("token", None), "lima": ("token", "https://127.0.0.1:1"),
            "oslo": ("no-source", None), "perth": ("no-program", None), "quito": ("unmapped", None),
            "seoul": ("token", "https://seoul.invalid:6443")}


class Api(http.server.BaseHTTPRequestHandler):
    """The part of an API server that doctor calls: it answers who the caller is."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        user = {"username": "system:serviceaccount:fleet:controller",
                "groups": ["system:serviceaccounts", "system:authenticated"]}
        if "Authorization" in self.headers:
            self.answer(201, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
                              "status": {"userInfo": user}})
        else:
            self.answer(401, {"apiVersion": "v1", "kind": "Status", "status": "Failure",
                              "reason": "Unauthorized", "message": "Unauthorized", "code": 401})

    def do_GET(self):
        self.answer(404, {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def start_api(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "365", "-subj", "/CN=kube-apiserver", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", folder / "api.key", "-out", folder / "api.crt"], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "api.crt", folder / "api.key")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{server.server_address[1]}"


def provider(name, command, token):
    return {"name": name, "execConfig": {"apiVersion": VERSION, "command": str(command),
                                         "args": [f"--token-file={token}"], "interactiveMode": "Never"}}


def profile(name, kind, server, authority):
    cluster = {"server": server, "certificate-authority-data": authority}
    return {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
            "metadata": {"name": name, "namespace": "fleet"},
            "status": {"conditions": [{"type": "ControlPlaneHealthy", "status": "True"}],
                       "accessProviders": [{"name": kind, "cluster": cluster}]}}


def write_fleet(folder, programs):
    api = start_api(folder)
    authority = base64.b64encode((folder / "api.crt").read_bytes()).decode()
    token, plugin = folder / "token", programs / "execcred-token-file"
    token.write_text("opaque", encoding="utf-8")
    token.chmod(0o600)
    providers = [provider("token", plugin, token), provider("no-source", plugin, "/run/fleet/token"),
                 provider("no-program", "/plugins/execcred-spiffe", token)]
    (folder / "mapping.json").write_text(json.dumps({"providers": providers}), encoding="utf-8")
    items = [profile(name, kind, server or api, authority) for name, (kind, server) in CLUSTERS.items()]
    (folder / "fleet.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
                                       encoding="utf-8")


def doctor(programs, folder, *arguments):
    ran = subprocess.run([programs / "execcred", "doctor", "-m", "mapping.json", "-f", "fleet.json", *arguments],
                         cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):
        sys.exit(f"execcred doctor ended with {ran.returncode}: {ran.stderr}")
    # The pictures must not show the folder of the build.
    return ran.stdout.replace(str(programs), "/plugins")


def as_page(text):
    """The text as a terminal shows it."""
    parts = STYLED.split(text)
    shown = [html.escape(parts[0])]
    for code, words in zip(parts[1::2], parts[2::2]):
        shown.append(f'<span style="{STYLES.get(code, "")}">{html.escape(words)}</span>')
    return TERMINAL + "".join(shown) + "</pre>"


def write_pages(folder, programs):
    """The page that each picture shows."""
    print_ = functools.partial(doctor, programs, folder)
    text = "$ execcred doctor -m mapping.json -f fleet.json\n" + print_("--color=always")
    text += ("\n$ execcred doctor -m mapping.json -f fleet.json --name fleet/oslo\n"
             + print_("--color=always", "--name=fleet/oslo"))
    (folder / "text.html").write_text(as_page(text), encoding="utf-8")
    (folder / "page.html").write_text(print_("-o", "html"), encoding="utf-8")


def main(programs, pictures):
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_fleet(folder, programs)
        write_pages(folder, programs)
        browser = check_browser.start_chromium()
        try:
            for picture, (width, height) in PICTURES.items():
                check_browser.set_window(browser, width, height)
                page = "text.html" if picture == "doctor-text" else "page.html"
                browser.get((folder / page).as_uri())
                browser.save_screenshot(str(pictures / f"{picture}.png"))
        finally:
            browser.quit()
    print(f"{len(PICTURES)} pictures")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
