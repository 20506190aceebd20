# SPDX-License-Identifier: Apache-2.0
"""A program as its --help tells it: commands, options, operands, examples.

The text is libexeccred's OptionSet::help for plugins, and that of cli/command_line.cpp for execcred.
A line that is not understood is an error, so that no option can go missing from manual pages.
"""
import dataclasses
import re
import subprocess

OPTION = re.compile(r"  (?:-(\w), )?--([a-z][a-z0-9-]*)(?:=(\S+))?(?: +(\S.*))?")
CONTINUED = re.compile(r" {30,34}(\S.*)")
COMMAND = re.compile(r"  ([a-z]+) +(\S.*)")
USAGE = re.compile(r"Usage: (?P<name>\S+)(?: (?P<command>[a-z]+))? "
                   r"(?:COMMAND )?\[OPTION\]\.\.\.(?: (?P<operands>\S.*))?")
TITLE = re.compile(r"([A-Z][a-z]+):")
EXAMPLE = re.compile(r"  (\S.*):|    (\S.*)")
NOTE = re.compile(r"(required)|(repeatable)|default (.+)|([A-Z][A-Z0-9_]+)|profile: (.+)")


@dataclasses.dataclass
class Option:
    short: str | None
    name: str
    value: str | None  # "PATH"; None for a switch
    help: str
    required: bool = False
    repeatable: bool = False
    default: str | None = None
    variables: list = dataclasses.field(default_factory=list)
    profile: str | None = None

    @property
    def flag(self):
        return "--" + self.name


@dataclasses.dataclass
class Command:
    """A program without commands, or one command of a program."""
    words: list  # ["execcred", "get"]
    summary: str
    options: list
    operands: str  # "FILE..."; empty for none
    examples: list  # (purpose, command)

    @property
    def operand_choices(self):
        words = self.operands.split("|")
        return words if len(words) > 1 else []


@dataclasses.dataclass
class Program:
    name: str
    version: str
    summary: str
    commands: list  # of one without commands, itself


def split_notes(text):
    """The help, and the notes in the parentheses at its end."""
    if not text.endswith(")"):
        return text, []
    depth, start = 0, len(text)
    while start > 0:
        start -= 1
        depth += {")": 1, "(": -1}.get(text[start], 0)
        if depth == 0:
            break
    notes = [NOTE.fullmatch(note) for note in text[start + 1:-1].split("; ")]
    return (text[:start].rstrip(), notes) if all(notes) else (text, [])


def parse_option(match, text):
    help_text, notes = split_notes(text)
    option = Option(match[1], match[2], match[3], help_text)
    for note in notes:
        option.required = option.required or bool(note[1])
        option.repeatable = option.repeatable or bool(note[2])
        option.default = option.default or note[3]
        option.variables += [note[4]] if note[4] else []
        option.profile = option.profile or note[5]
    return option


def parse_options(lines):
    options = []
    while lines:
        match = OPTION.fullmatch(lines.pop(0))
        if not match:
            raise ValueError("no option line")
        text = match[4]
        if text is None:
            continued = CONTINUED.fullmatch(lines.pop(0)) if lines else None
            if not continued:
                raise ValueError(f"--{match[2]} has no text")
            text = continued[1]
        options.append(parse_option(match, text))
    return options


def parse_examples(lines):
    matches = [EXAMPLE.fullmatch(line) for line in lines]
    pairs = list(zip(matches[::2], matches[1::2], strict=True))
    if not all(purpose[1] and command[2] for purpose, command in pairs):
        raise ValueError("no pairs of a purpose and a command")
    return [(purpose[1], command[2]) for purpose, command in pairs]


def sections_of(text):
    """The usage, the summary, and the lines under each title."""
    usage, summary, *blocks = text.rstrip("\n").split("\n\n")
    sections = {}
    for block in blocks:
        title, *lines = block.split("\n")
        match = TITLE.fullmatch(title)
        sections[match[1] if match else ""] = lines if match else [title, *lines]
    return USAGE.fullmatch(usage), summary, sections


def parse_command(text):
    """--help of a program without commands, or of one command."""
    usage, summary, sections = sections_of(text)
    if not usage or "" in sections:
        raise ValueError("not 'Usage: …', a summary and titled sections")
    examples = parse_examples(sections.pop("Examples", []))
    options = [option for lines in sections.values() for option in parse_options(lines)]
    words = [word for word in (usage["name"], usage["command"]) if word]
    return Command(words, summary, options, usage["operands"] or "", examples)


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60,
                          env={"PATH": "/nonexistent"}, stdin=subprocess.DEVNULL)
    return done.stdout


def read_program(path):
    name, version = output(path, "--version").split()
    text = output(path, "--help")
    try:
        _, summary, sections = sections_of(text)
        if "Commands" not in sections:
            command = parse_command(text)
            return Program(name, version, command.summary, [command])
        names = [COMMAND.fullmatch(line)[1] for line in sections["Commands"]]
        commands = [parse_command(output(path, name, "--help")) for name in names]
        return Program(name, version, summary, commands)
    except (TypeError, IndexError, ValueError) as error:
        raise SystemExit(f"{path} --help: cannot be understood: {error}") from error
