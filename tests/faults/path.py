# SPDX-License-Identifier: Apache-2.0
"""A path: a program, its inputs, and what a right answer is."""
import base64
import calendar
import json
import os
import time

SERVER = "https://member-1.example.com:6443"
OTHER_SERVER = "https://member-2.example.com:6443"
# The time limit in seconds that a run gets. A run is killed later than that, because the machine
# may be busy.
TIMEOUT = 5
GRACE = 20
HOUR = 3600


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def service_account_token(name="controller"):
    now = int(time.time())
    claims = {"iss": "https://issuer.example.com", "sub": f"system:serviceaccount:fleet:{name}",
              "aud": ["https://kubernetes.default.svc"], "iat": now, "exp": now + 24 * HOUR}
    return f"{encoded({'alg': 'RS256', 'kid': 'a'})}.{encoded(claims)}.{'c2ln' * 64}"


def claims_of(token):
    """The claims of a JWT. Empty for anything else."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Path:
    """`arguments`, `variables` and `make` are functions of the sandbox and of the environment.
    `lists` is true for commands that print their results on standard output even if a part failed.
    A path with `is_for_replies` differs from another one only by the server's answer: a sample
    tries it only in `replies`. `timeout` is the time limit of a program that has no option for
    it."""
    lists = False

    def __init__(self, name, program, arguments, variables=None, make=None, is_true=None,
                 warm=False, is_for_replies=False, timeout=None):
        self.name = name
        self.program = program
        self.arguments = arguments
        self.variables = variables or (lambda sandbox, environment: {})
        self.make = make or (lambda sandbox, environment: None)
        self.is_true = is_true
        self.warm = warm
        self.is_for_replies = is_for_replies
        self.timeout = timeout

    def prepare(self, sandbox, environment):
        """Makes the state in the sandbox from which each run starts. Raises an exception if a run
        without a fault fails."""
        self.make(sandbox, environment)
        sandbox.keep()
        if self.warm:
            self.must_be_right(sandbox, environment)
            sandbox.keep()
        self.must_be_right(sandbox, environment)

    def must_be_right(self, sandbox, environment):
        outcome = self.run(sandbox, environment)
        reason = f"exit code {outcome.exit_code}"
        if outcome.exit_code == 0:
            reason = self.wrong_answer(sandbox, outcome.stdout)
        if reason:
            raise RuntimeError(f"{self.name}: {reason} without a fault: {outcome.stderr}")

    def command(self, sandbox, environment):
        return [os.path.join(environment.bin, self.program), *self.arguments(sandbox, environment)]

    def run(self, sandbox, environment, under=(), variables=None):
        """`under` is a command that runs the program. `variables` are added to the environment."""
        given = {"PATH": "/usr/bin:/bin", "HOME": sandbox.state, "TMPDIR": sandbox.temporary,
                 **self.variables(sandbox, environment), **(variables or {})}
        command = [*under, *self.command(sandbox, environment)]
        return sandbox.run(command, given, 3 * sandbox.timeout + GRACE)

    def wrong_answer(self, sandbox, stdout):
        return self.is_true(sandbox, stdout)

    def torn(self, sandbox):
        """Why the files of a run are incomplete, or None."""
        del sandbox
        return None

    def left_over(self, sandbox):
        """The leftovers of a run with a fault that the next run has not removed, or None."""
        del sandbox
        return None


def end_of(status):
    """The expiry of the credential in seconds. None if it has none."""
    text = status.get("expirationTimestamp")
    return text and calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def status_of(stdout):
    """The status of a complete ExecCredential. None for anything else."""
    try:
        document = json.loads(stdout)
        status = document["status"]
        end_of(status)
    except (ValueError, KeyError, TypeError):
        return None
    return status if document.get("kind") == "ExecCredential" else None


def credential(check, longest=24 * HOUR):
    """Checks the document and the expiry of the credential, which is valid for at most `longest`
    seconds. `check` tests its status."""
    def is_true(sandbox, stdout):
        status = status_of(stdout)
        if status is None:
            return "no whole ExecCredential with exit code 0"
        end = end_of(status)
        if end is not None and end <= time.time() - 1:
            return "a credential that has ended"
        if end is not None and end > time.time() + longest + 60:
            return "a credential that outlives its source"
        return None if check(sandbox, status) else "another credential"
    return is_true


def input_token(name):
    def check(sandbox, status):
        return status.get("token") == text_of(sandbox.at("in", name))
    return credential(check)
