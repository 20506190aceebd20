# SPDX-License-Identifier: Apache-2.0
"""A directory in which programs run, one run at a time, and the outcome of a run."""
import os
import shutil
import signal
import subprocess
import time


class Outcome:
    """How a run ended. A negative exit code is a signal. It is None if the run had to be killed."""

    def __init__(self, exit_code, stdout, stderr, seconds, process, orphans=False):
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds
        self.process = process
        self.orphans = orphans


class Sandbox:
    """`inputs` does not change. Programs may write `state`: before each fault it is restored to its
    content at keep(). `temporary` is TMPDIR, where killed programs leave folders. `timeout` is the
    program's time limit in seconds."""

    def __init__(self, directory, timeout):
        self.directory = directory
        self.timeout = timeout
        self.inputs = os.path.join(directory, "in")
        self.state = os.path.join(directory, "state")
        self.kept = os.path.join(directory, "kept")
        self.temporary = os.path.join(directory, "tmp")
        for path in (self.inputs, self.state, self.temporary):
            os.makedirs(path, mode=0o700)

    def at(self, *names):
        return os.path.join(self.directory, *names)

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.inputs, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def keep(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.state, self.kept, symlinks=True)

    def reset(self):
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(self.kept, self.state, symlinks=True)
        shutil.rmtree(self.temporary)
        os.mkdir(self.temporary, mode=0o700)

    def run(self, command, environment, limit):
        """Kills all processes of the run that still exist after `limit` seconds."""
        started = time.monotonic()
        process = subprocess.Popen(
            command, env=environment, cwd=self.directory, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            stdout, stderr = process.communicate(timeout=limit)
            code = process.returncode
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
        seconds = time.monotonic() - started
        return Outcome(code, stdout, stderr.decode(errors="replace"), seconds, process.pid,
                       orphans=code is not None and outlived(process.pid))


def outlived(group):
    """Whether a process of the group outlives its leader. Such a process is killed."""
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.002)
    os.killpg(group, signal.SIGKILL)
    return True
