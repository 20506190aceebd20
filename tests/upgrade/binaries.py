# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of the last release and the current ones on the same files, in both orders: an
upgrade, and a rollback. scripts/upgrade starts it, with the folders of both."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "faults"))

import servers  # noqa: E402  pylint: disable=wrong-import-position
from path import encoded, service_account_token, text_of  # noqa: E402  pylint: disable=C0413

TENANT = "11111111-1111-1111-1111-111111111111"
CLIENT = "22222222-2222-2222-2222-222222222222"
HOUR = 3600


class Provider:
    """A token server, Entra, and a cluster's API in one. Each token is different, so the
    same token twice comes from the cache. A refresh token is valid once, and then replaced."""

    def __init__(self, certificate, key):
        self.calls = 0
        self.refresh_token = "refresh-0"
        self.server = servers.serve_json(self.answer, certificate, key)
        self.url = self.server.url

    def answer(self, request):
        if request.method != "POST":
            return 404, {}
        self.calls += 1
        if request.path.endswith("/serviceaccounts/controller/token"):
            return 201, self.token_request(json.loads(request.body))
        form = dict(urllib.parse.parse_qsl(request.body))
        reply = {"access_token": f"token-{self.calls}", "token_type": "Bearer", "expires_in": HOUR,
                 "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        if form.get("grant_type") == "refresh_token":
            if form.get("refresh_token") != self.refresh_token:
                return 400, {"error": "invalid_grant"}
            self.refresh_token = reply["refresh_token"] = f"refresh-{self.calls}"
        return 200, reply

    def token_request(self, request):
        claims = json.loads(base64.urlsafe_b64decode(service_account_token().split(".")[1] + "=="))
        claims |= {"sub": "system:serviceaccount:fleet:controller", "jti": str(self.calls),
                   "aud": request["spec"].get("audiences", []), "exp": claims["iat"] + HOUR}
        token = f"{encoded({'alg': 'RS256'})}.{encoded(claims)}.c2ln"
        return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "status": {"token": token, "expirationTimestamp": "2099-01-01T00:00:00Z"}}


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, sentence, holds, shown=""):
        if holds:
            self.passed += 1
            print(f"ok: {sentence}")
        else:
            self.failed += 1
            print(f"FAILED: {sentence}: {shown}")


def write(path, text):
    with open(path, "w", encoding="utf-8", opener=servers.private) as file:
        file.write(text)
    return path


def run(command, home, variables):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": "/usr/bin:/bin", "HOME": home, **variables})


def exec_info(url, authority):
    return json.dumps({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"cluster": {"server": url, "certificate-authority-data": authority},
                 "interactive": False}})


def cached_paths(provider, authority, folder, programs):
    """(name, program, arguments) of the runs that cache a credential."""
    token = write(os.path.join(folder, "subject"), service_account_token())
    account = write(os.path.join(folder, "account.json"), json.dumps({
        "type": "external_account", "token_url": provider.url + "/token",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/"
                    "providers/q", "credential_source": {"file": token}}))
    # The same command for both programs: its name is part of the key.
    inner = json.dumps([os.path.join(programs, "execcred-token-file"), f"--token-file={token}"])
    server = [f"--token-url={provider.url}/token", f"--ca-file={authority}"]
    exchange = ["--flow=token-exchange", *server, f"--subject-token-file={token}"]
    return [
        ("token exchange", "oidc-federation", [*exchange, "--audience=a", "--scope=b"]),
        ("jwt-bearer", "oidc-federation",
         ["--flow=jwt-bearer", *server, f"--subject-token-file={token}", "--client-id=c"]),
        ("client credentials", "oidc-federation",
         ["--flow=client-credentials", *server, "--client-id=c", "--client-secret-file=" +
          write(os.path.join(folder, "secret"), "s3cret")]),
        ("google external account", "google",
         [f"--credentials-file={account}", f"--allow-endpoint={provider.url}/*",
          f"--ca-file={authority}"]),
        ("azure workload identity", "azure",
         ["--identity=workload", f"--client-id={CLIENT}", f"--tenant-id={TENANT}",
          f"--federated-token-file={token}", f"--authority-host={provider.url}",
          f"--ca-file={authority}"]),
        ("bootstrap token request", "bootstrap",
         ["--via=token-request", "--service-account=fleet/controller", f"--credential={inner}",
          "--audience=fleet", f"--allow-server={provider.url}"]),
        ("wrapped program", "wrap",
         ["--command=" + json.dumps(["/usr/bin/curl", "-fsS", "--cacert", authority, "--data",
                                     "grant_type=a", provider.url + "/token"]),
          "--output=json", "--token-field=access_token", "--cache", f"--allow-server={provider.url}"]),
    ]


def status_of(outcome):
    return json.loads(outcome.stdout)["status"] if outcome.returncode == 0 else None


def has_program(folder, name):
    return os.path.exists(os.path.join(folder, name))


def check_cache(checks, order, provider, authority, folder):
    """What selects an entry changed after 0.1.0: all options and inputs that a plugin uses. So each version
    gives its own credential, and neither is disturbed by the other's."""
    (first, first_bin), (second, second_bin) = order
    cache = os.path.join(folder, "cache")
    data = base64.b64encode(text_of(authority).encode()).decode()
    variables = {"KUBERNETES_EXEC_INFO": exec_info(provider.url, data)}
    for name, program, arguments in cached_paths(provider, authority, folder, second_bin):
        command = [f"execcred-{program}", *arguments, f"--cache-dir={cache}"]
        before = provider.calls
        if not all(has_program(programs, command[0]) for _, programs in order):
            new_bin = next(programs for _, programs in order if has_program(programs, command[0]))
            one, again = (run([os.path.join(new_bin, command[0]), *command[1:]], folder, variables)
                          for _ in range(2))
            checks.check(f"{name}, which one release lacks: the other one asks once",
                         status_of(one) is not None and status_of(again) == status_of(one) and
                         provider.calls == before + 1, one.stderr + again.stderr)
            continue
        one, two, again = (run([os.path.join(programs, command[0]), *command[1:]], folder, variables)
                           for programs in (first_bin, second_bin, first_bin))
        calls = provider.calls - before
        checks.check(f"{name}: the {second} release asks although the {first} one has asked",
                     None not in (status_of(one), status_of(two)) and calls == 2,
                     f"{calls} calls\n{one.stdout}{one.stderr}{two.stdout}{two.stderr}")
        checks.check(f"{name}: the {first} release still gives its own",
                     status_of(again) == status_of(one), again.stderr)


def check_refresh_token(checks, order, provider, authority, folder):
    """One version sends the refresh token that replaced the one of the other version."""
    provider.refresh_token = "refresh-0"
    subject = write(os.path.join(folder, "refresh"), "refresh-0")
    command = ["--flow=refresh-token", f"--token-url={provider.url}/token", f"--ca-file={authority}",
               f"--subject-token-file={subject}", "--client-id=c",
               f"--cache-dir={os.path.join(folder, 'cache')}"]
    variables = {"KUBERNETES_EXEC_INFO": exec_info("https://a.example.com", "")}
    for number, (version, programs) in enumerate((*order, *order)):
        before = provider.refresh_token
        # Another scope means another credential, so each run makes a request.
        outcome = run([os.path.join(programs, "execcred-oidc-federation"), *command,
                       f"--scope=s{number}"], folder, variables)
        checks.check(f"refresh token: the {version} release sends it after {number} replacements",
                     outcome.returncode == 0 and provider.refresh_token != before, outcome.stderr)


MAPPING = {"providers": [{"name": "token-file", "execConfig": {
    "apiVersion": "client.authentication.k8s.io/v1", "args": ["--allow-server=https://*.example.com"],
    "provideClusterInfo": True, "interactiveMode": "Never"}}]}
PROFILE = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
           "metadata": {"name": "spoke-1", "namespace": "fleet"},
           "spec": {"displayName": "spoke-1", "clusterManager": {"name": "m"}},
           "status": {"accessProviders": [
               {"name": "token-file", "cluster": {"server": "https://spoke-1.example.com"}}]}}


def check_files(checks, order, folder):
    """Uses a kubeconfig and a mapping of one version with the programs of the other at one path, as
    `execcred install` replaces them."""
    (first, first_bin), (second, second_bin) = order
    plugins = os.path.join(folder, "plugins")
    token = write(os.path.join(folder, "token"), service_account_token())
    mapping = json.loads(json.dumps(MAPPING))
    mapping["providers"][0]["execConfig"]["command"] = os.path.join(plugins, "execcred-token-file")
    mapping["providers"][0]["execConfig"]["args"].insert(0, f"--token-file={token}")
    given = ["-m", write(os.path.join(folder, "mapping.json"), json.dumps(mapping)),
             "-f", write(os.path.join(folder, "profile.json"), json.dumps(PROFILE))]
    kubeconfig = os.path.join(folder, "kubeconfig")
    os.symlink(first_bin, plugins)
    made = run([os.path.join(first_bin, "execcred"), "kubeconfig", *given, "-o", kubeconfig], folder,
               {})
    before = os.stat(kubeconfig).st_ino if made.returncode == 0 else None
    os.remove(plugins)
    os.symlink(second_bin, plugins)
    program = os.path.join(second_bin, "execcred")
    got = run([program, "get", *given, "-o", "token"], folder, {})
    checks.check(f"mapping: the {second} release gets a credential with the {first} one's",
                 got.stdout.strip() == text_of(token), got.stderr)
    again = run([program, "kubeconfig", *given, "-o", kubeconfig], folder, {})
    checks.check(f"kubeconfig: the {second} release changes nothing in the {first} one's",
                 again.returncode == 0 and before == os.stat(kubeconfig).st_ino,
                 made.stderr + again.stderr)
    examined = run([program, "lint", kubeconfig], folder, {})
    checks.check(f"kubeconfig: the {second} release's lint finds no error in the {first} one's",
                 examined.returncode == 0, examined.stdout + examined.stderr)


def main():
    old, new = (os.path.abspath(each) for each in sys.argv[1:3])
    checks = Checks()
    # Not below a directory that others could write: plugins refuse inputs and caches there.
    with tempfile.TemporaryDirectory(prefix="execcred-upgrade-") as base:
        certificate, key = os.path.join(base, "ca.pem"), os.path.join(base, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=upgrade", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
        provider = Provider(certificate, key)
        versions = [("last", old), ("new", new)]
        for name, order in (("up", versions), ("down", versions[::-1])):
            for number, check in enumerate((check_cache, check_refresh_token)):
                folder = os.path.join(base, f"{name}-{number}")
                os.mkdir(folder, 0o700)
                check(checks, order, provider, certificate, folder)
            folder = os.path.join(base, f"{name}-files")
            os.mkdir(folder, 0o700)
            check_files(checks, order, folder)
        provider.server.shutdown()
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed or not checks.passed else 0


if __name__ == "__main__":
    sys.exit(main())
