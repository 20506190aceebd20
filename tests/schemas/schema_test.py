#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of config/schemas, put to a validator, and to the programs they describe.

schema_test.py SOURCE BIN: every example of config/ is valid; every bad document is refused by the
schema and by the program; the schema of a plugin's config names the options of its --help.
"""
import base64
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import jsonschema

SOURCE, BIN = sys.argv[1:3]
os.umask(0o022)  # plugins refuse files that others may write
SCRATCH = tempfile.TemporaryDirectory()


def copy_of_config():
    """Because a checkout may be writable by its group, and such mappings are refused."""
    copied = os.path.join(SCRATCH.name, "config")
    for folder, _, names in os.walk(os.path.join(SOURCE, "config")):
        inside = os.path.join(copied, os.path.relpath(folder, os.path.join(SOURCE, "config")))
        os.makedirs(inside, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(folder, name), os.path.join(inside, name))
    return copied


CONFIG = copy_of_config()
MAPPING = os.path.join(CONFIG, "clusterprofile-provider-file.json")
EXAMPLES = os.path.join(CONFIG, "examples")
STATIC_SECRET = os.path.join(CONFIG, "static-secret")
OIDC_FEDERATION = os.path.join(CONFIG, "oidc-federation")
AZURE = os.path.join(CONFIG, "azure")
failures = []
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        failures.append(what)
        print("not ok:", what)


def load(name):
    with open(os.path.join(CONFIG, "schemas", name), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def run(program, *arguments, text=None, env=None):
    return subprocess.run(
        [os.path.join(BIN, program), *arguments], input=text, capture_output=True, text=True,
        timeout=60, check=False, env=env)


def camel_case(dashed):
    first, *rest = dashed.split("-")
    return first + "".join(word.capitalize() for word in rest)


def changed(document, path, value):
    """A copy with another value at the path; Ellipsis removes what stands there."""
    copied = copy.deepcopy(document)
    place = copied
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copied


def check_mapping():
    validator = load("clusterprofile-provider-file.schema.json")
    with open(MAPPING, encoding="utf-8") as file:
        mapping = json.load(file)
    check(validator.is_valid(mapping), "the canonical mapping is valid")
    entry, execs = ["providers", 0], ["providers", 0, "execConfig"]
    good = [
        (execs + ["args"], None), (execs + ["env"], None),
        (execs + ["env"], [{"name": "A", "value": "line\nline"}, {"name": "B"}]),
        (execs + ["apiVersion"], "client.authentication.k8s.io/v1beta1"),
        (entry + ["profileSourcedEnvVarsPolicy"], ...), (entry + ["profileSourcedEnvVarsPolicy"], ""),
        (execs + ["interactiveMode"], "IfAvailable"), (execs + ["installHint"], None),
        (["providers"], []),
    ]
    for path, value in good:
        document = changed(mapping, path, value)
        if path[-1] == "args":
            document["providers"][0]["execConfig"]["command"] = "/plugins/another"
        check(validator.is_valid(document), f"valid: {path} = {value!r}")
        linted = run("execcred", "lint", "--no-files", "-", text=json.dumps(document))
        check(linted.returncode == 0, f"lint takes {path} = {value!r}: {linted.stdout}")
    bad = [
        (["providers"], ...), (["providers"], {}), (["providers"], [None]),
        (entry + ["name"], ...), (entry + ["name"], ""), (entry + ["name"], 7),
        (entry + ["name"], "a\nb"), (entry + ["execConfig"], ...), (entry + ["execConfig"], None),
        (execs + ["apiVersion"], ...), (execs + ["apiVersion"], "v1"),
        (execs + ["apiVersion"], "client.authentication.k8s.io/v1alpha1"),
        (execs + ["command"], ...), (execs + ["command"], ""), (execs + ["command"], "plugin"),
        (execs + ["command"], "./plugin"), (execs + ["command"], "/a\nb"),
        (execs + ["args"], "--x"), (execs + ["args"], [1]), (execs + ["args"], [None]),
        (execs + ["args"], ["a\u0000"]), (execs + ["env"], {"A": "b"}), (execs + ["env"], [{}]),
        (execs + ["env"], [{"name": "A=B"}]), (execs + ["env"], [{"name": "A", "value": 1}]),
        (execs + ["interactiveMode"], "never"), (execs + ["provideClusterInfo"], "true"),
        (execs + ["provideClusterInfo"], False), (execs + ["provideClusterInfo"], ...),
        (execs + ["installHint"], ["x"]),
        (entry + ["profileSourcedCLIArgsPolicy"], "append"),
        (entry + ["profileSourcedCLIArgsPolicy"], "Append"),
        (entry + ["profileSourcedEnvVarsPolicy"], "Append"),
        (entry + ["profileSourcedEnvVarsPolicy"], "Replace"),
    ]
    for path, value in bad:
        document = changed(mapping, path, value)
        check(not validator.is_valid(document), f"refused: {path} = {value!r}")
        linted = run("execcred", "lint", "--no-files", "-", text=json.dumps(document))
        # Without providers nothing tells that it is a mapping.
        is_told = linted.returncode == 2 or (path == ["providers"] and value is ...)
        check(is_told, f"lint refuses {path} = {value!r}: {linted.stdout}")
    for unknown in (["version"], entry + ["PROFILESOURCEDCLIARGSPOLICY"], execs + ["arguments"]):
        document = changed(mapping, unknown, "x")
        check(not validator.is_valid(document), f"refused: {unknown}")


def exec_info(config):
    return json.dumps({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"interactive": False,
                 "cluster": {"server": "https://s.example.com", "config": config}}})


def token_file_takes(config):
    """Whether execcred-token-file takes the config: told by its exit code, run with a token."""
    with tempfile.TemporaryDirectory() as folder:
        for cluster in ("spoke-1", "a.b"):
            os.makedirs(os.path.join(folder, cluster))
            with open(os.path.join(folder, cluster, "token"), "w", encoding="utf-8") as file:
                file.write("opaque")
        pattern = "{clusterName}" if "clusterName" in (config or {}) else "spoke-1"
        ran = run("execcred-token-file", f"--token-file={folder}/{pattern}/token", "--exec-info=-",
                  text=exec_info(config))
    return ran.returncode != 2


# Nothing listens there, so what is not refused ends with 1, refused by a rule, or 3.
NO_HUB = {
    "apiVersion": "v1", "kind": "Config", "current-context": "hub",
    "clusters": [{"name": "hub", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "hub", "user": {"token": "t"}}],
    "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "hub",
                                             "namespace": "fleet"}}],
}


def static_secret_takes(config):
    """Whether the convention that reads the config's fields does."""
    fields = {name for name, value in (config or {}).items() if value is not None}
    convention = ("token-secretreader" if fields & {"secretName", "secretNamespace"} else
                  "kubeconfig-secretreader" if fields & {"name", "namespace", "key", "context"} else
                  "generic")
    arguments = ["--exec-info=-", "--timeout=5s", f"--convention={convention}"]
    if not fields & {"name", "secretName"}:
        name = "{clusterName}" if "clusterName" in fields else "x"
        arguments.append(f"--secret-name={name}")
    if "key" not in fields:
        arguments.append("--key=x")
    if not fields & {"namespace", "secretNamespace"}:
        arguments.append("--namespace=fleet")
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = os.path.join(folder, "hub")
        with open(kubeconfig, "w", encoding="utf-8") as file:
            json.dump(NO_HUB, file)
        ran = run("execcred-static-secret", *arguments, text=exec_info(config),
                  env={"KUBECONFIG": kubeconfig, "PATH": os.environ["PATH"]})
    if ran.returncode not in (1, 2, 3):
        check(False, f"{config} ends with {ran.returncode}: {ran.stderr}")
    return ran.returncode != 2


def oidc_federation_takes(config):
    """Whether execcred-oidc-federation does, told by its exit code, run with a token of its own."""
    parts = [{"alg": "RS256"}, {"aud": ["x"], "exp": int(time.time()) + 600}, {}]
    token = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
                     for part in parts)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(token)
        ran = run("execcred-oidc-federation", "--flow=pass-through", f"--subject-token-file={path}",
                  "--exec-info=-", text=exec_info(config))
    if ran.returncode not in (0, 1, 2):
        check(False, f"{config} ends with {ran.returncode}: {ran.stderr}")
    return ran.returncode != 2


def check_fields(validator, plugin, takes, good, bad):
    """The schema and the plugin agree on each config, and on which options may be set there."""
    for config in good:
        check(validator.is_valid(config), f"{plugin}: valid: {config}")
        check(takes(config), f"{plugin} takes {config}")
    for config in bad:
        check(not validator.is_valid(config), f"{plugin}: refused: {config}")
        check(not takes(config), f"{plugin} refuses {config}")
    usage = run(plugin, "--help").stdout
    options = {camel_case(name) for name in re.findall(r"--([a-z][a-z-]*)", usage.split("Options:")[1])
               if f"  --{name}" in usage or f", --{name}" in usage}
    allowed = {field for fields in re.findall(r"profile: ([\w, ]+)", usage)
               for field in fields.split(", ")}
    named = set(validator.schema["properties"])
    refused = {name for name, value in validator.schema["properties"].items()
               if value == {"$ref": "#/$defs/refused"}}
    check(named - refused == allowed, f"the fields of --help: {allowed} and {named - refused}")
    check(refused == options - allowed, f"the other options: {options - allowed} and {refused}")


def check_token_file():
    validator = load("execcred-token-file.config.schema.json")
    for name in sorted(os.listdir(EXAMPLES)):
        check_example(validator, MAPPING, os.path.join(EXAMPLES, name))
    good = [{}, {"clusterName": "spoke-1"}, {"clusterName": "a.b"}, {"region": "eu", "other": [1]},
            {"audience": "x"}, {"audience": ["x", "y"]}, {"audience": None}, {"timeout": None}]
    bad = [{"clusterName": 7}, {"clusterName": ""}, {"clusterName": "../x"}, {"clusterName": "A"},
           {"audience": 7}, {"audience": ""}, {"audience": ["x", 1]}, {"audience": "a\nb"},
           {"cluster": "x"}, {"tokenFile": "/etc/passwd"}, {"allowServer": ["https://evil"]},
           {"timeout": "60s"}, {"debug": True}]
    check_fields(validator, "execcred-token-file", token_file_takes, good, bad)


def check_examples(validator, examples):
    """A folder for each: a mapping, and a ClusterProfile for it."""
    mappings = load("clusterprofile-provider-file.schema.json")
    for name in sorted(os.listdir(examples)):
        folder = os.path.join(examples, name)
        if not os.path.isdir(folder):
            continue
        mapping = os.path.join(folder, "mapping.json")
        with open(mapping, encoding="utf-8") as file:
            check(mappings.is_valid(json.load(file)), f"{name}: its mapping is valid")
        check_example(validator, mapping, os.path.join(folder, "clusterprofile.yaml"))


def check_static_secret():
    validator = load("execcred-static-secret.config.schema.json")
    check_examples(validator, STATIC_SECRET)
    good = [{}, {"clusterName": "spoke-1"}, {"clusterName": "a.b"}, {"region": "eu", "other": [1]},
            {"name": "spoke-1.kubeconfig"}, {"name": "x", "key": "_a.B-9"}, {"namespace": "fleet"},
            {"context": "admin@a/b"}, {"secretName": "x", "secretNamespace": "fleet", "key": "k"},
            {"key": None}, {"timeout": None}]
    bad = [{"clusterName": 7}, {"clusterName": ""}, {"clusterName": "../x"}, {"name": "A"},
           {"name": "a/b"}, {"name": ["x"]}, {"secretName": ""}, {"namespace": "a.b"},
           {"secretNamespace": 1}, {"key": "a/b"}, {"key": ""}, {"key": ["x", "y"]},
           {"context": ""}, {"context": "a\nb"}, {"cluster": "x"}, {"secretDir": "/etc"},
           {"kubeconfig": "/etc/kubernetes/admin.conf"}, {"allowNamespace": ["any"]},
           {"allowHubToken": True}, {"convention": "generic"}, {"allowServer": ["https://evil"]},
           {"timeout": "60s"}, {"debug": True}]
    check_fields(validator, "execcred-static-secret", static_secret_takes, good, bad)


def check_oidc_federation():
    validator = load("execcred-oidc-federation.config.schema.json")
    check_examples(validator, OIDC_FEDERATION)
    good = [{}, {"clusterName": "spoke-1"}, {"clusterName": "a.b"}, {"region": "eu", "other": [1]},
            {"audience": "x"}, {"audience": "y"}, {"audience": ["x", "y"]}, {"audience": None},
            {"clusterName": None}, {"issuerUrl": None}, {"oidcIssuerUrl": "https://a"}]
    bad = [{"clusterName": 7}, {"clusterName": ""}, {"audience": 7}, {"audience": ""},
           {"audience": ["x", 1]}, {"audience": "a\nb"}, {"cluster": "x"},
           {"flow": "token-exchange"}, {"issuerUrl": "https://evil.example.com"},
           {"tokenUrl": "https://evil.example.com"}, {"scope": "admin"}, {"resource": ["x"]},
           {"param": ["a=b"]}, {"clientId": "x"}, {"subjectTokenFile": "/etc/passwd"},
           {"subjectTokenUrl": "https://evil.example.com"}, {"subjectAudience": "x"},
           {"subjectTokenCommand": "[\"/bin/sh\"]"}, {"serviceAccount": "a/b"},
           {"conciergeEndpoint": "https://evil.example.com"}, {"expectAudience": "x"},
           {"cacheDir": "/tmp"}, {"noCache": True}, {"allowServer": ["https://evil"]},
           {"allowAudience": ["any"]}, {"timeout": "60s"}, {"debug": True}]
    check_fields(validator, "execcred-oidc-federation", oidc_federation_takes, good, bad)


def azure_takes(config):
    """Whether execcred-azure does, told by its exit code: an expired token is what it ends with."""
    parts = [{"alg": "RS256"}, {"aud": ["x"], "exp": int(time.time()) - 600}, {}]
    token = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
                     for part in parts)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(token)
        ran = run("execcred-azure", "--no-cache", "--allow-tenant=contoso.com", "--exec-info=-",
                  text=exec_info(config),
                  env={"AZURE_CLIENT_ID": "99999999-8888-7777-6666-555555555555",
                       "AZURE_TENANT_ID": "11111111-2222-3333-4444-55555555abcd",
                       "AZURE_FEDERATED_TOKEN_FILE": path,
                       "AZURE_AUTHORITY_HOST": "https://127.0.0.1:1"})
    if ran.returncode not in (1, 2):
        check(False, f"{config} ends with {ran.returncode}: {ran.stderr}")
    return ran.returncode != 2


def check_azure():
    validator = load("execcred-azure.config.schema.json")
    check_examples(validator, AZURE)
    good = [{}, {"clusterName": "spoke-1"}, {"region": "eu", "other": [1]}, {"tenantId": None},
            {"tenantId": "11111111-2222-3333-4444-55555555ABCD"}, {"tenantId": "Contoso.com"},
            {"tenantID": "x"}]
    bad = [{"clusterName": 7}, {"tenantId": 7}, {"tenantId": ""}, {"tenantId": "common"},
           {"tenantId": "../x"}, {"tenantId": "a/b.c"}, {"tenantId": "a..b"}, {"tenantId": "a.b."},
           {"tenantId": ["contoso.com"]}, {"tenantId": "contoso.com\nx"}, {"tenantId": "-a.b"},
           {"tenantId": "11111111-2222-3333-4444-55555555abc"}, {"cluster": "x"},
           {"clientId": "99999999-8888-7777-6666-555555555555"}, {"identity": "managed"},
           {"authorityHost": "https://evil.example.com"}, {"federatedTokenFile": "/etc/passwd"},
           {"serverId": "api://x"}, {"allowTenant": ["contoso.com"]}, {"caFile": "/etc/passwd"},
           {"identityResourceId": "/subscriptions/x"}, {"allowServer": ["https://evil"]},
           {"cacheDir": "/tmp"}, {"noCache": True}, {"timeout": "60s"}, {"debug": True}]
    check_fields(validator, "execcred-azure", azure_takes, good, bad)


def check_example(validator, mapping, profile):
    resolved = run("execcred", "resolve", "-m", mapping, "-f", profile, "-o", "json")
    check(resolved.returncode == 0, f"{profile} is resolved: {resolved.stderr}")
    config = json.loads(resolved.stdout or "{}").get("cluster", {}).get("config")
    check(config is None or validator.is_valid(config), f"{profile}: its config is valid")


check_mapping()
check_token_file()
check_static_secret()
check_oidc_federation()
check_azure()
print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures or checks == 0 else 0)
