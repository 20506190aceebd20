# SPDX-License-Identifier: Apache-2.0
"""The declarations of the programs, as the program plugin-facts prints them (cli/facts)."""
import dataclasses
import json
import re
import subprocess

COMMON = "Common"


@dataclasses.dataclass
class Option:
    name: str
    group: str
    help: str = ""  # may be empty if the choices explain everything
    letter: str = ""
    value: str = ""  # "PATH"; empty for a switch
    default: str = ""
    example: str = ""
    takes: str = ""  # "file", "directory" or any text
    choices: list = dataclasses.field(default_factory=list)
    has_other_values: bool = False
    is_required: bool = False
    is_repeatable: bool = False
    is_template: bool = False
    is_command: bool = False
    is_secret: bool = False
    is_shared: bool = False  # several plugins have it
    variables: list = dataclasses.field(default_factory=list)
    fields: list = dataclasses.field(default_factory=list)  # of spec.cluster.config
    shared_field: str = ""  # another option's, which is used if no other field is set
    permission: str = ""  # the option that allows a ClusterProfile's value, if one is needed
    may_be_argument: bool = False  # from a ClusterProfile
    form: dict = dataclasses.field(default_factory=dict)
    weakness: dict = dataclasses.field(default_factory=dict)

    @property
    def flag(self):
        return "--" + self.name

    @property
    def listed_choices(self):
        """The only values, unless the value's name lists them."""
        return [] if self.has_other_values or "|" in self.value else self.choices


@dataclasses.dataclass
class Command:
    """A plugin, or one command of execcred."""
    words: list  # ["execcred", "get"]
    summary: str
    options: list
    operands: str = ""  # "FILE..."; empty for none
    operand_choices: list = dataclasses.field(default_factory=list)
    examples: list = dataclasses.field(default_factory=list)  # (purpose, command)
    ignores_profile: bool = False  # ignores all settings of a ClusterProfile

    @property
    def name(self):
        return self.words[0]


@dataclasses.dataclass
class Facts:
    version: str
    shared: list  # options
    plugins: list  # commands
    summary: str  # of execcred
    commands: list


def option_of(facts):
    return Option(**{re.sub(r"[A-Z]", lambda c: "_" + c[0].lower(), name): value
                     for name, value in facts.items()})


def options_of(facts):
    return [option_of(option) for option in facts["options"]]


def examples_of(facts):
    return [(example["purpose"], example["command"]) for example in facts["examples"]]


def command_of(program, facts):
    operands = facts["operands"]
    return Command([program, facts["name"]], facts["summary"], options_of(facts),
                   operands.get("usage", ""), operands.get("choices", []), examples_of(facts))


def read(program):
    """The output of the program plugin-facts."""
    done = subprocess.run([program], capture_output=True, check=True, timeout=60)
    facts = json.loads(done.stdout)
    execcred = facts["execcred"]
    return Facts(
        facts["version"], options_of({"options": facts["shared"]}),
        [Command([plugin["name"]], plugin["summary"], options_of(plugin),
                 examples=examples_of(plugin),
                 ignores_profile=plugin.get("ignoresProfile", False))
         for plugin in facts["plugins"]],
        execcred["summary"],
        [command_of(execcred["name"], command) for command in execcred["commands"]])


def by_group(options):
    """(heading, options), in the order of the first option of each. The common ones are last."""
    groups = {}
    for option in options:
        groups.setdefault(option.group, []).append(option)
    return sorted(groups.items(), key=lambda group: group[0] == COMMON)
