# SPDX-License-Identifier: Apache-2.0
"""Runs the programs under test, and makes their inputs."""
import base64
import json
import os
import subprocess
import sys
import time

BIN = sys.argv[2]


def run(program, *arguments, text=None, env=None):
    return subprocess.run(
        [os.path.join(BIN, program), *arguments], input=text, capture_output=True, text=True,
        timeout=60, check=False, env=env)


def exec_info(config):
    return json.dumps({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"interactive": False,
                 "cluster": {"server": "https://s.example.com", "config": config}}})


def token_of(seconds):
    """A JWT that expires in this many seconds."""
    parts = [{"alg": "RS256"}, {"aud": ["x"], "exp": int(time.time()) + seconds}, {}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
                    for part in parts)
