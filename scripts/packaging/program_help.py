# SPDX-License-Identifier: Apache-2.0
"""A program as its --help tells it: commands, options, operands.

The text is libexeccred's OptionSet::help. A line that is not understood is an error, so that no
option can go missing from manual pages and completions.
"""
import dataclasses
import re
import subprocess

OPTION = re.compile(r"  (?:-(\w), )?--([a-z][a-z0-9-]*)(?:=(\S+))?(?: +(\S.*))?")
CONTINUED = re.compile(r" {34}(\S.*)")
COMMAND = re.compile(r"  ([a-z]+) +(\S.*)")
USAGE = re.compile(r"Usage: (?P<name>\S+)(?: (?P<command>[a-z]+))? "
                   r"(?:COMMAND )?\[OPTION\]\.\.\.(?: (?P<operands>\S.*))?")
# "jwt or x509", "text, json or yaml" at the start of an option's help, perhaps after "With …: ".
WORDS = re.compile(r"(?:With [^:]*: )?((?:[a-z][\w-]*, )*[a-z][\w-]* or [a-z][\w-]*)(?=$|[,;. ])")
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

    @property
    def choices(self):
        """The words that the value may be, or some of them; empty where none are known."""
        if self.value is None:
            return []
        words = [word for word in self.value.split("|") if re.fullmatch(r"[a-z][\w-]*", word)]
        if words:
            return words
        match = WORDS.match(re.sub(r" \([^()]*\)", "", self.help))
        return re.split(", | or ", match[1]) if match else []

    @property
    def kind(self):
        """What completes the value: switch, file, directory, choice or text."""
        if self.value is None:
            return "switch"
        if self.choices:
            return "choice"
        return operand_kind(self.value, self.name)


@dataclasses.dataclass
class Command:
    """A program without commands, or one command of a program."""
    words: list  # ["execcred", "get"]
    summary: str
    options: list
    operands: str  # "FILE..."; empty for none

    @property
    def operand_choices(self):
        words = self.operands.split("|")
        return words if len(words) > 1 else []

    @property
    def operand_kind(self):
        if not self.operands:
            return "none"
        return "choice" if self.operand_choices else operand_kind(self.operands)


@dataclasses.dataclass
class Program:
    name: str
    version: str
    summary: str
    commands: list  # of one without commands, itself


def operand_kind(value, name=""):
    value = value.strip("[].")
    if value == "DIR" or name.endswith("-dir"):
        return "directory"
    return "file" if value in ("FILE", "PATH", "PATH|-") else "text"


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


def parse_command(text):
    """--help of a program without commands, or of one command."""
    lines = text.splitlines()
    usage = USAGE.fullmatch(lines[0])
    if not usage or lines[1] or lines[3:5] != ["", "Options:"]:
        raise ValueError("not 'Usage: …', a summary and 'Options:'")
    words = [word for word in (usage["name"], usage["command"]) if word]
    return Command(words, lines[2], parse_options(lines[5:]), usage["operands"] or "")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60,
                          env={"PATH": "/nonexistent"}, stdin=subprocess.DEVNULL)
    return done.stdout


def read_program(path):
    name, version = output(path, "--version").split()
    text = output(path, "--help")
    try:
        if "\nOptions:\n" in text:
            command = parse_command(text)
            return Program(name, version, command.summary, [command])
        listed = text.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
        names = [COMMAND.fullmatch(line)[1] for line in listed]
        if not names:
            raise ValueError("neither options nor commands")
        commands = [parse_command(output(path, name, "--help")) for name in names]
        return Program(name, version, text.splitlines()[2], commands)
    except (TypeError, IndexError, ValueError) as error:
        raise SystemExit(f"{path} --help: cannot be understood: {error}") from error
