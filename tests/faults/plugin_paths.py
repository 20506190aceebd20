# SPDX-License-Identifier: Apache-2.0
"""The paths of the plugins: one document on standard output."""
import base64
import hashlib
import hmac
import json
import os
import re
import subprocess
import urllib.parse

import cache_files
import stand_ins
from path import (HOUR, SERVER, Path, claims_of, credential, input_token, service_account_token,
                  text_of)


def exec_info(cluster):
    return json.dumps({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"cluster": cluster, "interactive": False}})


# File names in the cache, as in docs/cache.md, without files that are being written.
CACHED = re.compile(r"[0-9a-f]{32}\."
                    r"(credential|failure|lock|discovery|request|refresh|[0-9a-f]{16}\.[0-9a-f]{16}\.seen)")
NEW = ".new"


class Plugin(Path):
    """Its files in the cache are complete, and there are no others, except one file that a killed
    run was writing: a run that calls the provider ten minutes later removes it."""

    def torn(self, sandbox):
        for name in names_of_cache(sandbox):
            if not name.endswith((".credential", ".failure", ".discovery", ".request", ".refresh")):
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


def plugin(name, program, arguments, make, is_true, variables=None, warm=False, cluster=None,
           is_for_replies=False):
    """`cluster` is a function of the environment that returns spec.cluster."""
    def all_variables(sandbox, environment):
        told = cluster(environment) if cluster else {"server": SERVER}
        return {"KUBERNETES_EXEC_INFO": exec_info(told),
                **(variables(sandbox, environment) if variables else {})}
    return Plugin(
        name, program,
        lambda sandbox, environment: [f"--timeout={sandbox.timeout}s",
                                      *arguments(sandbox, environment)],
        all_variables, make, is_true, warm, is_for_replies)


def projected(sandbox, _):
    """A kubelet's volume: the token is reached by the link ..data."""
    sandbox.write("volume/..1/token", service_account_token(), 0o644)
    os.symlink("..1", sandbox.at("in", "volume", "..data"))
    os.symlink("..data/token", sandbox.at("in", "volume", "token"))


def secret_kubeconfig(sandbox, _):
    sandbox.write("token", service_account_token())
    sandbox.write("kubeconfig",
                  kubeconfig({"server": SERVER}, text_of(sandbox.at("in", "token"))))


def subject_token(sandbox, _):
    sandbox.write("token", service_account_token())


def wrapped_cat(*more):
    """The arguments of wrap around a program that prints the input's token."""
    return lambda sandbox, _: [
        f"--command={json.dumps(['/bin/cat', sandbox.at('in', 'token')])}", "--output=token",
        *(each.format(state=sandbox.state) for each in more)]


def exchange(*more):
    return lambda sandbox, environment: [
        "--flow=token-exchange", f"--token-url={environment.servers.token_url}",
        f"--ca-file={environment.servers.token_ca}",
        f"--subject-token-file={sandbox.at('in', 'token')}",
        *(each.format(state=sandbox.state) for each in more)]


# The token of loopback-token-server.
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


REGION, CLUSTER = "eu-central-1", "spoke-1"
AWS_KEY, AWS_SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
ROLE_ARN = "arn:aws:iam::123456789012:role/controller"


def eks(*more):
    return lambda sandbox, _: [f"--cluster-id={CLUSTER}", f"--region={REGION}",
                               *(each.format(state=sandbox.state) for each in more)]


def is_presigned(_, status):
    return is_signed_by(status, {AWS_KEY: (AWS_SECRET, None)})


def is_of_session(_, status):
    return is_signed_by(status, stand_ins.SESSIONS)


def is_signed_by(status, keys):
    """Whether the token is the signed request for this region and cluster, signed with one of the
    keys. `keys` has the secret key and the session token of each key ID."""
    signed = presigned(status)
    if signed is None:
        return False
    secret, session = keys.get(signed["key"], (None, None))
    return (secret is not None and session == signed["session"] and
            signature_of(signed, secret) == signed["signature"])


def presigned(status):
    """The parts of the signed request: the key ID, the signed text, the signature and so on. None
    for anything else."""
    token = status.get("token", "").removeprefix("k8s-aws-v1.")
    try:
        url = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except ValueError:
        return None
    host = f"sts.{REGION}.amazonaws.com"
    values = dict(urllib.parse.parse_qsl(url.removeprefix(f"https://{host}/?")))
    signature = values.pop("X-Amz-Signature", None)
    key, _, scope = values.get("X-Amz-Credential", "").partition("/")
    date = values.get("X-Amz-Date", "")
    if signature is None or scope != f"{date[:8]}/{REGION}/sts/aws4_request":
        return None
    query = "&".join(f"{name}={urllib.parse.quote(value, safe='-_.~')}"
                     for name, value in sorted(values.items()))
    request = (f"GET\n/\n{query}\nhost:{host}\nx-k8s-aws-id:{CLUSTER}\n\nhost;x-k8s-aws-id\n" +
               hashlib.sha256(b"").hexdigest())
    digest = hashlib.sha256(request.encode()).hexdigest()
    return {"key": key, "session": values.get("X-Amz-Security-Token"), "scope": scope,
            "text": f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}", "signature": signature}


def signature_of(signed, secret):
    key = f"AWS4{secret}".encode()
    for part in signed["scope"].split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, signed["text"].encode(), "sha256").hexdigest()


def is_signed_but_for_a_bit(_, status):
    """The same for a session in which one bit may have changed."""
    signed = presigned(status)
    return signed is not None and any(
        is_but_for_a_bit(f"{signed['key']} {signed['session']}", f"{key} {token}") and
        signed["signature"] in (signature_of(signed, each) for each in (secret, *flips(secret)))
        for key, (secret, token) in list(stand_ins.SESSIONS.items()))


def flips(text):
    return (text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1:] for at in range(len(text)))


def is_but_for_a_bit(text, given):
    changes = [ord(one) ^ ord(other) for one, other in zip(text, given) if one != other]
    return len(text) == len(given) and changes in ([], [1])


SPIFFE_ID = "spiffe://example.org/workload"


def is_jwt_svid(_, status):
    claims = claims_of(status.get("token", ""))
    return claims.get("sub") == SPIFFE_ID and "k8s" in claims.get("aud", ())


def is_x509_svid(_, status):
    """Whether the first certificate has this SPIFFE ID, and the key belongs to it."""
    certificate = of_openssl(status.get("clientCertificateData", ""), "x509", "-noout", "-pubkey",
                             "-ext", "subjectAltName")
    key = of_openssl(status.get("clientKeyData", ""), "pkey", "-pubout")
    return bool(key) and f"URI:{SPIFFE_ID}\n" in certificate and key in certificate


def of_openssl(text, *command):
    """The output of openssl. Empty if it fails."""
    return subprocess.run(["openssl", *command], input=text, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=False).stdout


def agent(*more):
    return lambda sandbox, environment: [
        f"--socket=unix://{environment.servers.agent_socket}", *more]


def api_cluster(environment):
    authority = text_of(environment.servers.api_ca)
    return {"server": environment.servers.api_url,
            "certificate-authority-data": base64.b64encode(authority.encode()).decode()}


def stand_in_cluster(environment):
    authority = text_of(environment.servers.stand_in_ca)
    return {"server": environment.servers.stand_in_url,
            "certificate-authority-data": base64.b64encode(authority.encode()).decode()}


def bootstrap(server, *more):
    def arguments(sandbox, environment):
        inner = [os.path.join(environment.bin, "execcred-token-file"),
                 f"--token-file={environment.servers.api_token_file}"]
        return [*more, f"--credential={json.dumps(inner)}",
                f"--allow-server={getattr(environment.servers, server)}",
                f"--cache-dir={sandbox.at('state', 'cache')}"]
    return arguments


def is_service_account(_, status):
    return claims_of(status.get("token", "")).get("sub") == "system:serviceaccount:default:default"


USER, GROUP = "fleet-controller", "fleet"


def is_issued_certificate(_, status):
    """Whether the cluster issued it for this user and group, and the key belongs to it."""
    text = status.get("clientCertificateData", "")
    certificate = of_openssl(text, "x509", "-noout", "-pubkey", "-subject", "-nameopt", "RFC2253")
    key = of_openssl(status.get("clientKeyData", ""), "pkey", "-pubout")
    return (text in stand_ins.ISSUED and bool(key) and key in certificate and
            f"subject=CN={USER},O={GROUP}\n" in certificate)


def is_issued(_, status):
    return status.get("token") in stand_ins.ISSUED


def is_issued_but_for_a_bit(_, status):
    return any(is_but_for_a_bit(status.get("token", ""), issued)
               for issued in list(stand_ins.ISSUED))


def client_key(sandbox, _):
    sandbox.write("key", subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
        stdout=subprocess.PIPE, text=True, check=True).stdout)


def is_with_its_refresh_token(sandbox, status):
    """Whether the refresh token that was issued with the token is the one in the cache."""
    expected = stand_ins.REFRESH_TOKENS.get(status.get("token"))
    return expected is not None and expected in [
        cache_files.field(text_of(sandbox.at("state", "cache", name)), "token")
        for name in names_of_cache(sandbox) if name.endswith(".refresh")]


def hub_kubeconfig(environment):
    cluster = stand_in_cluster(environment)
    return kubeconfig(cluster, text_of(environment.servers.api_token_file))


def kubeconfig(cluster, token):
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}]})


def stand_in_arguments(*more):
    """The arguments of oidc-federation."""
    return lambda sandbox, environment: [
        each.format(url=environment.servers.stand_in_url, ca=environment.servers.stand_in_ca,
                    inputs=sandbox.inputs, state=sandbox.state) for each in more]


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
           credential(is_issued, longest=HOUR),
           lambda _, environment: {
               "AZURE_POD_IDENTITY_AUTHORITY_HOST": environment.servers.metadata_url}),
    plugin("aws, EKS presign", "execcred-aws", eks(), None, credential(is_presigned, longest=HOUR),
           lambda *_: {"AWS_ACCESS_KEY_ID": AWS_KEY, "AWS_SECRET_ACCESS_KEY": AWS_SECRET}),
    plugin("spiffe, JWT-SVID", "execcred-spiffe", agent("--type=jwt", "--audience=k8s"), None,
           credential(is_jwt_svid)),
    plugin("spiffe, X.509-SVID", "execcred-spiffe", agent("--type=x509", "--allow-empty-cn"), None,
           credential(is_x509_svid)),
    plugin("bootstrap, TokenRequest", "execcred-bootstrap",
           bootstrap("api_url", "--via=token-request", "--service-account=default/default",
                     "--audience=faults"), None,
           credential(is_service_account), cluster=api_cluster),
    plugin("bootstrap, CertificateSigningRequest", "execcred-bootstrap",
           bootstrap("stand_in_url", "--via=csr", f"--user={USER}", f"--group={GROUP}"), None,
           credential(is_issued_certificate), cluster=stand_in_cluster),
    plugin("aws, STS", "execcred-aws", eks("--no-cache"), subject_token,
           credential(is_of_session, longest=HOUR),
           lambda sandbox, environment: {
               "AWS_ENDPOINT_URL_STS": environment.servers.stand_in_url,
               "AWS_CA_BUNDLE": environment.servers.stand_in_ca, "AWS_ROLE_ARN": ROLE_ARN,
               "AWS_WEB_IDENTITY_TOKEN_FILE": sandbox.at("in", "token")}, is_for_replies=True),
    plugin("aws, instance metadata", "execcred-aws", eks("--no-cache"), None,
           credential(is_of_session, longest=HOUR),
           lambda _, environment: {
               "AWS_EC2_METADATA_SERVICE_ENDPOINT": environment.servers.metadata_url},
           is_for_replies=True),
    plugin("google, metadata server", "execcred-google", lambda *_: ["--no-cache"], None,
           credential(is_issued, longest=HOUR),
           lambda _, environment: {
               "GCE_METADATA_HOST": environment.servers.metadata_url.removeprefix("http://")},
           is_for_replies=True),
    plugin("static-secret, hub", "execcred-static-secret",
           lambda sandbox, _: [f"--kubeconfig={sandbox.at('in', 'hub')}", "--namespace=fleet",
                               "--secret-name=member"],
           lambda sandbox, environment: sandbox.write("hub", hub_kubeconfig(environment)),
           credential(lambda _, status: status.get("token") ==
                      stand_ins.secret_token("fleet", "member", "token")),
           is_for_replies=True),
    plugin("oidc-federation, discovery", "execcred-oidc-federation",
           stand_in_arguments("--flow=token-exchange", "--issuer-url={url}", "--ca-file={ca}",
                              "--subject-token-file={inputs}/token", "--no-cache"),
           subject_token, credential(is_issued, longest=HOUR), is_for_replies=True),
    plugin("oidc-federation, Concierge", "execcred-oidc-federation",
           stand_in_arguments(
               "--flow=pinniped", "--concierge-authenticator-type=jwt",
               "--concierge-authenticator-name=idp", "--concierge-endpoint={url}",
               "--concierge-ca-file={ca}", "--subject-token-file={inputs}/token", "--no-cache"),
           subject_token, credential(is_issued, longest=HOUR), is_for_replies=True),
    plugin("oidc-federation, refresh token", "execcred-oidc-federation",
           stand_in_arguments("--flow=refresh-token", "--token-url={url}/token", "--ca-file={ca}",
                              "--subject-token-file={inputs}/token", "--client-id=controller",
                              "--cache-dir={state}/cache"),
           lambda sandbox, _: sandbox.write("token", stand_ins.FIRST_REFRESH_TOKEN),
           credential(is_with_its_refresh_token, longest=HOUR)),
    plugin("oidc-federation, client assertion", "execcred-oidc-federation",
           stand_in_arguments("--flow=client-credentials", "--token-url={url}/token",
                              "--ca-file={ca}", "--client-id=controller",
                              "--private-key-file={inputs}/key", "--cache-dir={state}/cache"),
           client_key, credential(is_issued, longest=HOUR), is_for_replies=True),
    plugin("oidc-federation, JWT as grant", "execcred-oidc-federation",
           stand_in_arguments("--flow=jwt-bearer", "--token-url={url}/token", "--ca-file={ca}",
                              "--subject-token-file={inputs}/token", "--no-cache"),
           subject_token, credential(is_issued, longest=HOUR), is_for_replies=True),
    plugin("wrap, no cache", "execcred-wrap", wrapped_cat(), subject_token, input_token("token")),
    plugin("wrap, cold cache", "execcred-wrap", wrapped_cat("--cache", "--cache-dir={state}/cache"),
           subject_token, input_token("token")),
    plugin("wrap, warm cache", "execcred-wrap", wrapped_cat("--cache", "--cache-dir={state}/cache"),
           subject_token, input_token("token"), warm=True),
    plugin("oidc-federation, token of a command", "execcred-oidc-federation",
           stand_in_arguments("--flow=pass-through", "--no-cache",
                              '--subject-token-command=["/bin/cat","{inputs}/token"]'),
           subject_token, input_token("token")),
]
