# SPDX-License-Identifier: Apache-2.0
"""The option tables of docs/, between two markers of a page."""
import re

import facts

FLAG = re.compile(r"--[a-z][a-z-]*(=[a-z-]+)?")
BEGIN, END = "<!-- options:begin -->\n", "<!-- options:end -->\n"
HEAD = "| option | environment | meaning |\n|---|---|---|\n"


def code(text):
    return "`" + text.replace("|", "\\|") + "`"


def codes(texts):
    return ", ".join(code(text) for text in texts)


def meaning(option):
    parts = [FLAG.sub(lambda flag: code(flag[0]), option.help)]
    if option.is_required:
        parts.append("required")
    if option.listed_choices:
        parts.append("one of " + codes(option.listed_choices))
    if option.default:
        parts.append("default: " + (option.default if " " in option.default else code(option.default)))
    if option.is_template:
        parts.append("[template](options.md#templates)")
    if option.fields:
        fields = option.fields + [option.shared_field] * bool(option.shared_field)
        permission = ", which may need " + code("--" + option.permission)
        parts.append("[*profile*](options.md#what-may-come-from-a-clusterprofile) " + codes(fields) + permission * bool(option.permission))
    if option.example:
        parts.append("for example: " + code(option.example))
    if option.weakness and not option.weakness.get("ofSomeValues"):
        parts.append("**weakens a check**: it " + option.weakness["effect"])
    return "; ".join(parts).replace("\n", " ")


def row(option):
    usage = option.flag + ("=" + option.value if option.value else "")
    letter = code("-" + option.letter) + ", " if option.letter else ""
    repeatable = " (repeatable)" if option.is_repeatable else ""
    return f"| {letter}{code(usage)}{repeatable} | {codes(option.variables) or '–'} " \
           f"| {meaning(option)} |\n"


def tables(groups):
    return "\n".join(f"**{group}**\n\n{HEAD}" + "".join(row(option) for option in options)
                     for group, options in groups)


def examples(plugin):
    lines = [f"# {purpose}:\n{command}\n" for purpose, command in plugin.examples]
    return "**Examples**\n\n```sh\n" + "\n".join(lines) + "```\n"


def of_plugin(plugin):
    text = tables(facts.by_group([option for option in plugin.options if not option.is_shared]))
    has_cache = any(option.is_shared and option.name == "cache-dir" for option in plugin.options)
    also = " and those of [the cache](cache.md)" if has_cache else ""
    return text + f"\nThe [common options](options.md#options){also} apply too.\n\n" + examples(plugin)


def of_all(shared):
    """The options by group, in the order of their declaration."""
    groups = {}
    for option in shared:
        groups.setdefault(option.group, []).append(option)
    return tables(groups.items())


def put_into(page, text, path):
    """The page with a new text between its markers."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(END) < page.index(BEGIN):
        raise SystemExit(f"{path}: not one '{BEGIN.strip()}' and one '{END.strip()}' behind it")
    return page[:page.index(BEGIN) + len(BEGIN)] + "\n" + text + "\n" + page[page.index(END):]


def new_page(plugin):
    return f"# {plugin.name}\n\n{plugin.summary}\n\n## Options\n\n{BEGIN}{END}"
