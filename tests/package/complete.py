# SPDX-License-Identifier: Apache-2.0
"""Asks a real shell on a terminal what it completes a line to.

    complete.py bash|zsh|fish PREFIX < LINES

Each line of standard input gets one of output: the line, a tab, and the candidates for its last word,
separated by spaces. A line after "TAB " gets what the line itself becomes when TAB is pressed. PREFIX
is an installed tree.
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

DEADLINE = 60  # for one answer; a machine may be busy
BASH = r"""
PS1=''; . /usr/share/bash-completion/bash_completion
show() { printf '%s\n' "$READLINE_LINE" >>"$ANSWERS"; READLINE_LINE=''; }
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'
bind '"\C-xa": insert-completions'; bind -x '"\C-t": show'
echo >>"$ANSWERS"
"""
ZSH = r"""
PS1=''; unsetopt beep zle_bracketed_paste; LISTMAX=9999
fpath=("$PREFIX"/share/zsh/site-functions "$PREFIX"/share/zsh/vendor-completions $fpath)
autoload -Uz compinit; compinit -u -d "$HOME/dump"
show() { print -r -- "$BUFFER" >>"$ANSWERS"; BUFFER='' }; zle -N show; bindkey '^T' show
zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' insert yes
zstyle ':completion:all-matches::::' completer _all_matches _complete
echo >>"$ANSWERS"
"""


def plain(words):
    """Shells differ in whether they repeat an option before its value, and in what they append."""
    return " ".join(sorted(re.sub(r"^--[a-z-]+=(?=.)", "", word).rstrip("/=") for word in words))


def inserted(line, completed):
    """The text in place of the last word. An "=" starts a word too."""
    kept = max(line.rfind(" "), line.rfind("=")) + 1
    return completed[kept:].split() if completed != line else []


class Terminal:
    """An interactive shell, whose widgets append its answers to a file."""

    def __init__(self, command, setup, environment, folder):
        self.answers = pathlib.Path(environment["ANSWERS"])
        self.answers.touch()
        self.child, self.screen = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 4000, 0, 0))
        script = pathlib.Path(environment["HOME"]) / "setup"
        script.write_text(setup, encoding="utf-8")
        self.seen = b""
        self.ask(f". {script}\n")

    def ask(self, keys):
        count = self.answers.read_bytes().count(b"\n")
        os.write(self.screen, keys.encode())
        end = time.monotonic() + DEADLINE
        while self.answers.read_bytes().count(b"\n") == count:
            if time.monotonic() > end:
                raise SystemExit(f"no answer to {keys!r}; on the screen:\n{self.seen.decode()}")
            self.drain()
        return self.answers.read_text(encoding="utf-8").splitlines()[count]

    def drain(self):
        """Reads the terminal, because the shell would block otherwise."""
        if select.select([self.screen], [], [], 0.02)[0]:
            self.seen += os.read(self.screen, 65536)

    def complete(self, line):
        if line.startswith("TAB "):
            return self.ask(line[4:] + "\t\x14")
        return plain(inserted(line, self.ask(line + "\x18a\x14")))

    def close(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


class Fish:
    """fish prints its candidates."""

    def __init__(self, environment, folder):
        self.environment = environment
        self.folder = folder

    def offered(self, line):
        done = subprocess.run(
            ["fish", "-c", "complete -C $argv[1]", line], capture_output=True, text=True, check=True,
            timeout=DEADLINE, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        return [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]

    def complete(self, line):
        if line.startswith("TAB "):
            line = line[4:]
            offered = self.offered(line)
            start = line.rfind(" ") + 1
            ending = "" if len(offered) == 1 and offered[0].endswith(("=", "/")) else " "
            return line[:start] + offered[0] + ending if len(offered) == 1 else line
        return plain(self.offered(line))

    def close(self):
        pass


def start(shell, prefix, scratch, folder):
    environment = {
        "PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": scratch, "TERM": "dumb", "LC_ALL": "C.UTF-8",
        "XDG_DATA_DIRS": f"{prefix}/share:/usr/local/share:/usr/share", "PREFIX": prefix,
        "ANSWERS": f"{scratch}/answers", "INPUTRC": "/dev/null"}
    if shell == "bash":
        return Terminal(["bash", "--noprofile", "--norc", "-i"], BASH, environment, folder)
    if shell == "zsh":
        return Terminal(["zsh", "-f", "-i"], ZSH, environment, folder)
    return Fish(environment, folder)


def main():
    shell, prefix = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a-file.yaml").touch()
        (pathlib.Path(folder) / "a-folder").mkdir()
        running = start(shell, os.path.abspath(prefix), scratch, folder)
        for line in sys.stdin.read().splitlines():
            print(line + "\t" + running.complete(line))
        running.close()


main()
