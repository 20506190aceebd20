# SPDX-License-Identifier: Apache-2.0
"""Runs google-auth and execcred-google with the same credentials and the same servers, and compares
the requests of both, in order and field by field.

  compare.py PLUGIN CERTIFICATE KEY CA FOLDER

prints a line for each case: "ok NAME" or "not ok NAME", with the difference.

Not compared: headers of the transport (User-Agent, Accept, ...), google-auth's telemetry
(x-goog-api-client), equivalent percent-encodings of a path, and an executable's variables ..._ID
and ..._IMPERSONATED_EMAIL: AIP-4117 requires them, but google-auth omits them if it impersonates.
"""

import difflib
import json
import os
import re
import subprocess
import sys
import urllib.parse

import jwt_tools
from cases import AUDIENCE, OTHER_PROVIDER, WORKFORCE, Case, World
from cloud import Cloud

COMPARED_HEADERS = {"authorization", "content-type", "metadata-flavor", "x-source",
                    "x-aws-ec2-metadata-token", "x-aws-ec2-metadata-token-ttl-seconds"}
# Requests of google-auth to the metadata server for other values than the token.
NOT_FOR_THE_TOKEN = re.compile(r"/computeMetadata/v1/(instance/service-accounts/default/$|universe)")
WHO_IT_IS_FOR = re.compile("GOOGLE_EXTERNAL_ACCOUNT_(ID|IMPERSONATED_EMAIL)=")
AUDIENCES = [AUDIENCE, WORKFORCE, "//iam.googleapis.com/" + OTHER_PROVIDER]


def exec_info(config):
    """KUBERNETES_EXEC_INFO for a cluster whose ClusterProfile has this config."""
    return json.dumps({"kind": "ExecCredential",
                       "apiVersion": "client.authentication.k8s.io/v1",
                       "spec": {"interactive": False,
                                "cluster": {"server": "https://spoke", "config": config}}})


def ask_plugin(case, plugin, ca, world, environment):
    if case.config is not None:
        environment = {**environment, "KUBERNETES_EXEC_INFO": exec_info(case.config)}
    command = [plugin, "--ca-file=" + ca, "--no-cache"]
    if case.credentials is not None:
        world.write("credentials.json", json.dumps(case.credentials))
        command.append("--credentials-file=" + world.path("credentials.json"))
    # At the end, because they may be arguments of a ClusterProfile.
    command += case.arguments
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["status"]["token"]


def normal_value(name, value):
    if name == "assertion":
        return jwt_tools.without_times(value)
    if name == "subject_token" and value.startswith("%7B"):
        return normal_aws_request(value)
    return value


def normal_aws_request(quoted):
    """Replaces the signature, which the server has verified, and its time: both always differ."""
    text = urllib.parse.unquote(quoted)
    text = re.sub(r"\d{8}T\d{6}Z", "TIME", text)
    text = re.sub(r"/\d{8}/", "/DATE/", text)
    text = re.sub(r"Signature=[0-9a-f]{64}", "Signature=...", text)
    # Shows a character that only one of the clients percent-encodes.
    kept = sorted(set(re.findall(r"%[0-9A-F]{2}", quoted)))
    return {"text": text, "quoted": kept}


def normal_body(request):
    content_type = request["headers"].get("content-type", "")
    if content_type == "application/json":
        return json.loads(request["body"])
    pairs = urllib.parse.parse_qsl(request["body"], keep_blank_values=True)
    return [[name, normal_value(name, value)] for name, value in pairs]


def normal(request):
    headers = {name: value for name, value in request["headers"].items()
               if name in COMPARED_HEADERS}
    if request["method"] == "GET":
        headers.pop("content-type", None)
    return {"request": f"{request['method']} {request['host']}"
                       f"{urllib.parse.unquote(request['path'])}",
            "query": urllib.parse.parse_qsl(request["query"], keep_blank_values=True),
            "headers": dict(sorted(headers.items())), "body": normal_body(request),
            "refusal": request["refusal"]}


def told(journal):
    """The requests without repetitions: google-auth sends some to an AWS instance twice."""
    lines = []
    for request in journal:
        if NOT_FOR_THE_TOKEN.match(request["path"]):
            continue
        line = json.dumps(normal(request), indent=1)
        if line not in lines:
            lines.append(line)
    return lines


def executables_environment(world):
    path = world.path("environment")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    os.unlink(path)
    return ["\n".join(line for line in lines if not WHO_IT_IS_FOR.match(line))]


def normal_token(token):
    return json.dumps(jwt_tools.without_times(token)) if token.startswith("ey") else token


def run_case(case, clients, cloud, world):
    """The difference between the clients, or nothing."""
    cloud.take_journal()
    outcomes = []
    for ask in clients:
        token = normal_token(ask(case))
        outcomes.append(told(cloud.take_journal()) + executables_environment(world) + [token])
    if outcomes[0] == outcomes[1]:
        return ""
    theirs, ours = ("\n".join(outcome).splitlines() for outcome in outcomes)
    return "\n".join(difflib.unified_diff(theirs, ours, "google-auth", "execcred-google",
                                          lineterm=""))


def report(name, difference):
    print(("not ok " if difference else "ok ") + name, flush=True)
    for line in difference.splitlines():
        print("    # " + line)


def make_settings():
    subject_key, account_key = jwt_tools.new_key(), jwt_tools.new_key()
    return {"subject_key": subject_key, "account_key": account_key,
            "account_key_pem": jwt_tools.pem(account_key), "client_secret": "GOCSPX-s3 +/%",
            "refresh_token": "1//refresh+token", "audiences": AUDIENCES,
            "subject": jwt_tools.subject(subject_key, AUDIENCE)}


def main():
    plugin, certificate, key, ca, folder = sys.argv[1:]
    settings = make_settings()
    cloud = Cloud(certificate, key, settings)
    world = World(folder, cloud, settings)
    environment = {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1", "HOME": folder,
                   "HTTPS_PROXY": cloud.proxy_url(), "PATH": "/usr/bin:/bin",
                   "GCE_METADATA_HOST": f"127.0.0.1:{cloud.machine.server_port}"}
    os.environ.clear()
    os.environ.update(environment, REQUESTS_CA_BUNDLE=ca)
    from google_client import ask_google_auth  # pylint: disable=import-outside-toplevel
    clients = [ask_google_auth, lambda case: ask_plugin(case, plugin, ca, world, environment)]
    for case in world.cases():
        try:
            difference = run_case(case, clients, cloud, world)
        except Exception as problem:  # pylint: disable=broad-except
            difference = f"{type(problem).__name__}: {problem}\n" + "\n".join(
                told(cloud.take_journal()))
        report(case.name, difference)
    # Proves that a difference would be seen.
    other = Case("", world.file(), ["--scope=a"], scopes=["b"])
    report("a difference is seen",
           "" if '"a"' in run_case(other, clients, cloud, world) else "none was seen")


if __name__ == "__main__":
    main()
