# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of spec.cluster.config: which fields a ClusterProfile may set for a plugin."""
import json

DESCRIPTION_OF_ANY = (
    "The value of the cluster's extension client.authentication.k8s.io/exec, in a ClusterProfile or a "
    "kubeconfig. This plugin reads no field of it and refuses none: they are another plugin's, which "
    "it runs.")
DESCRIPTION_OF_SOME = (
    "The value of the cluster's extension client.authentication.k8s.io/exec, in a ClusterProfile or a "
    "kubeconfig. Other fields can fill {config.FIELD}, if the mapping's args allow their values.")
DESCRIPTION = (
    "The value of the cluster's extension client.authentication.k8s.io/exec, in a ClusterProfile or a"
    " kubeconfig. Fields that are null here are options that only the mapping may set. Fields that are"
    " not named here belong to other plugins and are passed over, as are fields for which the mapping's"
    " args leave no use.")
WIDTH = 100


def reference(name):
    return {"$ref": "#/$defs/" + name}


def camel_case(name):
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)


def description_of(option):
    text = option.help + "."
    return text + f" A value may need --{option.permission}." if option.permission else text


def form_of(option):
    if not option.form:
        return reference("line")
    form = {"type": "string"}
    if "maxSize" in option.form:
        form["maxLength"] = option.form["maxSize"]
    return {**form, "pattern": option.form["pattern"]}


def value_of(option):
    form = form_of(option)
    lists = [{"type": "array", "items": form}] if option.is_repeatable else []
    return [form, *lists, reference("absent")]


def fields_of(option):
    first, *others = option.fields
    yield first, {"description": description_of(option), "anyOf": value_of(option)}
    for other in others:
        yield other, {"description": f"The same as {first}; only one of them may be set.",
                      "anyOf": value_of(option)}


def fallback(option, properties):
    """Another option's field, which is used if no field of this option is set."""
    shared = option.shared_field
    properties[shared] = {
        "description": properties[shared]["description"] +
        f" It stands for {option.fields[0]} too, where that is absent.",
        "anyOf": [reference("line"), reference("absent")]}
    return {
        "if": {"not": {"required": option.fields[:1],
                       "properties": {option.fields[0]: {"type": "string", "minLength": 1}}}},
        "then": {"properties": {shared: {"anyOf": value_of(option)}}}}


ABSENT = {"enum": [None, ""]}
SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def schema_of(plugin):
    properties, conditions = {}, {}
    for option in plugin.options:
        if option.fields:
            properties.update(fields_of(option))
    if plugin.ignores_profile:
        title = {"$schema": SCHEMA, "title": "spec.cluster.config of " + plugin.name}
        if not properties:
            return {**title, "description": DESCRIPTION_OF_ANY}
        return {**title, "description": DESCRIPTION_OF_SOME, "properties": properties,
                "$defs": {"absent": ABSENT}}
    for option in plugin.options:
        if option.shared_field:
            conditions.update(fallback(option, properties))
    for option in plugin.options:
        properties.setdefault(camel_case(option.name), reference("refused"))
    return {
        "$schema": SCHEMA,
        "title": "spec.cluster.config of " + plugin.name,
        "description": DESCRIPTION,
        "type": "object",
        "properties": properties,
        **conditions,
        "$defs": {
            "absent": ABSENT,
            "line": {"type": "string", "minLength": 1,
                     "pattern": "^[^\\u0000-\\u001f\\u007f]*$"},
            "refused": {"type": "null"}}}


def text_of(value, indent="", lead=""):
    """Like json.dumps, but a value that fits into a line is written on one line."""
    line = lead + json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(indent) + len(line) < WIDTH:
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        parts = [text_of(item, deeper) for item in value]
    else:
        parts = [text_of(item, deeper, json.dumps(name) + ": ") for name, item in value.items()]
    ends = "[]" if isinstance(value, list) else "{}"
    return lead + ends[0] + "\n" + ",\n".join(deeper + part for part in parts) + "\n" + indent + ends[1]


def write(plugin):
    return text_of(schema_of(plugin)) + "\n"
