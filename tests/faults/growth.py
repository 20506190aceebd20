# SPDX-License-Identifier: Apache-2.0
"""Inputs of hostile shapes, each compared with one of half the size: twice the input may take at
most 2.2 times the instructions, counted by cachegrind, without those of the program's start. An
input above the size limit of its format must be refused."""
import concurrent.futures
import errno
import functools
import json
import os
import re
import subprocess
import sys
import time

import cache_files
import campaign
import command_paths
import plugin_paths
import servers
from path import SERVER, encoded, service_account_token, text_of

NAME = "growth"
SAMPLE = 1
SAMPLE_UNITS = 2
BUILDS = ("glibc",)
WEIGHT = 0  # no share of the time limit
SIZES = (64 * 1024, 256 * 1024, 1024 * 1024)
MANY = 60_000  # providers in one list
MOST = 2.2
COUNTED = re.compile(r"I +refs: +([\d,]+)")
# The error messages for an input above its limit.
REFUSAL = re.compile(r"larger than \d+ (KiB|bytes)|longer than \d+|at most \d+ (KiB|bytes)")
# Runs a program and prints its peak memory in KiB. It cannot measure less than its own memory.
MEASURE = """import os, sys
quiet = os.open(os.devnull, os.O_WRONLY)
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_DUP2, quiet, 1), (os.POSIX_SPAWN_DUP2, quiet, 2)])
print(os.wait4(process, 0)[2].ru_maxrss)
"""


def repeated(text, size):
    return text * (size // len(text))


def numbered(form, size, separator=","):
    """form % 0, form % 1 and so on, in at most `size` bytes."""
    parts, length = [], 0
    while True:
        part = form % len(parts)
        length += len(part) + len(separator)
        if length > size:
            return separator.join(parts)
        parts.append(part)


PROVIDER = '{"name":"p%d","cluster":{"server":"https://h"}}'


def providers(size):
    return ('{"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":'
            '{"name":"member","namespace":"fleet"},"status":{"accessProviders":[' +
            numbered(PROVIDER, size) + "]}}")


# The size of a list with MANY providers.
MANY_PROVIDERS = len(providers(0)) + sum(len(PROVIDER % at) + 1 for at in range(MANY))


def mapping_providers(size):
    return ('{"providers":[' + numbered(
        '{"name":"p%d","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",'
        '"command":"/p","interactiveMode":"Never"}}', size) + "]}")


def nested_anchors(size):
    """A kubeconfig in YAML, because only YAML has anchors."""
    deep = "".join("[&a%d " % at for at in range(28)) + "x" + "]" * 28
    return "apiVersion: v1\nkind: Config\nusers:\n" + repeated(f"- {deep}\n", size)


def kubeconfig(size):
    return ('{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c",'
            '"context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"' +
            SERVER + '"}}],"users":[{"name":"u","user":{"token":"' + service_account_token() +
            '"}},' + numbered('{"name":"v%d","user":{"token":"t"}}', size) + "]}")


def certificates(size):
    return repeated(a_certificate(), size)


@functools.cache
def a_certificate():
    return subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=growth", "-keyout", os.devnull],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def exec_info(size):
    return json.dumps({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"cluster": {"server": SERVER, "config": {"more": "%s"}}, "interactive": False}},
        separators=(",", ":")).replace('"%s"', "{" + numbered('"k%d":1', size) + "}")


def secret(size):
    return ('{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"fleet"},"data":'
            '{"token":"dGhlLXRva2Vu",' + numbered('"k%d":"QUFB"', max(size, 20)) + "}}")


def aws_profiles(size):
    return ("[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n"
            "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n" +
            numbered("[p%d]\nregion = us-west-2", size, "\n") + "\n")


def aws_config(size):
    return ("[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n"
            "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n" +
            numbered("[profile p%d]\nregion = us-west-2", size, "\n") + "\n")


def faulty_entries(size):
    return '{"providers":[' + numbered('{"name":"p%d"}', size) + "]}"


def exec_of_aws(args="", env=""):
    """A kubeconfig whose user runs the AWS command line."""
    return ('{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c",'
            '"context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"' +
            SERVER + '"}}],"users":[{"name":"u","user":{"exec":{"apiVersion":'
            '"client.authentication.k8s.io/v1","command":"aws","args":["eks","get-token",'
            f'"--cluster-name","c"{args}],"env":[{env}]' + "}}}]}")


def variables_of_exec(size):
    return exec_of_aws(env=numbered('{"name":"V%d","value":"v"}', size))


def flags_of_exec(size):
    half = size // 2
    return exec_of_aws(args=repeated(',"--region","r"', half) + repeated(',"--profile","p"', half))


def audiences(size):
    return numbered('"a%d"', size)


def token_of_audiences(box, given):
    """Writes a token for these audiences, and asks for them in reverse order."""
    listed = json.loads(f"[{text_of(given)}]")
    claims = {"aud": listed, "exp": int(time.time()) + 3600}
    box.write("token-of-audiences",
              f"{encoded({'alg': 'RS256'})}.{encoded(claims)}.{encoded('signature')}")
    return {"KUBERNETES_EXEC_INFO": plugin_paths.exec_info(
        {"server": SERVER, "config": {"audience": listed[::-1]}})}


class Shape:
    """`arguments` and `variables` of the program are functions of the sandbox and of the input's
    file. `more` has additional sizes. `limit` is the size above which a reader ignores the input
    without an error."""
    program = "execcred"

    def __init__(self, name, make, arguments, program="execcred", variables=None, more=(),
                 limit=None):
        self.name = name
        self.limit = limit
        self.make = make
        self.arguments = arguments
        self.program = program
        self.variables = variables or (lambda box, given: {})
        self.sizes = sorted({*SIZES, *more})

    def input(self, size):
        """An input of at most `size` bytes, including the fixed parts of its shape."""
        made, asked = self.make(size), size
        while len(made) > size and asked > 0:
            asked = max(0, asked - (len(made) - size))
            made = self.make(asked)
        return made

    def command(self, box, environment, size):
        given = box.write(f"input-{size}", self.input(size))
        return ([os.path.join(environment.bin, self.program), *self.arguments(box, given)],
                {"PATH": "/usr/bin:/bin", "HOME": box.state, **self.variables(box, given)})

    def is_refused(self, box, environment, size):
        """Whether it is refused for its size, or ignored. Linux refuses a variable or an argument
        above 128 KiB."""
        if self.limit and size > self.limit:
            return True
        command, variables = self.command(box, environment, size)
        try:
            ended = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, check=False,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            if error.errno != errno.E2BIG:
                raise
            return True
        return ended.returncode != 0 and REFUSAL.search(ended.stderr) is not None

    def instructions(self, box, environment, size):
        command, variables = self.command(box, environment, size)
        counted = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no",
             "--cachegrind-out-file=/dev/null", *command], env=variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False)
        return int(COUNTED.search(counted.stderr)[1].replace(",", ""))

    def memory(self, box, environment, size):
        command, variables = self.command(box, environment, size)
        measured = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *command],
                                  env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  text=True, check=True)
        return int(measured.stdout)


class Hub(Shape):
    """A Secret that the plugin reads from a Kubernetes API."""

    def __init__(self, name, make):
        super().__init__(name, make, self.hub_arguments, "execcred-static-secret", info)
        self.server = None
        self.inputs = None

    def command(self, box, environment, size):
        if not self.server:
            served = environment.servers
            self.server = servers.serve_json(self.answer, served.stand_in_ca, served.stand_in_key)
            box.write("hub", json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {
                    "server": self.server.url, "certificate-authority": served.stand_in_ca}}],
                "users": [{"name": "u", "user": {"token": service_account_token()}}]}))
        return super().command(box, environment, size)

    def answer(self, request):
        name = request.path.rsplit("/", 1)[1]
        document = json.loads(text_of(os.path.join(self.inputs, name)))
        document["metadata"]["name"] = name
        return 200, document

    def hub_arguments(self, box, given):
        """Names the Secret after the input's file."""
        self.inputs = box.inputs
        return [f"--kubeconfig={box.at('in', 'hub')}", "--namespace=fleet",
                f"--secret-name={os.path.basename(given)}", "--timeout=60s",
                f"--allow-server={SERVER}"]


def info(_, __):
    return {"KUBERNETES_EXEC_INFO": plugin_paths.exec_info({"server": SERVER})}


def lint(_, given):
    return ["lint", "--no-files", given]


def doctor(box, given):
    profile = box.write("profile.json", providers(60))
    return ["doctor", "-m", given, "-f", profile, "--no-request"]


def migrate(_, given):
    return ["migrate", given]


def from_kubeconfig(_, given):
    return [f"--kubeconfig-file={given}"]


def exchange(box, **files):
    given = {"token_url": "https://127.0.0.1:9/token",
             "subject_token_file": box.at("in", "token"), **files}
    return ["--flow=token-exchange", "--no-cache", "--timeout=60s",
            *(f"--{name.replace('_', '-')}={file}" for name, file in given.items())]


def cached(box, given):
    """Makes a cache directory with the input as its only entry."""
    directory = f"{given}.cache"
    os.makedirs(directory, mode=0o700, exist_ok=True)
    entry = os.path.join(directory, f"{0:032x}.credential")
    if not os.path.exists(entry):
        os.link(given, entry)
        os.unlink(given)
    return ["cache", "list", f"--cache-dir={directory}"]


SHAPES = [
    Shape("ClusterProfile: providers in one list", providers, lint, more=[MANY_PROVIDERS]),
    Shape("mapping: providers in one list", mapping_providers, lint),
    Shape("kubeconfig: 28 nested anchors in each line", nested_anchors, lint),
    Shape("lint: 'eyJ.' again and again", lambda size: '{"x":"' + repeated("eyJ.", size) + '"}',
          lint),
    Shape("kubeconfig: users", kubeconfig, from_kubeconfig, "execcred-static-secret", info),
    Shape("token: 'eyJ.' again and again", lambda size: repeated("eyJ.", size),
          lambda _, given: [f"--token-file={given}"], "execcred-token-file", info),
    Shape("subject token: 'eyJ.' again and again", lambda size: repeated("eyJ.", size),
          lambda box, given: exchange(box, subject_token_file=given),
          "execcred-oidc-federation", info),
    Shape("CA file: certificates", certificates,
          lambda box, given: exchange(box, ca_file=given), "execcred-oidc-federation", info),
    Shape("exec info: keys of the cluster's config", exec_info,
          lambda box, _: [f"--token-file={box.at('in', 'token')}"], "execcred-token-file",
          lambda _, given: {"KUBERNETES_EXEC_INFO": text_of(given)}),
    Shape("cache entry: of that length",
          lambda size: cache_files.credential(repeated("eyJ.", size)), cached,
          limit=512 * 1024),
    Shape("AWS credentials file: profiles", aws_profiles,
          lambda *_: ["--cluster-id=c", "--region=eu-central-1"], "execcred-aws",
          lambda box, given: {**info(box, given), "AWS_CONFIG_FILE": "/dev/null",
                              "AWS_SHARED_CREDENTIALS_FILE": given}),
    Shape("AWS config file: profiles", aws_config,
          lambda *_: ["--cluster-id=c", "--region=eu-central-1"], "execcred-aws",
          lambda box, given: {**info(box, given), "AWS_CONFIG_FILE": given,
                              "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}),
    Shape("audiences: of a token and of the cluster's config", audiences,
          lambda box, _: [f"--token-file={box.at('in', 'token-of-audiences')}"],
          "execcred-token-file", token_of_audiences),
    Shape("URL: of that length", lambda size: "https://h/" + repeated("a", size),
          lambda box, given: exchange(box, token_url=text_of(given)), "execcred-oidc-federation",
          info, more=[2048]),
    Hub("Secret of the hub: its keys", secret),
    Shape("JSON: brackets", lambda size: repeated("[", size), lint),
    Shape("JSON: keys", lambda size: "{" + numbered('"k%d":1', size) + "}", lint),
    Shape("doctor: a mapping of entries without execConfig", faulty_entries, doctor),
    Shape("migrate: variables of a program", variables_of_exec, migrate),
    Shape("migrate: two flags, again and again", flags_of_exec, migrate),
    Shape("get: ClusterProfile's providers", providers,
          lambda box, given: ["get", "-m", box.at("in", "mapping.json"), "-f", given],
          more=[MANY_PROVIDERS]),
]


def units(chosen):
    programs = {path.program for path in chosen}
    return [shape for shape in SHAPES if shape.program in programs]


def run(unit, environment, effort):
    """Tries every size, without a time limit."""
    tally = campaign.Tally()
    box = campaign.bare_sandbox(environment, 0)
    box.write("token", service_account_token())
    command_paths.mapping(box, environment)
    start = unit.instructions(box, environment, 0)
    for size in unit.sizes if effort.most is None else unit.sizes[:1]:
        if unit.is_refused(box, environment, size):
            tally.figures.append({"bytes": size, "refused": True})
            tally.add_check(f"{size} bytes", None, "error")
            continue
        with concurrent.futures.ThreadPoolExecutor(campaign.WORKERS) as pool:
            half, whole = pool.map(lambda each: unit.instructions(box, environment, each) - start,
                                   (size // 2, size))
        ratio = whole / max(half, start // 10)
        tally.figures.append({"bytes": size, "ratio": round(ratio, 2),
                              "memory": unit.memory(box, environment, size)})
        tally.add_check(f"{size} bytes", ratio > MOST and f"{ratio:.2f} times for twice the input")
    campaign.progress(f"  {tally.figures}")
    return tally
