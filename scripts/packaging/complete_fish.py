# SPDX-License-Identifier: Apache-2.0
"""Completion for fish."""

# The function would take an option before the value for a part of the path.
DIRECTORIES = "(__fish_complete_directories " \
    "(commandline -ct | string replace -r -- '^--[^=]*=' ''))"


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def offer(kind, choices):
    """What follows an option, or stands as operand."""
    if kind == "choice":
        return " -x -a " + quote(" ".join(choices))
    if kind == "directory":
        return " -x -a " + quote(DIRECTORIES)
    return {"switch": "", "file": " -r -F", "text": " -x"}[kind]


def option_line(program, condition, option):
    short = f" -s {option.short}" if option.short else ""
    return f"complete -c {program}{condition}{short} -l {option.name}" + \
        offer(option.kind, option.choices) + " -d " + quote(option.help)


def operand_line(program, condition, command):
    if command.operand_kind == "file":
        return [f"complete -c {program}{condition} -F"]
    if command.operand_kind == "none":
        return []
    place = offer(command.operand_kind, command.operand_choices).removeprefix(" -x")
    return [f"complete -c {program}{condition}{place}"]


def write_completion(program):
    name = program.name
    lines = [f"# fish completion for {name}, generated from its --help.", f"complete -c {name} -f"]
    if len(program.commands) > 1:
        first = " -n __fish_use_subcommand"
        lines += [f"complete -c {name}{first} -s h -l help -d 'Print the commands'",
                  f"complete -c {name}{first} -l version -d 'Print name and version'"]
        lines += [f"complete -c {name}{first} -a {command.words[-1]} -d " + quote(command.summary)
                  for command in program.commands]
    for command in program.commands:
        condition = ""
        if len(program.commands) > 1:
            condition = f" -n '__fish_seen_subcommand_from {command.words[-1]}'"
        lines += [option_line(name, condition, option) for option in command.options]
        lines += operand_line(name, condition, command)
    return "\n".join(lines) + "\n"
