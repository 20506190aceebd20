# SPDX-License-Identifier: Apache-2.0
"""Random ClusterProfiles against the rules of a mapping. A run must return a credential only if the
mapping allows each choice in the ClusterProfile, and it must be the credential that the mapping
selects. A choice is an allowed one, a forbidden one, or an allowed one with a change."""
import base64
import json
import os
import random

import campaign
import judge
import plugin_paths
import stand_ins
from path import (SERVER, TIMEOUT, Path, service_account_token, status_of, text_of)

NAME = "profiles"
SAMPLE = 12
BUILDS = ("glibc", "musl")
COUNT = 2000  # ClusterProfiles for each mapping
PROXY = "https://proxy.example.com:3128"
ARGUMENTS = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args"
VARIABLES = "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs"
CONFIG = "client.authentication.k8s.io/exec"
OWN_NAMESPACE = "default"  # because the hub's kubeconfig names none
TENANT, OTHER_TENANT = plugin_paths.TENANT, "33333333-3333-3333-3333-333333333333"
CHANGES = "aZ0.-_/:@%\\*?#&= \u00e9\u2024\u0000\n"


def changed(text, chance):
    """The text with a character added, removed or replaced, in another case, or with text added
    before or after it."""
    at = chance.randrange(len(text) + 1)
    more = chance.choice(CHANGES)
    return chance.choice([text[:at] + more + text[at:], text[:at] + text[at + 1:],
                          text[:at] + more + text[at + 1:], text.upper(), text + text,
                          text + ".example.net", "x." + text, text.split("/")[0],
                          text.replace("example.com", "example.com.example.net"),
                          text.replace("https://", "https://example.net@")])


class Choices:
    """The choices of one ClusterProfile. `is_plain` is true while all of them are allowed ones."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.is_plain = True
        self.made = {}

    def make(self, name, allowed, others=()):
        kind = self.chance.random()
        value = self.chance.choice(allowed)
        if kind > 0.8:
            self.is_plain = False
            if others and (kind > 0.9 or not isinstance(value, str)):
                value = self.chance.choice(others)
            elif isinstance(value, str):
                value = changed(value, self.chance)
            else:
                self.is_plain = True
        self.made[name] = value
        return value


def is_below(server):
    """Whether it is https, port 6443, and a subdomain of example.com in ASCII letters."""
    host = server.lower().removeprefix("https://").removesuffix("/").removesuffix(":6443")
    return (server.lower().rstrip("/") == f"https://{host}:6443" and
            host.endswith(".example.com") and
            all(letter.isascii() and (letter.isalnum() or letter in "-._") for letter in host))


class Rule(Path):
    """A mapping with one provider, `p`. `choose` fills in the cluster and its config, and returns
    the credential that the mapping allows for them, or None."""

    def __init__(self, name, program, arguments, choose):
        super().__init__(name, "execcred", None)
        self.plugin = program
        self.plugin_arguments = arguments
        self.choose = choose

    def prepare(self, sandbox, environment):
        for name in ("token", "other"):
            sandbox.write(name, service_account_token(name))
        sandbox.write("hub", plugin_paths.hub_kubeconfig(environment))
        sandbox.write("mapping.json", json.dumps({"providers": [{
            "name": "p", "execConfig": {
                "apiVersion": "client.authentication.k8s.io/v1", "provideClusterInfo": True,
                "interactiveMode": "Never",
                "command": os.path.join(environment.bin, self.plugin),
                "args": [f"--timeout={TIMEOUT}s", "--allow-server=https://*.example.com:6443",
                         *self.plugin_arguments(sandbox, environment), "--from-profile"]},
            "profileSourcedCLIArgsPolicy": "Append"}]}), 0o644)

    def command(self, sandbox, environment):
        return [os.path.join(environment.bin, self.program), "get", "-m",
                sandbox.at("in", "mapping.json"), "-f", sandbox.at("in", "profile.json"), "-o",
                "exec-credential"]


def profile_of(cluster, config, choices):
    extensions = [{"name": CONFIG, "extension": config}]
    # Never allowed: an option after --from-profile that a ClusterProfile may not set.
    more = choices.make("args", [[]], [["--allow-server=any"], ["--token-file=/etc/passwd"],
                                       ["--debug"], ["--no-such"], ["x"]])
    if more:
        extensions.append({"name": ARGUMENTS, "extension": more})
    # All variables are harmless: without a policy none of them reaches the plugin.
    extensions.append({"name": VARIABLES, "extension": choices.chance.choice(
        [{}, {"EXECCRED_ALLOW_SERVER": "any"}, {"EXECCRED_NO_CACHE": "true"},
         {"EXECCRED_TENANT_ID": OTHER_TENANT}, {"LD_PRELOAD": "/nope"}])})
    return json.dumps({
        "apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
        "metadata": {"name": "member", "namespace": "fleet"},
        "status": {"accessProviders": [
            {"name": "p", "cluster": {**cluster, "extensions": extensions}}]}}), not more


def choose_server(choices, cluster):
    server = choices.make("server", [SERVER, "https://a-b.example.com:6443"],
                          ["https://member-1.example.net:6443", "http://member-1.example.com:6443",
                           "https://member-1.example.com:443", "https://example.com:6443",
                           "https://127.0.0.1:6443", ""])
    cluster["server"] = server
    return is_below(server)


def choose_token_file(choices, cluster, config, sandbox, environment):
    """Chooses the server, a proxy, CAs, and the verification of the server."""
    del config
    may = choose_server(choices, cluster)
    proxy = choices.make("proxy-url", [None, PROXY], ["http://proxy.example.com:3128",
                                                      "https://proxy.example.net:3128"])
    if proxy is not None:
        cluster["proxy-url"] = proxy
        may = may and (proxy.lower().rstrip("/") == PROXY or not proxy)
    pinned, other = (text_of(path) for path in (environment.servers.stand_in_ca,
                                                environment.servers.api_ca))
    authority = choices.make("CA", [(pinned,)], [(other,), (pinned, other), ()])
    if authority:
        cluster["certificate-authority-data"] = base64.b64encode(
            "".join(authority).encode()).decode()
    may = may and authority == (pinned,)
    if choices.make("insecure", [False], [True]):
        cluster["insecure-skip-tls-verify"] = True
        may = False
    name = choices.make("tls-server-name", [None], ["member-1.example.net", "kubernetes"])
    if name is not None:
        cluster["tls-server-name"] = name
        may = False
    return text_of(sandbox.at("in", "token")) if may else None


def choose_secret(choices, cluster, config, *_):
    """Chooses a Secret, which belongs to a server."""
    may = choose_server(choices, cluster)
    space = choices.make("namespace", ["fleet", OWN_NAMESPACE], ["kube-system", "other"])
    name = choices.make("name", ["member-1", "a-b"], ["member-2", "admin"])
    key = choices.make("key", ["token", "other"], ["none"])
    config.update({"namespace": space, "name": name, "key": key})
    same = cluster["server"].lower().rstrip("/") == stand_ins.server_of(name).lower()
    if cluster["server"] != stand_ins.server_of(name):
        choices.is_plain = False  # each choice is allowed, but not both together
    if not (may and same and space in ("fleet", OWN_NAMESPACE)):
        return None
    return stand_ins.secret_token(space, name, key)


def choose_tenant(choices, cluster, config, *_):
    may = choose_server(choices, cluster)
    tenant = choices.make("tenantId", [TENANT, OTHER_TENANT],
                          ["44444444-4444-4444-4444-444444444444", "common", "example.com"])
    config["tenantId"] = tenant
    return may and (tenant.lower() in (TENANT, OTHER_TENANT) or not tenant)


def choose_audience(choices, cluster, config, *_):
    may = choose_server(choices, cluster)
    audience = choices.make("audience", ["spoke-1", "spoke-2"], ["vault", "spoke", "any", "*"])
    config["audience"] = audience
    return may and audience.startswith("spoke-")


RULES = [
    Rule("server, proxy, CA", "execcred-token-file",
         lambda sandbox, environment: [
             f"--token-file={sandbox.at('in', 'token')}", f"--allow-proxy={PROXY}",
             f"--server-ca-file={environment.servers.stand_in_ca}"], choose_token_file),
    Rule("Secret and server", "execcred-static-secret",
         lambda sandbox, _: [
             f"--kubeconfig={sandbox.at('in', 'hub')}", "--allow-namespace=fleet",
             f"--server-annotation={stand_ins.SERVER_ANNOTATION}"], choose_secret),
    Rule("tenant", "execcred-azure",
         lambda sandbox, environment: [
             "--identity=workload", f"--client-id={plugin_paths.CLIENT}", "--no-cache",
             f"--tenant-id={TENANT}", f"--allow-tenant={OTHER_TENANT}",
             f"--federated-token-file={sandbox.at('in', 'token')}",
             f"--authority-host={environment.servers.entra_url}",
             f"--ca-file={environment.servers.stand_in_ca}"], choose_tenant),
    Rule("audience", "execcred-oidc-federation",
         lambda sandbox, environment: [
             "--flow=token-exchange", f"--token-url={environment.servers.stand_in_url}/token",
             f"--ca-file={environment.servers.stand_in_ca}", "--no-cache",
             f"--subject-token-file={sandbox.at('in', 'token')}", "--allow-audience=spoke-*"],
         choose_audience),
]


def units(chosen):
    del chosen
    return RULES


def wrong(choices, allowed, outcome):
    """`allowed` is the token that the mapping allows, or true if it allows any."""
    if outcome.exit_code == 0:
        status = status_of(outcome.stdout)
        if status is None:
            return "no whole ExecCredential with exit code 0"
        if not allowed:
            return f"a credential that the mapping does not allow: {choices.made}"
        if isinstance(allowed, str) and status.get("token") != allowed:
            return f"another credential: {choices.made}"
        return None
    if outcome.stdout:
        return "a part of an answer with an error"
    if allowed and choices.is_plain:
        return f"exit code {outcome.exit_code} for what is allowed: {choices.made}"
    return None if outcome.exit_code in judge.ERROR_CODES else f"exit code {outcome.exit_code}"


def run(unit, environment, effort):
    tally = campaign.Tally()
    boxes = campaign.sandboxes(unit, environment)

    def strike(sandbox, seed):
        choices = Choices(seed)
        cluster, config = {}, {"clusterName": "member-1"}
        allowed = unit.choose(choices, cluster, config, sandbox, environment)
        text, has_no_arguments = profile_of(cluster, config, choices)
        sandbox.write("profile.json", text, 0o644)
        outcome = sandbox.run(unit.command(sandbox, environment), {"PATH": "/usr/bin:/bin"},
                              sandbox.timeout * 4)
        tally.add(outcome, f"seed {seed}",
                  wrong(choices, has_no_arguments and allowed, outcome))

    campaign.sweep(tally, boxes, range(COUNT), strike, effort)
    tally.figures.append({"given": tally.ends["true"]})
    return tally
