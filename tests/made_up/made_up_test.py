# SPDX-License-Identifier: Apache-2.0
"""Checks that a new plugin needs only a folder.

    made_up_test.py SOURCE BUILD

The plugin made-up is added to a copy of the sources, which is then configured. Only the files that
the new plugin changes are compiled. All else is taken from BUILD, whose generator is Ninja. The
plugin and its options must then be wherever those of the other plugins are.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:])
HERE = pathlib.Path(__file__).parent
# Settings of the build that compiled objects depend on.
KEPT = re.compile(r"(CMAKE_(BUILD_TYPE|CXX_COMPILER|C_COMPILER|(C|CXX)_FLAGS\w*|EXE_LINKER_FLAGS\w*)|"
                  r"EXECCRED_(STATIC\w*|STRIP|WERROR)):\w+=.+")
# The files that the list of plugins changes. Others that are not the plugin's are those of BUILD.
CHANGED = ["plugins/CMakeFiles/execcred_plugins.dir/list.cpp.o", "plugins/libexeccred_plugins.a",
           "bin/execcred", "facts/plugin-facts"]
PROGRAMS = ["execcred", "plugin-facts", "execcred-made-up"]
failures = []
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        failures.append(what)
        print("not ok:", what)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=300, **options)


def must_run(*command, **options):
    done = run(*command, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def copy_folder(source, target):
    """Copies the files. Folders become symbolic links."""
    target.mkdir()
    for entry in source.iterdir():
        if entry.is_dir():
            (target / entry.name).symlink_to(entry)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())


def make_tree(tree):
    tree.mkdir()
    own = ["plugins", "docs", "config", "build", ".git"]
    for entry in SOURCE.iterdir():
        if entry.name not in own:
            (tree / entry.name).symlink_to(entry)
    for folder in ("plugins", "docs", "config"):
        copy_folder(SOURCE / folder, tree / folder)
    (tree / "config/schemas").unlink()
    copy_folder(SOURCE / "config/schemas", tree / "config/schemas")
    copy_folder(HERE / "made-up", tree / "plugins/made-up")


def configure(tree, build):
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    settings = ["-D" + line for line in cache if KEPT.fullmatch(line)]
    must_run("cmake", "-S", tree, "-B", build, "-G", "Ninja", *settings, "-DEXECCRED_TESTS=OFF",
             "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON")


def output_of(command):
    found = re.search(r" -o (\S+)| qc (\S+)", command)
    return found and (found[1] or found[2])


def build_programs(build):
    compiled = 0
    for command in must_run("ninja", "-C", build, "-t", "commands", *PROGRAMS).splitlines():
        output = output_of(command)
        if output is None:
            continue
        path, built = build / output, BUILD / output
        if built.exists() and output not in CHANGED:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(built)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            must_run("sh", "-c", command, cwd=build)
            compiled += output.endswith(".o")
    check(compiled == 3, f"three files are compiled: {compiled}")


def check_program(plugin):
    answer = json.loads(must_run(plugin, "--vault=/run/vault", env={}))
    check(answer["status"]["token"] == "made-up", f"the plugin gives its token: {answer}")
    # A rule that no plugin can skip: a server's name binds no connection.
    asked = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": {
        "cluster": {"server": "https://a.example.com", "proxy-url": "http://evil.example.net:3128"},
        "interactive": False}}
    for place, code in (("{server.host}", 1), ("vault", 0)):
        done = run(plugin, f"--vault=/run/{place}", env={"KUBERNETES_EXEC_INFO": json.dumps(asked)})
        check(done.returncode == code, f"--vault=/run/{place} with a proxy-url: {done}")
    usage = must_run(plugin, "--help")
    for text in ("\nCredential source:\n  --vault=PATH ", "Directory of the vault", "required; template",
                 "\nRequest:\n  --shelf=SHELF ", "one of calm, stormy; default calm", "VAULT_MOOD",
                 "profile: shelf", "\nAccess rules:\n  --allow-storm ", "\nCommon:\n",
                 "\nExamples:\n  Print the token of a vault:\n    execcred-made-up --vault=/run/vault\n"):
        check(text in usage, f"--help has {text!r}: {usage}")


def mapping(*arguments):
    return json.dumps({"providers": [{"name": "p", "execConfig": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/plugins/execcred-made-up",
        "args": [*arguments, "--allow-server=https://a.example.com:6443"],
        "provideClusterInfo": True, "interactiveMode": "Never"}}]})


def check_lint(execcred):
    def findings(*arguments):
        return run(execcred, "lint", "--no-files", "-", input=mapping(*arguments)).stdout

    clean = findings("--vault=/run/vault")
    check(clean == "0 errors, 0 warnings in 1 file\n", f"lint finds nothing: {clean}")
    for arguments, message in (
            (["--vault=/v", "--mood=sunny"], "'sunny' is no mood of a vault"),
            (["--vault=/v", "--mood=stormy"], "--mood=stormy needs --allow-storm"),
            (["--vault=/v", "--allow-storm"], "lets a storm into the cluster"),
            (["--vault=/v", "--valt=/v"], "--valt"),
            (["--mood=calm"], "--vault")):
        found = findings(*arguments)
        check(message in found, f"lint says {message!r} of {arguments}: {found}")


def check_completion(execcred, environment):
    def offered(*words):
        return [line.split("\t")[0] for line in
                must_run(execcred, "__complete", "--", "execcred-made-up", *words).splitlines()]

    check(offered("--mood=") == ["words", "calm", "stormy"], "the choices are completed")
    check(offered("--vault=") == ["directory"], "a directory is completed")
    flags = offered("--")
    check({"--vault=", "--shelf=", "--allow-storm", "--timeout="} <= set(flags), f"flags: {flags}")
    for shell, line in (("bash", "complete -F _execcred execcred .*execcred-made-up"),
                        ("zsh", "#compdef execcred .*execcred-made-up"),
                        ("fish", "complete -c execcred-made-up ")):
        script = must_run(execcred, "completion", shell)
        check(re.search(line, script), f"{shell} completes the plugin: {script}")
    # In a real bash. Only the package bash-completion, which splits the line, is replaced.
    typed = must_run("bash", "--norc", "-c", """
        _get_comp_words_by_ref() { words=(execcred-made-up --mood=st); cword=1 cur=--mood=st; }
        compopt() { :; }
        . <(execcred completion bash) && _execcred && echo "${COMPREPLY[*]}" """, env=environment)
    check(typed == "stormy\n", f"bash completes --mood=st: {typed}")


def check_manual(generate, into):
    into.mkdir()
    must_run(*generate, "man", "--into", into, "--date", "2026-01-01")
    page = (into / "execcred-made-up.1").read_text(encoding="utf-8")
    for text in (r".SS Credential source", r"\fB\-\-vault\fP=\fIPATH\fP", "Directory of the vault.",
                 "One of: calm, stormy.", r"\fBVAULT_MOOD\fP", "lets a storm into the cluster.",
                 r".SS Request", r"\fB\-\-shelf\fP", "Print the token of a vault:",
                 r"execcred\-made\-up \-\-vault=/run/vault"):
        check(text in page, f"the manual page has {text!r}: {page}")
    check(r"execcred\-made\-up (1)" in (into / "execcred.1").read_text(encoding="utf-8"),
          "execcred(1) refers to it")


def check_sources(generate, tree):
    stale = run(*generate, "sources", tree, "--check")
    missing = ["config/schemas/execcred-made-up.config.schema.json", "docs/execcred-made-up.md"]
    named = [line.split()[0] for line in stale.stdout.splitlines()]
    check(stale.returncode == 1 and named == missing, f"its files are missing: {stale}")
    must_run(*generate, "sources", tree)
    must_run(*generate, "sources", tree, "--check")
    schema = json.loads((tree / missing[0]).read_text(encoding="utf-8"))
    fields = schema["properties"]
    check(fields["shelf"]["anyOf"][0]["pattern"] == "^[a-z]+-[0-9]+$", f"the schema's shelf: {fields}")
    check(fields["vault"] == fields["mood"] == {"$ref": "#/$defs/refused"}, f"the others: {fields}")
    page = (tree / missing[1]).read_text(encoding="utf-8")
    for text in ("# execcred-made-up\n\nGives the client a token of a vault.\n",
                 "| `--vault=PATH` | `EXECCRED_VAULT` | Directory of the vault; required; ",
                 "| `--mood=MOOD` | `EXECCRED_MOOD`, `VAULT_MOOD` | ", "one of `calm`, `stormy`",
                 "[*profile*](options.md#what-may-come-from-a-clusterprofile) `shelf`, which may need `--allow-audience`", "**weakens a check**",
                 "```sh\n# Print the token of a vault:\nexeccred-made-up --vault=/run/vault\n"):
        check(text in page, f"the page has {text!r}: {page}")
    (tree / missing[1]).write_text(page.replace("Directory of", "Folder of"), encoding="utf-8")
    check(run(*generate, "sources", tree, "--check").returncode == 1, "an edited table is stale")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "tree"
        build = pathlib.Path(scratch) / "build"
        make_tree(tree)
        configure(tree, build)
        build_programs(build)
        binaries = build / "bin"
        check_program(binaries / "execcred-made-up")
        check_lint(binaries / "execcred")
        check_completion(binaries / "execcred",
                         {"PATH": f"{binaries}:{os.environ['PATH']}"})
        generate = [sys.executable, "-B", SOURCE / "scripts/packaging/generate.py",
                    build / "facts/plugin-facts"]
        check_manual(generate, pathlib.Path(scratch) / "manual")
        check_sources(generate, tree)
    print(f"{checks} checks, {len(failures)} failed")
    sys.exit(1 if failures or checks == 0 else 0)


main()
