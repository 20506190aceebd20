# SPDX-License-Identifier: Apache-2.0
"""Completion for bash, on the functions of bash-completion.

A value's option is always offered with its "=": a value that starts with "--" must be written so.
"""

ACTIONS = {"file": "_filedir", "directory": "_filedir -d", "text": "", "none": ""}
HEADER = """# bash completion for {0}, generated from its --help.
# shellcheck shell=bash disable=SC2034,SC2207
"""


def function_name(words):
    return "_" + "_".join(words).replace("-", "_")


def choose(words):
    return f"""COMPREPLY=($(compgen -W '{" ".join(words)}' -- "$cur"))"""


def value_action(option):
    return choose(option.choices) if option.kind == "choice" else ACTIONS[option.kind]


def value_cases(command):
    """Options by what completes their value, in the order of --help."""
    flags = {}
    for option in command.options:
        if option.kind != "switch":
            names = ["-" + option.short] if option.short else []
            flags.setdefault(value_action(option), []).extend([*names, option.flag])
    for action, names in flags.items():
        yield "    " + " | ".join(names) + ")"
        if action:
            yield "      " + action
        yield "      return"
        yield "      ;;"


def operand_action(command):
    if command.operand_kind == "choice":
        return choose(command.operand_choices)
    return ACTIONS[command.operand_kind]


def command_function(command, name):
    """Completes a word of a command; cur, prev and split are the caller's."""
    flags = [option.flag + ("=" if option.value else "") for option in command.options]
    lines = [f"{name}() {{", "  case $prev in", *value_cases(command), "  esac",
             "  $split && return", "  if [[ $cur == -* ]]; then", "    " + choose(flags),
             "    [[ ${COMPREPLY-} == *= ]] && compopt -o nospace",
             "    return", "  fi"]
    if operand_action(command):
        lines.append("  " + operand_action(command))
    return "\n".join([*lines, "}"]) + "\n"


def entry_function(program, body):
    return "\n".join([
        f"{function_name([program.name])}() {{", "  local cur prev words cword split=false",
        "  _init_completion -s || return", *body, "}",
        f"complete -F {function_name([program.name])} {program.name}"]) + "\n"


def write_completion(program):
    text = HEADER.format(program.name) + "\n"
    if len(program.commands) == 1:
        name = function_name([program.name, "options"])
        return text + command_function(program.commands[0], name) + "\n" + \
            entry_function(program, ["  " + name])
    names = [command.words[-1] for command in program.commands]
    body = ["  if ((cword == 1)); then",
            "    if [[ $cur == -* ]]; then", "      " + choose(["--help", "--version"]),
            "    else", "      " + choose(names), "    fi",
            "    return", "  fi", "  case ${words[1]} in"]
    for command in program.commands:
        function = function_name(command.words)
        text += command_function(command, function) + "\n"
        body.append(f"    {command.words[-1]}) {function} ;;")
    return text + entry_function(program, [*body, "  esac"])
