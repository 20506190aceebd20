# SPDX-License-Identifier: Apache-2.0
"""Judges a command by the AWS CLI itself, which reads and checks it, and would send it:

    command.py aws eks create-access-entry --cluster-name NAME ...

Prints the request's body instead of sending it, or exits with the CLI's error.
"""

import sys
from types import SimpleNamespace

from awscli.clidriver import create_clidriver


def print_instead(params, **_):
    body = params["body"]
    sys.stdout.write(body if isinstance(body, str) else body.decode())
    return SimpleNamespace(status_code=200), {}


def main(words):
    if words[0] != "aws":
        sys.exit("not a command of aws")
    driver = create_clidriver()
    driver.session.register("before-call", print_instead)
    return driver.main(words[1:])


sys.exit(main(sys.argv[1:]))
