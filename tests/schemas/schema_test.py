#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the JSON Schemas of config/schemas with a validator, and with the programs they describe.

schema_test.py SOURCE BIN: every example of config/ is valid; every bad document is refused by the
schema and by the program; the schema of a plugin's config names the options of its --help.
"""
import copy
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import jsonschema
import yaml

sys.dont_write_bytecode = True  # a test leaves no files in the sources

from plugin_configs import PLUGINS, Disagreement
from program import run

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import static_secret_rows

SOURCE, BIN = sys.argv[1:3]
os.umask(0o022)  # plugins refuse files that others may write
SCRATCH = tempfile.TemporaryDirectory()


def copy_of_config():
    """A checkout may be writable by its group, and such mappings are refused. So copy config/."""
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


def camel_case(dashed):
    first, *rest = dashed.split("-")
    return first + "".join(word.capitalize() for word in rest)


def changed(document, path, value):
    """A copy with another value at the path. Ellipsis removes the old value."""
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
        # Without providers, lint cannot know that it is a mapping.
        is_told = linted.returncode == 1 or (path == ["providers"] and value is ...)
        check(is_told, f"lint refuses {path} = {value!r}: {linted.stdout}")
    for unknown in (["version"], entry + ["PROFILESOURCEDCLIARGSPOLICY"], execs + ["arguments"]):
        document = changed(mapping, unknown, "x")
        check(not validator.is_valid(document), f"refused: {unknown}")


def check_fields(validator, plugin, takes, good, bad):
    """The schema and the plugin agree on each config, and on which options may be set there."""
    for config in good:
        check(validator.is_valid(config), f"{plugin}: valid: {config}")
        check(takes(config), f"{plugin} takes {config}")
    for config in bad:
        check(not validator.is_valid(config), f"{plugin}: refused: {config}")
        check(not takes(config), f"{plugin} refuses {config}")
    if "properties" not in validator.schema:
        return  # the plugin has no fields
    usage = run(plugin, "--help").stdout
    options = {camel_case(name)
               for name in re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", usage, re.MULTILINE)}
    allowed = {field for fields in re.findall(r"profile: ([\w, ]+)", " ".join(usage.split()))
               for field in fields.split(", ")}
    named = set(validator.schema["properties"])
    refused = {name for name, value in validator.schema["properties"].items()
               if value == {"$ref": "#/$defs/refused"}}
    check(named - refused == allowed, f"the fields of --help: {allowed} and {named - refused}")
    # A plugin that passes over the fields of others refuses none.
    others = options - allowed if "refused" in validator.schema["$defs"] else set()
    check(refused == others, f"the other options: {others} and {refused}")


def check_plugin(plugin, takes, examples, good, bad):
    validator = load(f"{plugin}.config.schema.json")
    if examples:
        check_examples(validator, os.path.join(CONFIG, examples))
    else:
        for name in sorted(os.listdir(EXAMPLES)):
            check_example(validator, MAPPING, os.path.join(EXAMPLES, name))
    check_fields(validator, plugin, takes, good, bad)


def check_examples(validator, examples):
    """Each example is a folder with a mapping and a ClusterProfile for it."""
    mappings = load("clusterprofile-provider-file.schema.json")
    for name in sorted(os.listdir(examples)):
        folder = os.path.join(examples, name)
        if not os.path.isdir(folder):
            continue
        mapping = os.path.join(folder, "mapping.json")
        with open(mapping, encoding="utf-8") as file:
            check(mappings.is_valid(json.load(file)), f"{name}: its mapping is valid")
        check_example(validator, mapping, os.path.join(folder, "clusterprofile.yaml"))


def check_rows(validator):
    """lint finds nothing in the files of a row of config/static-secret, and each folder is a row."""
    examples = pathlib.Path(CONFIG, "static-secret")
    as_shipped = set()
    for row in static_secret_rows.rows(examples):
        folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH.name))
        static_secret_rows.write(examples, row, folder)
        name, shipped = row["provider"], examples / row["folder"]
        files = [folder / "mapping.json", folder / "clusterprofile.yaml"]
        check_example(validator, *map(str, files))
        linted = run("execcred", "lint", "--no-files", *map(str, files))
        check("0 errors, 0 warnings in 2 files" in linted.stdout, f"{name}: {linted.stdout}")
        if row["args"]:
            continue
        as_shipped.add(row["folder"])
        for file in [folder / "mapping.json", *folder.glob("*.yaml")]:
            check(documents(file) == documents(shipped / file.name), f"{name}: {file.name} is shipped")
    folders = {path.name for path in examples.iterdir() if path.is_dir()}
    check(as_shipped == folders, f"the table has each folder: {as_shipped ^ folders}")


def documents(path):
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def check_example(validator, mapping, profile):
    resolved = run("execcred", "resolve", "-m", mapping, "-f", profile, "-o", "json")
    check(resolved.returncode == 0, f"{profile} is resolved: {resolved.stderr}")
    items = json.loads(resolved.stdout or '{"items": []}')["items"]
    check(len(items) == 1, f"{profile} has one ClusterProfile")
    config = items[0]["cluster"].get("config") if items else None
    check(config is None or validator.is_valid(config), f"{profile}: its config is valid")


def check_doctor():
    """doctor's document for a cluster without a token, and for two that cannot be examined."""
    validator = load("doctor.schema.json")
    plugin = os.path.join(BIN, "execcred-token-file")
    mapping = os.path.join(SCRATCH.name, "doctor-mapping.json")
    with open(mapping, "w", encoding="utf-8") as file:
        json.dump({"providers": [{"name": "p", "execConfig": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": plugin,
            "args": ["--token-file=/no/such/token"], "interactiveMode": "Never"}}]}, file)
    profile = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
               "metadata": {"name": "one", "namespace": "fleet"},
               "status": {"accessProviders": [
                   {"name": "p", "cluster": {"server": "https://127.0.0.1:1"}}]}}
    none = changed(changed(profile, ["metadata", "name"], "two"), ["status"], {})
    broken = changed(changed(profile, ["metadata"], {"name": "three"}), ["apiVersion"],
                     "multicluster.x-k8s.io/v9")
    told = run("execcred", "doctor", "-m", mapping, "-f", "-", "-o", "json",
               text="\n---\n".join(json.dumps(one) for one in (profile, none, broken)))
    check(told.returncode == 1, f"doctor examines them: {told.stderr}")
    document = json.loads(told.stdout or "null")
    problems = [error.message for error in validator.iter_errors(document)]
    check(not problems, f"doctor's document is as its schema says: {problems}")
    causes = [item.get("cause") for item in (document or {"items": []})["items"]]
    check(causes == ["source-missing", "no-provider", "profile-invalid"], f"its causes: {causes}")
    with open(os.path.join(SOURCE, "docs", "causes.md"), encoding="utf-8") as file:
        explained = re.findall(r"^## ([a-z0-9-]+)$", file.read(), re.MULTILINE)
    known = validator.schema["$defs"]["cause"]["enum"]
    check(sorted(explained) == sorted(known), f"docs/causes.md has each: {set(explained) ^ set(known)}")
    with open(os.path.join(SOURCE, "docs", "troubleshooting.md"), encoding="utf-8") as file:
        linked = re.findall(r"\[`([a-z0-9-]+)`\]\(causes\.md#\1\)", file.read())
    check(sorted(linked) == sorted(known), f"troubleshooting.md links each: {set(linked) ^ set(known)}")
    with open(os.path.join(SOURCE, "libexeccred", "execcred", "base", "causes.inc"), encoding="utf-8") as file:
        declared = re.findall(r'CAUSE\(k\w+, "([a-z-]+)"\)', file.read())
    check(sorted(declared) == sorted(known), f"the schema has each: {set(declared) ^ set(known)}")


def check_grant():
    validator = load("grant.schema.json")
    golden = os.path.join(SOURCE, "tests", "golden", "execcred")
    for case in ("grant-json",):
        with open(os.path.join(golden, case, "stdout"), encoding="utf-8") as file:
            document = json.load(file)
        problems = [error.message for error in validator.iter_errors(document)]
        check(not problems, f"grant's document is as its schema says: {problems}")
        check(not validator.is_valid(changed(document, ["items", 0, "user"], 7)), "a user is a text")
        check(not validator.is_valid(changed(document, ["items", 0, "objects"], ...)), "objects are there")
    told = run("execcred", "grant", "-m", MAPPING, "-f", EXAMPLES, "--can=get/pods", "-o", "json")
    document = json.loads(told.stdout or "null")
    problems = [error.message for error in validator.iter_errors(document)]
    check(not problems, f"an error is as its schema says: {problems}")
    check("error" in document["items"][0], f"grant reports a cluster without a token: {told.stdout}")


# What a person may write for each value of the catalogue.
FILLED_IN = {
    "FILL-IN-MANAGED-SERVICEACCOUNT": "reader",
    "FILL-IN-ISSUER-URL": "https://issuer.example.com",
    "FILL-IN-SUBJECT-TOKEN-FILE": "/var/run/token",
    "FILL-IN-SERVICE-ACCOUNT": "fleet/reader",
    "FILL-IN-CREDENTIAL": '["/plugins/execcred-token-file","--token-file=/var/run/token"]',
}


def problem_of_provider(row, fill_ins):
    """What is wrong with a row of the catalogue by its plugin; empty if nothing is."""
    if "plugin" not in row:
        return ""
    if row["plugin"] not in PLUGINS:
        return f"{row['plugin']} is no plugin"
    used = set(re.findall(r"FILL-IN-[A-Z-]+", json.dumps(row)))
    if not used <= fill_ins:
        return f"nothing shows {used - fill_ins}"
    if not used <= FILLED_IN.keys():
        return f"{used - FILLED_IN.keys()} are missing in this test"
    args = row.get("args", [])
    for name in used:
        args = [text.replace(name, FILLED_IN[name]) for text in args]
    told = run(row["plugin"], *args, "--show-config")
    return "" if told.returncode == 0 else f"{row['plugin']} refuses {args}: {told.stderr}"


def check_catalogue():
    validator = load("catalogue.schema.json")
    with open(os.path.join(CONFIG, "catalogue.yaml"), encoding="utf-8") as file:
        catalogue = yaml.safe_load(file)
    problems = [error.message for error in validator.iter_errors(catalogue)]
    check(not problems, f"the catalogue is as its schema says: {problems}")
    for rows in ("providers", "consumers"):
        for i, row in enumerate(catalogue[rows]):
            unsourced = changed(catalogue, [rows, i, "source"], ...)
            check(not validator.is_valid(unsourced), f"the schema refuses {row} without its source")
    kueue = next(i for i, row in enumerate(catalogue["consumers"]) if "rights" in row)
    unsourced = changed(catalogue, ["consumers", kueue, "rightsSource"], ...)
    check(not validator.is_valid(unsourced), "the schema refuses rights without their source")
    fill_ins = {row["value"] for row in catalogue["fillIns"]}
    for row in catalogue["providers"]:
        problem = problem_of_provider(row, fill_ins)
        check(not problem, f"the row {row['names']}: {problem}")
    sound = catalogue["providers"][0]
    for field, value in (
        ("plugin", "execcred-none"),
        ("args", sound["args"] + ["--no-such-option=x"]),
        ("args", ["--convention=none"]),
        ("args", ["--secret-name=FILL-IN-NOBODY-SHOWS-IT"]),
    ):
        check(problem_of_provider({**sound, field: value}, fill_ins), f"{field} {value} is refused")
    names = [name for row in catalogue["providers"] for name in row["names"]]
    check(len(names) == len(set(names)), "a name is in one row alone")


check_mapping()
check_rows(load("execcred-static-secret.config.schema.json"))
check_doctor()
check_grant()
check_catalogue()
for plugin_name, of_plugin in PLUGINS.items():
    try:
        check_plugin(plugin_name, **of_plugin)
    except Disagreement as told:
        check(False, str(told))
print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures or checks == 0 else 0)
