# SPDX-License-Identifier: Apache-2.0
"""The results of the last runs as a JSON file, which is kept: tests/faults/results.json."""
import json
import os


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, results):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text(results))


def text(results):
    """Each member on a line of its own, and so each row of a list."""
    return "{\n" + ",\n".join(member(name, results[name]) for name in sorted(results)) + "\n}\n"


def member(name, value):
    if not isinstance(value, list):
        return f"{json.dumps(name)}: {json.dumps(value, sort_keys=True)}"
    rows = ",\n".join(json.dumps(row, sort_keys=True) for row in value)
    return f"{json.dumps(name)}: [\n{rows}\n]"
