# SPDX-License-Identifier: Apache-2.0
"""Fills in the rows of the table in config/static-secret/README.md.

    static_secret_rows.py EXAMPLES               prints the providers' names, one a line
    static_secret_rows.py EXAMPLES PROVIDER DIR  writes this row's files into DIR, and row.json with its cells

EXAMPLES is config/static-secret. A row's files are those of its folder with the values of its cells; an
empty cell keeps the folder's value.
"""
import json
import pathlib
import re
import sys

import yaml

COLUMNS = ["provider", "folder", "args", "secret", "marks", "keys", "extension"]
CODE = re.compile(r"`([^`]+)`")
MARK = re.compile(r"(label|annotation|type) `([^`]+)`")


def rows(examples):
    """Each row of the table, as a dictionary of its cells' code spans."""
    found = []
    for line in (examples / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")]
        if len(cells) != len(COLUMNS) or not CODE.fullmatch(cells[0]):
            continue
        row = {column: CODE.findall(cell) for column, cell in zip(COLUMNS, cells)}
        row["provider"] = row["provider"][0]
        row["folder"] = re.search(r"\[(\w+)\]", cells[1])[1]
        row["marks"] = [list(mark) for mark in MARK.findall(cells[4])]
        found.append(row)
    return found


def with_args(old, new):
    """These arguments, and --allow-server as the folder has it where the row has none."""
    if not new:
        return old
    option = "--allow-server="
    kept = [arg for arg in old if arg.startswith(option)]
    return new if any(arg.startswith(option) for arg in new) else new + kept


def fill_mapping(mapping, row):
    entry = mapping["providers"][0]
    entry["name"] = row["provider"]
    entry["execConfig"]["args"] = with_args(entry["execConfig"]["args"], row["args"])


def fill_profile(documents, row):
    access = documents[0]["status"]["accessProviders"][0]
    access["name"] = row["provider"]
    if row["extension"]:
        fields = dict(field.split(": ") for field in row["extension"])
        access["cluster"]["extensions"] = [
            {"name": "client.authentication.k8s.io/exec", "extension": fields}]


def fill_secret(documents, row):
    secret = documents[-1]
    if row["secret"]:
        secret["metadata"]["namespace"], name = row["secret"][0].split("/")
        secret["metadata"]["name"] = secret["metadata"]["name"] if name == "*" else name
    for kind, value in row["marks"]:
        if kind == "type":
            secret["type"] = value
        else:
            key, text = value.split("=")
            secret["metadata"].setdefault(f"{kind}s", {})[key] = text
    if row["keys"] and list(secret["stringData"]) != row["keys"]:
        (value,) = secret["stringData"].values()
        secret["stringData"] = {row["keys"][0]: value}


def fill_rights(documents, row):
    if not row["secret"]:
        return
    namespace, name = row["secret"][0].split("/")
    for document in documents:
        if document["kind"] != "ServiceAccount":
            document["metadata"]["namespace"] = namespace
        if document["kind"] == "Role" and name == "*":
            document["rules"] = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]
        elif document["kind"] == "Role":
            document["rules"][0]["resourceNames"] = [name]


class Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, as the examples have them."""


Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar(
    "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None))
FILL = {"clusterprofile.yaml": fill_profile, "secret.yaml": fill_secret, "rbac.yaml": fill_rights}


def write(examples, row, target):
    """Writes the row's files. Where a Secret of other files is mounted, secret.yaml is left out."""
    folder = examples / row["folder"]
    mapping = json.loads((folder / "mapping.json").read_text(encoding="utf-8"))
    fill_mapping(mapping, row)
    (target / "mapping.json").write_text(json.dumps(mapping, indent=2) + "\n", encoding="utf-8")
    is_mounted_otherwise = row["folder"] == "mounted" and not row["secret"]
    for name, fill in FILL.items():
        if not (folder / name).exists() or (is_mounted_otherwise and name == "secret.yaml"):
            continue
        documents = list(yaml.safe_load_all((folder / name).read_text(encoding="utf-8")))
        fill(documents, row)
        text = yaml.dump_all(documents, Dumper=Dumper, sort_keys=False, width=100000)
        (target / name).write_text(text, encoding="utf-8")
    (target / "row.json").write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")


def main(examples, provider=None, target=None):
    examples = pathlib.Path(examples)
    if provider is None:
        print("\n".join(row["provider"] for row in rows(examples)))
        return 0
    (row,) = [row for row in rows(examples) if row["provider"] == provider]
    write(examples, row, pathlib.Path(target))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
