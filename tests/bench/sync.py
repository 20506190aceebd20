# SPDX-License-Identifier: Apache-2.0
"""Runs execcred sync in simulated time, with a real kube-apiserver and etcd.

sync and its plugins (execcred-oidc-federation) run under faketime, so that an hour passes in a few
seconds. The API server's clock is the real one. A token server in this program issues a new token
at each request, valid for an hour. The log of sync shows when each credential was written and when it
expires. The API server counts the requests.

    sync.py --bin DIR --kubeconfig FILE --clusters N --hours H --speed S [--parallel P]

Prints one JSON object. "missed" names the goals that were not met; then the exit code is 1.
"""

import argparse
import base64
import collections
import datetime
import http.client
import http.server
import json
import os
import pathlib
import re
import secrets
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

LIFETIME = 3600
PROFILES = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/fleet/clusterprofiles"
BUCKET = 300  # simulated seconds

# The lowest and the highest allowed value.
GOALS = {"ended_before_renewal": (0, 0), "least_share_left": (0.1, 1), "burst": (0, 3),
         "rss_mb": (0, 200), "cpu_share": (0, 0.02), "writes_per_credential": (1, 1),
         "other_requests_per_write": (0, 0.01), "change_seconds_max": (0, 1)}
CHANGES = 50


class Issuer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Issuer.count += 1
        body = json.dumps(
            {"access_token": secrets.token_hex(400), "token_type": "Bearer", "expires_in": LIFETIME,
             "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_issuer(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "30", "-subj", "/CN=issuer", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", folder / "issuer.key", "-out", folder / "issuer.crt"],
        check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "issuer.crt", folder / "issuer.key")
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{server.server_address[1]}/token"


class Api:
    """The hub's API, with the admin's kubeconfig in JSON."""

    def __init__(self, kubeconfig, folder):
        document = json.loads(pathlib.Path(kubeconfig).read_text())
        cluster = document["clusters"][0]["cluster"]
        user = document["users"][0]["user"]
        for name, text in (("ca.crt", cluster["certificate-authority-data"]),
                           ("admin.crt", user["client-certificate-data"]),
                           ("admin.key", user["client-key-data"])):
            (folder / name).write_bytes(base64.b64decode(text))
        self.context = ssl.create_default_context(cafile=folder / "ca.crt")
        self.context.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        self.host = urllib.parse.urlsplit(cluster["server"]).netloc
        self.local = threading.local()

    def ask(self, method, path, body=None, kind="application/json"):
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPSConnection(self.host, context=self.context)
        self.local.connection.request(method, path, json.dumps(body) if body else None,
                                      {"Content-Type": kind})
        response = self.local.connection.getresponse()
        text = response.read().decode()
        if response.status >= 300 and response.status != 409:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]}")
        return text

    def requests(self):
        """The number of all requests so far, by "VERB resource CODE"."""
        # A new connection, because the server may have closed an idle one.
        self.local = threading.local()
        counts = collections.Counter()
        for line in self.ask("GET", "/metrics").splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            resource = "/".join(filter(None, (labels.get("resource"), labels.get("subresource"))))
            counts[f"{labels['verb']} {resource or 'none'} {labels['code']}"] += \
                int(float(line.rsplit(" ", 1)[1]))
        return counts

    def set_audience(self, name, audience):
        status = {"status": {"accessProviders": [
            {"name": "p", "cluster": {
                "server": f"https://{name}.example:6443",
                "extensions": [{"name": "client.authentication.k8s.io/exec",
                                "extension": {"audience": audience}}]}}]}}
        self.ask("PATCH", f"{PROFILES}/{name}/status", status, "application/merge-patch+json")

    def make_clusters(self, count):
        def make(numbers):
            for i in numbers:
                name = f"c{i}"
                body = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
                        "metadata": {"name": name, "namespace": "fleet"},
                        "spec": {"displayName": name, "clusterManager": {"name": "bench"}}}
                self.ask("POST", PROFILES, body)
                self.set_audience(name, name)
        threads = [threading.Thread(target=make, args=(range(k, count, 8),)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def write_mapping(folder, binaries, url):
    (folder / "subject").write_text("subject-token")
    os.chmod(folder / "subject", 0o600)
    os.chmod(folder / "issuer.crt", 0o644)
    entry = {"name": "p", "execConfig": {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": str(binaries / "execcred-oidc-federation"),
        "args": ["--flow=token-exchange", f"--subject-token-file={folder}/subject",
                 f"--token-url={url}", f"--ca-file={folder}/issuer.crt",
                 "--allow-audience=any", f"--cache-dir={folder}/cache",
                 "--allow-server=https://*.example:6443"],
        "provideClusterInfo": True, "interactiveMode": "Never"}}
    (folder / "mapping.json").write_text(json.dumps({"providers": [entry]}))


def process_of(parent):
    """The process ID of execcred, which faketime has started."""
    for _ in range(200):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                stat = pathlib.Path(f"/proc/{pid}/stat").read_text().split()
                if int(stat[3]) == parent and stat[1] == "(execcred)":
                    return int(pid)
                if int(pid) == parent and stat[1] == "(execcred)":
                    return parent
            except OSError:
                pass
        time.sleep(0.05)
    raise RuntimeError("execcred sync did not start")


def usage(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    resident = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), resident / 1024


def change_clusters(api, path, clusters):
    """Real seconds from a change of a ClusterProfile until its Secret is written, of some clusters."""
    seconds = []
    with open(path) as log:
        log.seek(0, os.SEEK_END)
        for i in range(CHANGES):
            name = f"c{i * clusters // CHANGES}"
            api.local = threading.local()  # the server may have closed an idle connection
            begun = time.monotonic()
            api.set_audience(name, f"{name}-changed")
            told = ""
            while f'"cluster":"fleet/{name}"' not in told:
                if time.monotonic() - begun > 60:
                    raise RuntimeError(f"the change of {name} was not written")
                time.sleep(0.002)
                told += "".join(line for line in log if '"message":"wrote"' in line)
            seconds.append(time.monotonic() - begun)
    return {"changes": len(seconds), "change_seconds_median": round(statistics.median(seconds), 3),
            "change_seconds_max": round(max(seconds), 3)}


def parse_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def judge(log, until):
    """Figures from the log, about every credential that was written."""
    written = collections.defaultdict(list)
    errors = []
    for line in log:
        record = json.loads(line)
        if record["level"] == "error":
            errors.append(record["message"])
        elif record["message"] == "wrote":
            written[record["cluster"]].append((parse_time(record["time"]),
                                               parse_time(record["expires"])))
    shares, gaps = [], 0
    first_round_end = max(times[0][0] for times in written.values())
    buckets = collections.Counter()
    for times in written.values():
        for (begun, ends), (renewed, _) in zip(times, times[1:]):
            shares.append((ends - renewed) / (ends - begun))
            gaps += renewed > ends
            buckets[int((renewed - first_round_end) // BUCKET)] += 1
        gaps += times[-1][1] < until
    begin = min(buckets, default=0)
    end = int((until - first_round_end) // BUCKET)
    counts = [buckets[k] for k in range(begin, max(end, begin + 1))]
    mean = statistics.mean(counts) if counts else 0
    return {"clusters": len(written), "renewals": sum(len(times) - 1 for times in written.values()),
            "ended_before_renewal": gaps, "least_share_left": round(min(shares, default=1), 3),
            "burst": round(max(counts, default=0) / mean, 2) if mean else 0,
            "first_round_seconds": round(first_round_end - min(t[0][0] for t in written.values())),
            "errors": len(errors), "first_error": errors[0] if errors else ""}


def judge_requests(requests, credentials):
    """Counts the writes of Secrets, and other requests for single Secrets."""
    of_secrets = {key: count for key, count in requests.items()
                  if key.split()[1] == "secrets" and key.split()[0] not in ("LIST", "WATCH")}
    writes = sum(count for key, count in of_secrets.items()
                 if key.split()[0] in ("POST", "PUT") and key.split()[2] in ("200", "201"))
    others = sum(of_secrets.values()) - writes
    return {"credentials_written": credentials, "secret_writes": writes,
            "writes_per_credential": round(writes / max(credentials, 1), 4),
            "other_requests_per_write": round(others / max(writes, 1), 4)}


def missed(result):
    return [name for name, (least, most) in GOALS.items() if not least <= result[name] <= most]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--clusters", type=int, required=True)
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--speed", type=float, required=True)
    parser.add_argument("--parallel", default="32")
    given = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    url = start_issuer(folder)
    api = Api(given.kubeconfig, folder)
    api.make_clusters(given.clusters)
    write_mapping(folder, given.bin, url)
    before = api.requests()
    log = open(folder / "log", "w")
    environment = {"PATH": os.environ["PATH"], "DONT_FAKE_MONOTONIC": "1", "HOME": str(folder)}
    wrapper = subprocess.Popen(
        ["faketime", "-f", f"+0 x{given.speed:g}", given.bin / "execcred", "sync",
         f"-m={folder}/mapping.json", "--from-hub", "-n", "fleet",
         f"--kubeconfig={given.kubeconfig}", "--to-secret=token", "--secret-namespace=to",
         f"--parallel={given.parallel}", "--log-format=json"],
        stderr=log, env=environment)
    pid = process_of(wrapper.pid)
    real = given.hours * 3600 / given.speed
    start = time.monotonic()
    steady_cpu, steady_time, largest = None, None, 0
    while (passed := time.monotonic() - start) < real:
        time.sleep(min(1, real - passed))
        cpu, resident = usage(pid)
        largest = max(largest, resident)
        # CPU use is measured after the first third, when the first round is over.
        if steady_cpu is None and passed > real / 3:
            steady_cpu, steady_time = cpu, time.monotonic()
    cpu_share = (cpu - steady_cpu) / ((time.monotonic() - steady_time) * given.speed)
    until = parse_time(json.loads((folder / "log").read_text().splitlines()[-1])["time"])
    changes = change_clusters(api, folder / "log", given.clusters)
    os.kill(pid, signal.SIGTERM)
    wrapper.wait(timeout=30)
    requests = api.requests() - before
    result = judge((folder / "log").read_text().splitlines(), until)
    result |= {"hours": given.hours, "speed": given.speed, "rss_mb": round(largest, 1),
               "cpu_share": round(cpu_share, 5), "tokens_issued": Issuer.count, **changes,
               **judge_requests(requests, result["clusters"] + result["renewals"]),
               "requests": dict(sorted(requests.items()))}
    result["missed"] = missed(result)
    json.dump(result, sys.stdout, indent=2)
    print()
    sys.exit(1 if result["missed"] else 0)


if __name__ == "__main__":
    main()
