# SPDX-License-Identifier: Apache-2.0
"""Makes a manual page of section 1 from a program's declarations (facts.py) and the files in man/.

Text that is not declared, such as exit codes, is in man/*.roff: text under ".SH NAME" is added to
the end of the section of that name.
"""
import re
import textwrap

import facts

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "ENVIRONMENT", "EXIT STATUS",
            "EXAMPLES", "SEE ALSO"]
# An option, a variable or a value in capitals in the middle of a text.
MARKED = re.compile(r"(?<![\w/-])(--?[a-z][a-z0-9-]*\b)|\b(EXECCRED_[A-Z_]+)\b")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = text.replace("^", "\\(ha").replace("`", "\\(ga").replace("~", "\\(ti")
    # A long path does not fit into a line, so it may be broken after a slash.
    text = re.sub(r"\S{40,}", lambda word: word[0].replace("/", "/\\:"), text)
    return "\\&" + text if text.startswith(".") else text


def bold(text):
    return "\\fB" + escape(text) + "\\fP"


def italic(text):
    return "\\fI" + escape(text) + "\\fP"


def paragraph(text):
    """Text of any length. roff needs short lines, and a new line for each sentence."""
    lines = []
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", text):
        parts = textwrap.wrap(sentence, 72, break_long_words=False, break_on_hyphens=False)
        lines += ["".join(mark(part)) for part in parts]
    return lines


def mark(text):
    position = 0
    for match in MARKED.finditer(text):
        start = position
        position = match.end()
        yield escape(text[start:match.start()]) if start < match.start() else ""
        yield bold(match[0])
    yield escape(text[position:])


def sentence(text):
    return text if text.endswith(".") else text + "."


def option_text(option):
    parts = [sentence(option.help)] if option.help else []
    if option.is_required:
        parts.append("Required.")
    if option.is_repeatable:
        parts.append("May be repeated.")
    if option.listed_choices:
        parts.append(sentence("One of: " + ", ".join(option.listed_choices)))
    if option.default:
        parts.append(sentence("Default: " + option.default))
    if option.is_template:
        parts.append("A template.")
    if option.example:
        parts.append(sentence("For example: " + option.example))
    if option.variables:
        parts.append(sentence("Environment: " + ", ".join(option.variables)))
    if option.fields:
        fields = option.fields + [option.shared_field] * bool(option.shared_field)
        permission = f", which may need --{option.permission}" if option.permission else ""
        parts.append(sentence("Of a ClusterProfile: " + ", ".join(fields) + permission))
    if option.weakness and not option.weakness.get("ofSomeValues"):
        parts.append(sentence("Weakens a check: it " + option.weakness["effect"]))
    return " ".join(parts)


def option_lines(option):
    flag = bold(option.flag) + ("=" + italic(option.value) if option.value else "")
    letter = bold("-" + option.letter) + ", " if option.letter else ""
    return [".TP", letter + flag, *paragraph(option_text(option))]


def operands(command):
    if not command.operands:
        return []
    if command.operand_choices:
        return ["|\\:".join(bold(word) for word in command.operand_choices)]
    return [italic(command.operands.rstrip(".")) + ("..." if "..." in command.operands else "")]


def usage(command):
    return " ".join([bold(" ".join(command.words)), "[" + italic("OPTION") + "]...",
                     *operands(command)])


def command_lines(command):
    lines = [".SS " + escape(" ".join(command.words[1:])), usage(command), ".PP",
             *paragraph(command.summary)]
    for option in command.options:
        lines += option_lines(option)
    return lines


def grouped_lines(options):
    lines = []
    for group, members in facts.by_group(options):
        lines.append(".SS " + escape(group))
        for option in members:
            lines += option_lines(option)
    return lines


def environment(commands):
    """Each variable once, with the options that it sets."""
    flags = {}
    for command in commands:
        for option in command.options:
            for variable in option.variables:
                known = flags.setdefault(variable, [])
                known += [option.flag] if option.flag not in known else []
    lines = []
    for variable, names in flags.items():
        text = "As " + " and ".join(names)
        if not variable.startswith("EXECCRED_"):
            text += ", where nothing else sets it"
        lines += [".TP", bold(variable), *paragraph(text + ".")]
    return lines


def examples(commands):
    lines = []
    for command in commands:
        for purpose, line in command.examples:
            lines += [".PP", *paragraph(purpose + ":"), ".PP", ".RS", ".nf", escape(line), ".fi",
                      ".RE"]
    return lines[1:]  # no paragraph before the first


def read_sections(path):
    sections, lines = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(".SH "):
            lines = sections.setdefault(line[4:].strip('"'), [])
        elif not line.startswith('.\\"'):
            lines.append(line)
    unknown = sections.keys() - set(SECTIONS)
    if unknown:
        raise SystemExit(f"{path}: unknown section {', '.join(unknown)}")
    return sections


def see_also(name, names):
    others = sorted(set(names) - {name})
    return [f".BR {escape(other)} (1)," for other in others[:-1]] + \
        [f".BR {escape(other)} (1)" for other in others[-1:]]


def page(name, version, date, include, sections):
    for section, lines in read_sections(include).items():
        # Text about all options is before the first heading.
        both = [lines, sections.get(section, [])] if section == "OPTIONS" else \
            [sections.get(section, []), lines]
        sections[section] = both[0] + both[1]
    title = f'.TH {escape(name.upper())} 1 "{date}" "execcred {version}" "User Commands"'
    # Names are long: no hyphenation and no justification.
    lines = ['.\\" Generated from the declared options.', title, ".nh", ".ad l"]
    for section in SECTIONS:
        if sections.get(section):
            lines += [".SH " + (f'"{section}"' if " " in section else section), *sections[section]]
    return "\n".join(lines) + "\n"


def first_sections(name, names, summary, commands):
    in_line = summary[0].lower() + summary[1:].rstrip(".")
    return {"NAME": [escape(name) + " \\- " + escape(in_line)],
            "SYNOPSIS": ["\n.br\n".join(usage(command) for command in commands)],
            "DESCRIPTION": paragraph(summary),
            "ENVIRONMENT": environment(commands),
            "EXAMPLES": examples(commands),
            "SEE ALSO": see_also(name, names)}


def of_plugin(plugin, names, version, date, include):
    sections = first_sections(plugin.name, names, plugin.summary, [plugin])
    sections["OPTIONS"] = grouped_lines(plugin.options)
    return page(plugin.name, version, date, include, sections)


def of_execcred(known, names, date, include):
    name = known.commands[0].name
    sections = first_sections(name, names, known.summary, known.commands)
    sections["COMMANDS"] = [line for command in known.commands for line in command_lines(command)]
    return page(name, known.version, date, include, sections)
