# SPDX-License-Identifier: Apache-2.0
"""Inputs in hostile shapes, at two sizes each: twice the input may take 2.2 times the instructions
(callgrind's count, of which the start of the program is taken off). An input above the limit of its
format is refused, which costs less."""
import json
import os
import re
import subprocess

import campaign
import command_paths
import plugin_paths
from path import SERVER, service_account_token

NAME = "growth"
SAMPLE = 1
SAMPLE_UNITS = 2
BUILDS = ("glibc",)
WEIGHT = 0  # it takes the time that it takes
SIZES = (64 * 1024, 256 * 1024, 1024 * 1024)
MOST = 2.2
COUNTED = re.compile(r"Collected : (\d+)")


def repeated(text, size):
    return text * (size // len(text))


def numbered(form, size):
    """form % 0, form % 1 and so on, with commas, in about `size` bytes."""
    parts, length = [], 0
    while length < size:
        parts.append(form % len(parts))
        length += len(parts[-1]) + 1
    return ",".join(parts)


def providers(size):
    return ('{"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":'
            '{"name":"member","namespace":"fleet"},"status":{"accessProviders":[' +
            numbered('{"name":"p%d","cluster":{"server":"https://h"}}', size) + "]}}")


def mapping_providers(size):
    return ('{"providers":[' + numbered(
        '{"name":"p%d","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",'
        '"command":"/p","interactiveMode":"Never"}}', size) + "]}")


def nested_anchors(size):
    deep = "".join("[&a%d " % at for at in range(28)) + "x" + "]" * 28
    return "providers:\n" + "".join(f"- {deep}\n" for _ in range(size // len(deep)))


def kubeconfig(size):
    return ('{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c",'
            '"context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"' +
            SERVER + '"}}],"users":[{"name":"u","user":{"token":"' + service_account_token() +
            '"}},' + numbered('{"name":"v%d","user":{"token":"t"}}', size) + "]}")


def certificates(size):
    certificate = "-----BEGIN CERTIFICATE-----\n" + "QUFB" * 16 + "\n-----END CERTIFICATE-----\n"
    return repeated(certificate, size)


class Shape:
    """`arguments` of the program are a function of the input's file."""
    program = "execcred"

    def __init__(self, name, make, arguments, program="execcred", variables=None):
        self.name = name
        self.make = make
        self.arguments = arguments
        self.program = program
        self.variables = variables or {}

    def instructions(self, box, environment, size):
        given = box.write("input", self.make(size), 0o644)
        command = [os.path.join(environment.bin, self.program), *self.arguments(box, given)]
        counted = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={box.at('callgrind')}",
             *command], env={"PATH": "/usr/bin:/bin", "HOME": box.state, **self.variables},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False)
        return int(COUNTED.search(counted.stderr)[1])


INFO = {"KUBERNETES_EXEC_INFO": plugin_paths.exec_info({"server": SERVER})}


def lint(_, given):
    return ["lint", "--no-files", given]


SHAPES = [
    Shape("ClusterProfile: providers in one list", providers, lint),
    Shape("mapping: providers in one list", mapping_providers, lint),
    Shape("mapping: 28 nested anchors in each line", nested_anchors, lint),
    Shape("lint: 'eyJ.' again and again", lambda size: '{"x":"' + repeated("eyJ.", size) + '"}',
          lint),
    Shape("kubeconfig: users", kubeconfig,
          lambda _, given: [f"--kubeconfig-file={given}"], "execcred-static-secret", INFO),
    Shape("token: of that length", lambda size: repeated("eyJ.", size),
          lambda _, given: [f"--token-file={given}"], "execcred-token-file", INFO),
    Shape("CA file: certificates", certificates,
          lambda box, given: ["--flow=token-exchange", "--token-url=https://127.0.0.1:9/token",
                              f"--subject-token-file={box.at('in', 'token')}", "--no-cache",
                              f"--ca-file={given}", "--timeout=5s"],
          "execcred-oidc-federation", INFO),
    Shape("JSON: brackets", lambda size: repeated("[", size), lint),
    Shape("JSON: keys", lambda size: "{" + numbered('"k%d":1', size) + "}", lint),
    Shape("get: ClusterProfile's providers", providers,
          lambda box, given: ["get", "-m", box.at("in", "mapping.json"), "-f", given]),
]


def units(chosen):
    programs = {path.program for path in chosen}
    return [shape for shape in SHAPES if shape.program in programs]


def run(unit, environment, effort):
    tally = campaign.Tally()
    box = campaign.bare_sandbox(environment, 0)
    box.write("token", service_account_token())
    command_paths.mapping(box, environment)
    start = unit.instructions(box, environment, 0)
    sizes = SIZES if effort.most is None else SIZES[:1]
    for size in sizes:
        if size > SIZES[0] and effort.is_over():
            break
        small, large = (unit.instructions(box, environment, each) - start
                        for each in (size, 2 * size))
        ratio = large / max(small, start // 10)
        tally.figures.append({"bytes": size, "ratio": round(ratio, 2)})
        tally.add_check(f"{size} bytes", ratio > MOST and f"{ratio:.2f} times for twice the input")
    return tally
