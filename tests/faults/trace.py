# SPDX-License-Identifier: Apache-2.0
"""strace: counts the system calls of a run, and injects a fault into one of them."""
import collections
import os
import re

CALL = re.compile(r"^(\d+) +([a-z_0-9]+)\((.*)$")

# A write to standard error that fails, or the look whether it would wait, which is the only one of its shape.
# After EINTR it is repeated.
SILENCED = re.compile(r"(?:writev?\(2<|poll\(\[\.\.\.\], 1, 0\)).*= -1 (?!EINTR).*\(INJECTED\)")

# The errors that a call can return, by the manual pages of Linux. A missing call cannot fail for a
# reason outside of the program (getpid, rt_sigaction, prctl with a constant), or its first one is
# made by strace itself (execve). brk returns no error: the C library compares its result with the
# old end. munmap of a whole mapping does not fail, and the C library aborts if it does.
FILE = ("EIO", "ENOMEM", "EACCES")
ERRORS = {
    "open": ("EACCES", "EMFILE", "ENOMEM", "EIO", "EINTR", "ENOSPC"),
    "openat": ("EACCES", "EMFILE", "ENOMEM", "EIO", "EINTR", "ENOSPC"),
    "openat2": ("EACCES", "EMFILE", "ENOMEM", "EIO", "EINTR", "EAGAIN"),
    "read": ("EIO", "EINTR", "EAGAIN"), "readv": ("EIO", "EINTR", "EAGAIN"),
    "pread64": ("EIO", "EINTR"), "fcntl": ("EMFILE",),
    "write": ("EIO", "ENOSPC", "EINTR", "EAGAIN"), "writev": ("EIO", "ENOSPC", "EINTR", "EAGAIN"),
    "pwrite64": ("EIO", "ENOSPC", "EINTR"), "copy_file_range": ("EIO", "ENOSPC", "ENOMEM"),
    "sendfile": ("EIO", "ENOMEM"), "fallocate": ("EIO", "ENOSPC", "EINTR"),
    "ftruncate": ("EIO", "EINTR", "EACCES"), "close": ("EIO", "EINTR", "ENOSPC"),
    "fsync": ("EIO", "ENOSPC", "EINTR"), "fdatasync": ("EIO", "ENOSPC", "EINTR"),
    "fstat": FILE, "newfstatat": FILE, "stat": FILE, "lstat": FILE, "statx": FILE,
    "fstatfs": ("EIO", "ENOMEM", "EINTR"), "statfs": FILE, "access": FILE, "faccessat": FILE,
    "faccessat2": FILE, "readlink": FILE, "readlinkat": FILE, "getdents64": ("EIO", "ENOMEM"),
    "getcwd": ("ENOMEM", "EACCES"), "mkdir": ("ENOSPC", "EACCES", "ENOMEM"),
    "mkdirat": ("ENOSPC", "EACCES", "ENOMEM"), "rename": ("EIO", "ENOSPC", "EACCES"),
    "renameat": ("EIO", "ENOSPC", "EACCES"), "renameat2": ("EIO", "ENOSPC", "EACCES"),
    "link": ("EIO", "ENOSPC", "EACCES"), "linkat": ("EIO", "ENOSPC", "EACCES"),
    "symlink": ("EIO", "ENOSPC", "EACCES"), "symlinkat": ("EIO", "ENOSPC", "EACCES"),
    "unlink": FILE, "unlinkat": FILE, "rmdir": FILE, "chmod": ("EIO", "EACCES"),
    "fchmod": ("EIO", "EACCES"), "fchmodat": ("EIO", "EACCES"), "fchown": ("EIO", "EACCES"),
    "utimensat": ("EIO", "EACCES"), "flock": ("EINTR", "ENOMEM", "EAGAIN"),
    "mmap": ("ENOMEM",), "mremap": ("ENOMEM",), "mprotect": ("ENOMEM",),
    "madvise": ("ENOMEM", "EAGAIN"),
    "socket": ("EMFILE", "ENOMEM", "EACCES"), "socketpair": ("EMFILE", "ENOMEM"),
    "connect": ("EACCES", "ENOMEM", "EAGAIN", "EINTR"), "bind": ("EACCES", "ENOMEM"),
    "recvfrom": ("EINTR", "EAGAIN", "ENOMEM"), "recvmsg": ("EINTR", "EAGAIN", "ENOMEM"),
    "sendto": ("EINTR", "EAGAIN", "ENOMEM"), "sendmsg": ("EINTR", "EAGAIN", "ENOMEM"),
    "getsockopt": ("ENOMEM",), "setsockopt": ("ENOMEM",), "getsockname": ("ENOMEM",),
    "getpeername": ("ENOMEM",), "poll": ("EINTR", "ENOMEM"), "ppoll": ("EINTR", "ENOMEM"),
    "select": ("EINTR", "ENOMEM"), "pselect6": ("EINTR", "ENOMEM"),
    "epoll_create1": ("EMFILE", "ENOMEM"), "epoll_ctl": ("ENOMEM", "ENOSPC"),
    "epoll_wait": ("EINTR",), "epoll_pwait": ("EINTR",), "eventfd2": ("EMFILE", "ENOMEM"),
    "timerfd_create": ("EMFILE", "ENOMEM"), "signalfd4": ("EMFILE", "ENOMEM"),
    "inotify_init1": ("EMFILE", "ENOMEM"), "inotify_add_watch": ("EACCES", "ENOMEM", "ENOSPC"),
    "pipe": ("EMFILE",), "pipe2": ("EMFILE",), "dup": ("EMFILE",), "dup2": ("EMFILE", "EINTR"),
    "dup3": ("EMFILE", "EINTR"), "memfd_create": ("EMFILE", "ENOMEM"),
    "getrandom": ("EAGAIN", "EINTR"), "clone": ("EAGAIN", "ENOMEM"), "clone3": ("EAGAIN", "ENOMEM"),
    "fork": ("EAGAIN", "ENOMEM"), "vfork": ("EAGAIN", "ENOMEM"), "wait4": ("EINTR",),
    "waitid": ("EINTR",), "pidfd_open": ("EMFILE", "ENOMEM"), "nanosleep": ("EINTR",),
    "clock_nanosleep": ("EINTR",),
}


# The first call in main of execcred's programs, which checks whether standard input is open.
MAIN = re.compile(r"fcntl\(0(<[^>]*>)?, F_GETFD")
# A write to an eventfd succeeds or waits, so it is not made to fail.
EVENTFD = "<anon_inode:[eventfd]>"
# Only a descriptor that is not a file can be empty or full (EAGAIN), and only a copy (COPYING)
# needs a new descriptor (EMFILE).
WAITING = re.compile(r"(read|write)v?\(\d+<(pipe|socket|TCP|UNIX|/dev/)")
COPYING = "F_DUPFD"
# Linux needs memory for a poll only if it is of more descriptors than these.
POLLED = re.compile(r" p?poll\(.*?, (\d+), ")
ON_STACK = 30


class Calls:
    """How often a run makes each call, in the process with the most of them, and how many the
    program itself makes before its main."""

    def __init__(self, log):
        counts = collections.defaultdict(collections.Counter)
        self.before_main = collections.Counter()
        program, is_in_main = None, False
        for line in log.splitlines():
            found = CALL.match(line)
            if not found:
                continue
            process, call, rest = found.groups()
            program = program or process
            counts[process][call] += 1
            is_in_main = is_in_main or (process == program and
                                         MAIN.match(f"{call}({rest}") is not None)
            if process == program and not is_in_main:
                self.before_main[call] += 1
        self.counts = collections.Counter()
        for calls in counts.values():
            self.counts |= calls


class Injection:
    """The outcome. `has_come`: the run reached the call, and the call can fail. `is_early`: the
    fault was before main of the program itself, not of a child. `is_silenced`: a fault was in a
    write to standard error."""

    def __init__(self, outcome, log, faults=1):
        self.outcome = outcome
        self.log = log
        struck = struck_calls(log)
        has_faults = len(struck) >= faults and all(can_fail(call) for call in struck)
        self.has_come = has_faults or "+++ killed by SIGKILL" in log
        self.is_silenced = any(SILENCED.search(call) for call in struck)
        self.is_early = False
        program = log.split(" ", 1)[0]
        for line in log.splitlines():
            if not line.startswith(f"{program} "):
                continue
            if MAIN.search(line):
                break
            self.is_early = self.is_early or "(INJECTED)" in line


def struck_calls(log):
    """The calls with a fault, each in one line, also where another process came between."""
    begun, struck = {}, []
    for line in log.splitlines():
        process = line.split(" ", 1)[0]
        if "<unfinished ...>" in line:
            begun[process] = line
        if "(INJECTED)" in line:
            struck.append(begun.get(process, "") + line if "resumed>" in line else line)
    return struck


def can_fail(line):
    if " fcntl(" in line:
        return COPYING in line
    if "ENOMEM" in line and (polled := POLLED.search(line)):
        return int(polled[1]) > ON_STACK
    if "EAGAIN" in line and re.search(r" (read|write)v?\(", line):
        return WAITING.search(line) is not None
    return EVENTFD not in line


def later_calls(log):
    """The calls after the first fault, in its process: each with its number there."""
    seen, process, later = collections.defaultdict(collections.Counter), None, []
    for line in log.splitlines():
        if found := CALL.match(line):
            seen[found[1]][found[2]] += 1
            if process == found[1]:
                later.append((found[2], seen[process][found[2]]))
        if "(INJECTED)" in line and process is None:
            process = line.split(" ", 1)[0]
    return later


def read_away(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    os.unlink(path)
    return text


def calls_of(path, sandbox, environment):
    log = sandbox.at("trace")
    sandbox.reset()
    path.run(sandbox, environment, ["strace", "-f", "-y", "-qq", "-s0", "-o", log])
    return Calls(read_away(log))


def inject(path, sandbox, environment, call, number, fault):
    # With it strace 6.1 stops only at these calls, which is faster, but then it sends no signals.
    quick = [] if fault.startswith("signal=") else ["--seccomp-bpf"]
    outcome, log = traced(path, sandbox, environment,
                          [*quick, "-e", f"trace=execve,fcntl,{call}",
                           "-e", f"inject={call}:{fault}:when={number}"])
    return Injection(outcome, log)


def inject_all(path, sandbox, environment, faults):
    """Injects one or two faults, each a call, its number and its error, and logs all calls. Of two faults
    in the same call, the second has the error of the first: strace knows one error of a call."""
    options = []
    for call, number, error in faults[:1] if is_repeated(faults) else faults:
        options += ["-e", f"inject={call}:error={error}:when={number}"]
    if is_repeated(faults):
        (_, first, _), (_, second, _) = faults
        options[-1] += f"..{second}+{second - first}"
    outcome, log = traced(path, sandbox, environment, options)
    return Injection(outcome, log, len(faults))


def is_repeated(faults):
    return len(faults) == 2 and faults[0][0] == faults[1][0]


def traced(path, sandbox, environment, options):
    log = sandbox.at("trace")
    outcome = path.run(sandbox, environment,
                       ["strace", "-f", "-y", "-q", "-s0", "-o", log, *options])
    return outcome, read_away(log)
