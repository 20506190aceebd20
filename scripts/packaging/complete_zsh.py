# SPDX-License-Identifier: Apache-2.0
"""Completion for zsh, on _arguments."""

ACTIONS = {"file": "_files", "directory": "_files -/", "text": " "}


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def escape(text):
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def action(kind, choices):
    return "(" + " ".join(choices) + ")" if kind == "choice" else ACTIONS[kind]


def argument(option):
    """The specification of an option: what excludes it, its names, its help, its value."""
    names = ["-" + option.short, option.flag] if option.short else [option.flag]
    if option.name in ("help", "version"):
        excluded = "(- *)"
    elif option.repeatable:
        excluded = "*"
    else:
        excluded = "(" + " ".join(names) + ")"
    rest = "[" + escape(option.help) + "]"
    if option.value:
        rest += ":" + escape(option.value) + ":" + action(option.kind, option.choices)
    equals = "=" if option.value else ""
    if len(names) == 1:
        return quote(excluded + option.flag + equals + rest)
    return quote(excluded) + "{" + names[0] + "," + option.flag + equals + "}" + quote(rest)


def arguments(command, indent):
    specifications = [argument(option) for option in command.options]
    if command.operands:
        often = "*" if "..." in command.operands else "1"
        name = escape(command.operands.rstrip("."))
        if command.operand_kind == "choice":
            name = "action"
        specifications.append(quote(
            f"{often}:{name}:" + action(command.operand_kind, command.operand_choices)))
    glue = " \\\n" + indent + "  "
    return indent + glue.join(["_arguments -S", *specifications]) + "\n"


def write_completion(program):
    text = f"#compdef {program.name}\n# Generated from its --help.\n\n"
    if len(program.commands) == 1:
        return text + arguments(program.commands[0], "")
    function = "_" + program.name
    described = "".join(
        f"    {quote(escape(command.words[-1]) + ':' + escape(command.summary))}\n"
        for command in program.commands)
    cases = "".join(
        f"        {command.words[-1]})\n{arguments(command, '          ')}          ;;\n"
        for command in program.commands)
    return text + f"""{function}() {{
  local curcontext=$curcontext context state state_descr line ret=1
  typeset -A opt_args
  local -a commands
  commands=(
{described}  )
  _arguments -C -S \\
    '(- *)'{{-h,--help}}'[Print the commands]' \\
    '(- *)--version[Print name and version]' \\
    '1:command:->command' \\
    '*::argument:->argument' && ret=0
  case $state in
    command)
      _describe -t commands command commands && ret=0
      ;;
    argument)
      curcontext=${{curcontext%:*:*}}:{program.name}-$words[1]:
      case $words[1] in
{cases}      esac && ret=0
      ;;
  esac
  return ret
}}

{function} "$@"
"""
