# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/troubleshooting.md explains every error message of the program execcred.

    messages_test.py REPOSITORY [--list]

The messages are read from the sources: the literals of Error{.message = …}, and the arguments of
the helpers that make errors. A placeholder replaces the value of a variable. A message is explained
if it matches a code span in the first cell of a table row. In a code span, … means any text.
Findings of `execcred lint` are no errors of the program: docs/lint.md lists them.
"""
import pathlib
import re
import sys

ANY = "\0"
# Sources of the program's errors. The pages of the plugins explain the errors of plugins.
SOURCES = ["cli/*.cpp", "cli/migrate/*.cpp"] + [f"libexeccred/{name}.cpp" for name in (
    "exec/cluster", "exec/option_set", "exec/settings", "hub/identity", "hub/profiles", "kube/access",
    "kube/access_run", "kube/cluster_profile", "kube/exec_config", "kube/kubeconfig_writer",
    "kube/label_selector", "kube/profile_files", "kube/provider_mapping", "os/process", "os/process_setup")]
FINDINGS = re.compile(r"cli/(lint_|migrate/(?!document))")
# Helpers that make errors, each with the index of the argument that is the message.
HELPERS = {"wrong": 0, "unusable": None, "cannot_write": 0, "field_error": 1, "not_alone": 1,
           "malformed": 0}
# The helper's text before the argument.
LEADS = {"field_error": ANY + " ", "cannot_write": "cannot write to standard output: ",
         "not_alone": "user '" + ANY + "' of the hub's kubeconfig has "}
# A code span with fewer characters than this, not counting …, would match too many messages.
FEWEST = 6

TOKEN = re.compile(r'''
    (?P<string>"(?:[^"\\]|\\.)*") | (?P<char>'(?:[^'\\]|\\.)*') | (?P<name>[A-Za-z_][\w:]*)
  | (?P<number>\d[\w.']*) | (?P<comment>//[^\n]*) | (?P<space>\s+) | (?P<other>->|.)''',
                   re.VERBOSE | re.DOTALL)
OPENING, CLOSING = "([{", ")]}"


def tokens_of(text):
    """(kind, text, line) of each token, without comments and space."""
    line, tokens = 1, []
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ("comment", "space"):
            tokens.append((match.lastgroup, match[0], line))
        line += match[0].count("\n")
    return tokens


def split_at(tokens, separators):
    """The parts of the tokens between those separators that are outside brackets."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token[1] in OPENING and token[0] == "other")
        depth -= (token[1] in CLOSING and token[0] == "other")
        if depth == 0 and token[0] == "other" and token[1] in separators:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def until_end(tokens, start, ends):
    """The tokens from start to the first of the ends that is outside brackets."""
    depth = 0
    for at in range(start, len(tokens)):
        kind, text, _ = tokens[at]
        if kind != "other":
            continue
        if depth == 0 and text in ends:
            return tokens[start:at]
        depth += (text in OPENING) - (text in CLOSING)
        if depth < 0:
            return tokens[start:at]
    return tokens[start:]


def unescaped(literal):
    return literal[1:-1].replace('\\"', '"').replace("\\'", "'").replace("\\n", "\n")


def texts_of(tokens):
    """The possible texts of an expression, with ANY for the parts that are not known here."""
    for at, token in enumerate(tokens):
        if token[:2] == ("other", "?") and balanced(tokens[:at]):
            yes_no = split_at(tokens[at + 1:], ":")
            return texts_of(yes_no[0]) + [text for part in yes_no[1:] for text in texts_of(part)]
    terms = split_at(tokens, "+")
    texts = [""]
    for term in terms:
        texts = [text + more for text in texts for more in texts_of_term(term)]
    return [re.sub(ANY + "+", ANY, text) for text in texts]


def balanced(tokens):
    return sum((t[1] in OPENING) - (t[1] in CLOSING) for t in tokens if t[0] == "other") == 0


def texts_of_term(term):
    if term and all(token[0] == "string" for token in term):
        return ["".join(unescaped(token[1]) for token in term)]
    if term and term[0][1] == "(" and term[-1][1] == ")":
        return texts_of(term[1:-1])
    is_call = len(term) > 2 and term[0][0] == "name" and term[1][1] == "(" and term[-1][1] == ")"
    if is_call and term[0][1] == "in_quotes":
        return ["'" + ANY + "'"]
    if is_call and term[0][1] in ("std::string", "std::string_view"):
        return texts_of(term[2:-1])
    return [ANY]


def arguments_of(tokens, at):
    """The arguments of the call whose name is tokens[at]."""
    return split_at(until_end(tokens, at + 2, ")"), ",")


def messages_of(path, text):
    """(place, message) of each error that the source makes."""
    tokens = tokens_of(text)
    for at, (kind, word, line) in enumerate(tokens):
        place = f"{path}:{line}"
        following = tokens[at + 1][1] if at + 1 < len(tokens) else ""
        if kind != "name":
            continue
        if word == "message" and following == "=" and tokens[at + 2][1] != "=":
            found, lead = until_end(tokens, at + 2, ",;"), ""
        elif word.split("::")[-1] in HELPERS and following == "(":
            name = word.split("::")[-1]
            arguments = arguments_of(tokens, at)
            index = len(arguments) - 2 if HELPERS[name] is None else HELPERS[name]
            if not 0 <= index < len(arguments) or any(t[1] == "std::string" and len(argument) > 1
                                                      and argument[1][0] == "name"
                                                      for argument in arguments
                                                      for t in argument[:1]):
                continue  # the definition of the helper
            found, lead = arguments[index], LEADS.get(name, "")
        else:
            continue
        for message in texts_of(found):
            whole = re.sub(ANY + "+", ANY, lead + message)
            if re.search("[a-z]{3}", whole):
                yield place, whole


def patterns_of(page):
    """The code spans in the first cells of the tables' rows."""
    for row in re.findall(r"^\| (.*?) \| ", page, re.MULTILINE):
        for span in re.findall(r"`([^`]+)`", row):
            if len(re.sub(r"[\s…]", "", span)) >= FEWEST:
                yield re.compile(".*".join(re.escape(part) for part in span.split("…")), re.DOTALL)


def main(root, *options):
    messages = {}
    for glob in SOURCES:
        for path in sorted(root.glob(glob)):
            name = str(path.relative_to(root))
            if not FINDINGS.match(name):
                for place, message in messages_of(name, path.read_text(encoding="utf-8")):
                    messages.setdefault(message, place)
    # docs/doctor.md has the messages of execcred doctor.
    patterns = [pattern for page in ("troubleshooting", "doctor")
                for pattern in patterns_of((root / f"docs/{page}.md").read_text(encoding="utf-8"))]
    missing = [(message, place) for message, place in messages.items()
               if not any(pattern.fullmatch(message) for pattern in patterns)]
    if "--list" in options:
        missing = list(messages.items())
    for message, place in missing:
        print(f"{place}: not in docs/troubleshooting.md: {message.replace(ANY, '…')}")
    print(f"{len(messages)} messages, {len(missing)} without an entry")
    return 1 if missing or len(messages) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), *sys.argv[2:]))
