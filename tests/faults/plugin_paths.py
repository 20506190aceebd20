# SPDX-License-Identifier: Apache-2.0
"""The paths of the plugins: one document on standard output."""
import base64
import json
import os
import re
import subprocess

import cache_files
from path import (HOUR, SERVER, Path, claims_of, credential, input_token, service_account_token,
                  text_of)


def exec_info(cluster):
    return json.dumps({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"cluster": cluster, "interactive": False}})


# Names in the cache, as docs/cache.md has them, without those of files that are being written.
CACHED = re.compile(r"[0-9a-f]{32}\."
                    r"(credential|failure|lock|discovery|[0-9a-f]{16}\.[0-9a-f]{16}\.seen)")
NEW = ".new"


class Plugin(Path):
    """What it leaves in the cache is whole, and nothing else is there, but for one file that a
    killed run was writing: a run that asks the provider ten minutes later removes it."""

    def torn(self, sandbox):
        for name in names_of_cache(sandbox):
            if not name.endswith((".credential", ".failure", ".discovery")):
                continue
            with open(sandbox.at("state", "cache", name), "rb") as file:
                if not cache_files.is_whole(file.read()):
                    return f"'{name}' is torn"
        return None

    def left_over(self, sandbox):
        more = [name for name in os.listdir(sandbox.state) if name != "cache"]
        names = names_of_cache(sandbox)
        more += [name for name in names if not CACHED.fullmatch(name) and not name.endswith(NEW)]
        new = [name for name in names if name.endswith(NEW)]
        if more or len(new) > 1:
            return "left over: " + ", ".join(more + new)
        return None


def names_of_cache(sandbox):
    cache = sandbox.at("state", "cache")
    return sorted(os.listdir(cache)) if os.path.isdir(cache) else []


def plugin(name, program, arguments, make, is_true, variables=None, warm=False, cluster=None):
    """`cluster` is what the client tells of its cluster, a function of the environment."""
    def all_variables(sandbox, environment):
        told = cluster(environment) if cluster else {"server": SERVER}
        return {"KUBERNETES_EXEC_INFO": exec_info(told),
                **(variables(sandbox, environment) if variables else {})}
    return Plugin(
        name, program,
        lambda sandbox, environment: [f"--timeout={sandbox.timeout}s",
                                      *arguments(sandbox, environment)],
        all_variables, make, is_true, warm)


def projected(sandbox, _):
    """A kubelet's volume: the token behind the link ..data."""
    sandbox.write("volume/..1/token", service_account_token(), 0o644)
    os.symlink("..1", sandbox.at("in", "volume", "..data"))
    os.symlink("..data/token", sandbox.at("in", "volume", "token"))


def secret_kubeconfig(sandbox, _):
    sandbox.write("token", service_account_token())
    sandbox.write("kubeconfig", json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": SERVER}}],
        "users": [{"name": "u", "user": {"token": text_of(sandbox.at("in", "token"))}}]}))


def subject_token(sandbox, _):
    sandbox.write("token", service_account_token())


def exchange(*more):
    return lambda sandbox, environment: [
        "--flow=token-exchange", f"--token-url={environment.servers.token_url}",
        f"--ca-file={environment.servers.token_ca}",
        f"--subject-token-file={sandbox.at('in', 'token')}",
        *(each.format(state=sandbox.state) for each in more)]


# What loopback-token-server gives.
SERVED = credential(lambda sandbox, status: status.get("token") == "a" * 900, longest=HOUR)


def google_file(sandbox, environment):
    subject_token(sandbox, environment)
    sandbox.write("account.json", json.dumps({
        "type": "external_account", "token_url": environment.servers.token_url,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/"
                    "providers/q",
        "credential_source": {"file": sandbox.at("in", "token")}}))


def google_arguments(sandbox, environment):
    base = environment.servers.token_url.removesuffix("/token")
    return [f"--credentials-file={sandbox.at('in', 'account.json')}", f"--allow-endpoint={base}/*",
            f"--ca-file={environment.servers.token_ca}",
            f"--cache-dir={sandbox.at('state', 'cache')}"]


TENANT = "11111111-1111-1111-1111-111111111111"
CLIENT = "22222222-2222-2222-2222-222222222222"


def entra_arguments(sandbox, environment):
    return ["--identity=workload", f"--client-id={CLIENT}", f"--tenant-id={TENANT}",
            f"--federated-token-file={sandbox.at('in', 'token')}",
            f"--authority-host={environment.servers.entra_url}",
            f"--ca-file={environment.servers.stand_in_ca}",
            f"--cache-dir={sandbox.at('state', 'cache')}"]


def is_of_entra(_, status):
    return claims_of(status.get("token", "")).get("sub") == "conformance"


def is_presigned(_, status):
    url = status.get("token", "").removeprefix("k8s-aws-v1.")
    text = base64.urlsafe_b64decode(url + "=" * (-len(url) % 4)).decode(errors="replace")
    return (text.startswith("https://sts.eu-central-1.amazonaws.com/?") and
            "X-Amz-Signature=" in text)


SPIFFE_ID = "spiffe://example.org/workload"


def is_jwt_svid(_, status):
    claims = claims_of(status.get("token", ""))
    return claims.get("sub") == SPIFFE_ID and "k8s" in claims.get("aud", ())


def is_x509_svid(_, status):
    """The first certificate has that SPIFFE ID, and the key is its own."""
    certificate = of_openssl(status.get("clientCertificateData", ""), "x509", "-noout", "-pubkey",
                             "-ext", "subjectAltName")
    key = of_openssl(status.get("clientKeyData", ""), "pkey", "-pubout")
    return bool(key) and f"URI:{SPIFFE_ID}\n" in certificate and key in certificate


def of_openssl(text, *command):
    """What it prints; nothing if it fails."""
    return subprocess.run(["openssl", *command], input=text, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=False).stdout


def agent(*more):
    return lambda sandbox, environment: [
        f"--socket=unix://{environment.servers.agent_socket}", *more]


def api_cluster(environment):
    authority = text_of(environment.servers.api_ca)
    return {"server": environment.servers.api_url,
            "certificate-authority-data": base64.b64encode(authority.encode()).decode()}


def bootstrap_arguments(sandbox, environment):
    inner = [os.path.join(environment.bin, "execcred-token-file"),
             f"--token-file={environment.servers.api_token_file}"]
    return ["--via=token-request", "--service-account=default/default", "--audience=faults",
            f"--credential={json.dumps(inner)}", f"--allow-server={environment.servers.api_url}",
            f"--cache-dir={sandbox.at('state', 'cache')}"]


def is_service_account(_, status):
    return claims_of(status.get("token", "")).get("sub") == "system:serviceaccount:default:default"


PATHS = [
    plugin("token-file", "execcred-token-file",
           lambda sandbox, _: [f"--token-file={sandbox.at('in', 'volume', 'token')}"],
           projected, input_token("volume/token")),
    plugin("static-secret, mounted Secret", "execcred-static-secret",
           lambda sandbox, _: [f"--secret-dir={sandbox.at('in', 'volume')}"],
           projected, input_token("volume/token")),
    plugin("static-secret, kubeconfig", "execcred-static-secret",
           lambda sandbox, _: [f"--kubeconfig-file={sandbox.at('in', 'kubeconfig')}"],
           secret_kubeconfig, input_token("token")),
    plugin("oidc-federation, no cache", "execcred-oidc-federation",
           exchange("--no-cache"), subject_token, SERVED),
    plugin("oidc-federation, cold cache", "execcred-oidc-federation",
           exchange("--cache-dir={state}/cache"), subject_token, SERVED),
    plugin("oidc-federation, warm cache", "execcred-oidc-federation",
           exchange("--cache-dir={state}/cache"), subject_token, SERVED, warm=True),
    plugin("google, cold cache", "execcred-google", google_arguments, google_file, SERVED),
    plugin("azure, workload identity", "execcred-azure", entra_arguments, subject_token,
           credential(is_of_entra, longest=HOUR)),
    plugin("azure, managed identity", "execcred-azure",
           lambda *_: ["--identity=managed", "--no-cache"], None,
           credential(is_of_entra, longest=HOUR),
           lambda _, environment: {
               "AZURE_POD_IDENTITY_AUTHORITY_HOST": environment.servers.metadata_url}),
    plugin("aws, EKS presign", "execcred-aws",
           lambda *_: ["--cluster-id=spoke-1", "--region=eu-central-1"],
           None, credential(is_presigned),
           lambda *_: {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
                       "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"}),
    plugin("spiffe, JWT-SVID", "execcred-spiffe", agent("--type=jwt", "--audience=k8s"), None,
           credential(is_jwt_svid)),
    plugin("spiffe, X.509-SVID", "execcred-spiffe", agent("--type=x509", "--allow-empty-cn"), None,
           credential(is_x509_svid)),
    plugin("bootstrap, TokenRequest", "execcred-bootstrap", bootstrap_arguments, None,
           credential(is_service_account), cluster=api_cluster),
]
