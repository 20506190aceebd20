# SPDX-License-Identifier: Apache-2.0
"""A manual page, section 1, from a program's --help and the files in man/.

What --help does not tell, such as exit codes, is in man/*.roff: text under ".SH NAME" goes to the
end of the section of that name.
"""
import re
import textwrap

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "ENVIRONMENT", "EXIT STATUS",
            "EXAMPLES", "SEE ALSO"]
# An option, a variable or a value in capitals in the middle of a text.
MARKED = re.compile(r"(?<![\w/-])(--?[a-z][a-z0-9-]*\b)|\b(EXECCRED_[A-Z_]+)\b")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = text.replace("^", "\\(ha").replace("`", "\\(ga").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def bold(text):
    return "\\fB" + escape(text) + "\\fP"


def italic(text):
    return "\\fI" + escape(text) + "\\fP"


def paragraph(text):
    """Text of any length; roff wants lines that are not too long, and a new one for a sentence."""
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
    parts = [sentence(option.help)]
    if option.required:
        parts.append("Required.")
    if option.repeatable:
        parts.append("May be repeated.")
    if option.default:
        parts.append(sentence("Default: " + option.default))
    if option.variables:
        parts.append(sentence("Environment: " + ", ".join(option.variables)))
    if option.profile:
        parts.append(sentence("Of a ClusterProfile: " + option.profile))
    return " ".join(parts)


def option_lines(option):
    flag = bold(option.flag) + ("=" + italic(option.value) if option.value else "")
    short = bold("-" + option.short) + ", " if option.short else ""
    return [".TP", short + flag, *paragraph(option_text(option))]


def operands(command):
    if not command.operands:
        return []
    if command.operand_choices:
        return ["|".join(bold(word) for word in command.operand_choices)]
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


def environment(program):
    """Each variable once, with the options that it stands for."""
    flags = {}
    for command in program.commands:
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


def examples(program):
    lines = []
    for command in program.commands:
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


def see_also(program, names):
    others = sorted(set(names) - {program.name})
    return [f".BR {escape(name)} (1)," for name in others[:-1]] + \
        [f".BR {escape(name)} (1)" for name in others[-1:]]


def write_man_page(program, names, date, include):
    has_commands = len(program.commands) > 1
    summary = program.summary[0].lower() + program.summary[1:].rstrip(".")
    sections = {
        "NAME": [escape(program.name) + " \\- " + escape(summary)],
        "SYNOPSIS": ["\n.br\n".join(usage(command) for command in program.commands)],
        "DESCRIPTION": paragraph(program.summary),
        "ENVIRONMENT": environment(program),
        "EXAMPLES": examples(program),
        "SEE ALSO": see_also(program, names)}
    if has_commands:
        sections["COMMANDS"] = [line for command in program.commands
                                for line in command_lines(command)]
    else:
        sections["OPTIONS"] = [line for option in program.commands[0].options
                               for line in option_lines(option)]
    for name, lines in read_sections(include).items():
        sections[name] = sections.get(name, []) + lines
    title = f'.TH {escape(program.name.upper())} 1 "{date}" ' \
            f'"execcred {program.version}" "User Commands"'
    # Names are long: neither broken nor drawn apart.
    lines = ['.\\" Generated from --help.', title, ".nh", ".ad l"]
    for name in SECTIONS:
        if sections.get(name):
            lines += [".SH " + (f'"{name}"' if " " in name else name), *sections[name]]
    return "\n".join(lines) + "\n"
