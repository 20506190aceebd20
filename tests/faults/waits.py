# SPDX-License-Identifier: Apache-2.0
"""Each kind of server asks for a pause: one request of a run gets 429 or 503 with Retry-After. No
further request of this run or of the next follows, and the failure in the cache lasts as long as
the server asked for."""
import json
import os
import time

import campaign
import judge
import plugin_paths
import stand_ins
from path import HOUR, credential, text_of
from plugin_paths import names_of_cache, plugin

NAME = "waits"
SAMPLE = 20
ALONE = True  # it answers in place of the servers that all paths call
BUILDS = ("glibc",)
TIMEOUT = 5
PAUSE = 200
STATUSES = (429, 503)
# The paths whose servers are in this process and that have a cache. Those of MORE are in addition.
PATHS = ("azure, managed identity", "aws, STS", "aws, instance metadata", "google, metadata server",
         "bootstrap, CertificateSigningRequest", "oidc-federation, discovery",
         "oidc-federation, Concierge", "oidc-federation, refresh token",
         "oidc-federation, client assertion", "oidc-federation, JWT as grant")


def cached(path):
    """The path with a cache."""
    def arguments(sandbox, environment):
        given = [each for each in path.arguments(sandbox, environment)
                 if each != "--no-cache" and not each.startswith("--cache-dir=")]
        return [*given, f"--cache-dir={sandbox.at('state', 'cache')}"]
    return plugin_paths.Plugin(path.name, path.program, arguments, path.variables, path.make,
                               path.is_true)


def url_source(sandbox, environment):
    plugin_paths.subject_token(sandbox, environment)
    sandbox.write("hub", plugin_paths.hub_kubeconfig(environment))


def google_account(more):
    def make(sandbox, environment):
        url = environment.servers.stand_in_url
        plugin_paths.subject_token(sandbox, environment)
        sandbox.write("account.json", json.dumps({
            "type": "external_account", "token_url": f"{url}/token",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/"
                        "providers/q",
            "credential_source": {"file": sandbox.at("in", "token")}, **more(url)}))
    return make


def google_arguments(sandbox, environment):
    return [f"--credentials-file={sandbox.at('in', 'account.json')}",
            f"--allow-endpoint={environment.servers.stand_in_url}/*",
            f"--ca-file={environment.servers.stand_in_ca}"]


def entra_arguments(sandbox, environment):
    return ["--identity=workload", f"--client-id={plugin_paths.CLIENT}",
            f"--tenant-id={plugin_paths.TENANT}",
            f"--federated-token-file={sandbox.at('in', 'token')}",
            f"--authority-host={environment.servers.stand_in_url}",
            f"--ca-file={environment.servers.stand_in_ca}"]


ISSUED = credential(plugin_paths.is_issued, longest=HOUR)
EXCHANGE = ("--flow=token-exchange", "--token-url={url}/token", "--ca-file={ca}")
MORE = [
    plugin("oidc-federation, subject's URL", "execcred-oidc-federation",
           lambda sandbox, environment: [
               *plugin_paths.stand_in_arguments(*EXCHANGE)(sandbox, environment),
               f"--subject-token-url={environment.servers.metadata_url}/subject",
               "--subject-token-field=access_token"],
           None, ISSUED),
    plugin("oidc-federation, subject of GitHub", "execcred-oidc-federation",
           plugin_paths.stand_in_arguments(*EXCHANGE, "--subject=github-actions",
                                           "--subject-audience=idp"), None, ISSUED,
           lambda _, environment: {
               "ACTIONS_ID_TOKEN_REQUEST_URL": f"{environment.servers.metadata_url}/subject",
               "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "asks"}),
    plugin("oidc-federation, subject of the metadata server", "execcred-oidc-federation",
           plugin_paths.stand_in_arguments(*EXCHANGE, "--subject=gcp-metadata",
                                           "--subject-audience=idp"), None, ISSUED,
           lambda _, environment: {
               "GCE_METADATA_HOST": environment.servers.metadata_url.removeprefix("http://")}),
    plugin("oidc-federation, subject of the hub", "execcred-oidc-federation",
           plugin_paths.stand_in_arguments(*EXCHANGE, "--subject=kubernetes",
                                           "--service-account=fleet/controller",
                                           "--subject-audience=idp", "--kubeconfig={inputs}/hub"),
           url_source, ISSUED),
    plugin("azure, Entra", "execcred-azure", entra_arguments, plugin_paths.subject_token, ISSUED),
    plugin("google, token service", "execcred-google", google_arguments,
           google_account(lambda url: {}), ISSUED),
    plugin("google, impersonation", "execcred-google", google_arguments,
           google_account(lambda url: {"service_account_impersonation_url":
                                       f"{url}/v1/projects/-/serviceAccounts/"
                                       "a@p.iam.gserviceaccount.com:generateAccessToken"}), ISSUED),
    plugin("aws, container", "execcred-aws", plugin_paths.eks(), None,
           credential(plugin_paths.is_of_session, longest=HOUR),
           lambda _, environment: {
               "AWS_CONTAINER_CREDENTIALS_FULL_URI":
                   environment.servers.metadata_url + stand_ins.ROLE_PATH + stand_ins.ROLE}),
    plugin("bootstrap, stand-in's TokenRequest", "execcred-bootstrap",
           plugin_paths.bootstrap("stand_in_url", "--via=token-request",
                                  "--service-account=default/default"), None,
           ISSUED, cluster=plugin_paths.stand_in_cluster),
]


class Asked:
    """Answers as the servers do, but the request of this number gets `reply`. Counts requests."""

    def __init__(self, servers):
        self.servers = (servers.metadata, servers.stand_in)
        self.answers = [server.answer for server in self.servers]
        self.number, self.reply, self.count = None, None, 0
        for server, answer in zip(self.servers, self.answers):
            server.answer = lambda request, answer=answer: self.answer(request, answer)

    def answer(self, request, answer):
        self.count += 1
        return self.reply if self.count == self.number else answer(request)

    def restart(self, number=None, status=None):
        self.number, self.count = number, 0
        self.reply = (status, {}, {"Retry-After": str(PAUSE)})

    def close(self):
        for server, answer in zip(self.servers, self.answers):
            server.answer = answer


def units(chosen):
    programs = {path.program for path in chosen}
    return [cached(path) for path in [path for path in chosen if path.name in PATHS] +
            [path for path in MORE if path.program in programs]]


def pause_of_failure(sandbox):
    """The seconds until the failures in the cache end, or None without one."""
    ends = [os.stat(sandbox.at("state", "cache", name)).st_mtime for name in names_of_cache(sandbox)
            if name.endswith(".failure")]
    return max(ends) - time.time() if ends else None


def wrong(path, sandbox, environment, asked, number):
    outcome = path.run(sandbox, environment)
    reason = judge.wrong(path, sandbox, outcome, codes={3})
    if reason or outcome.exit_code == 0:
        return outcome, reason or "a credential in spite of the answer"
    if asked.count != number:
        return outcome, f"{asked.count} requests, of which number {number} was asked to wait"
    pause = pause_of_failure(sandbox)
    if pause is None or not PAUSE - 30 < pause <= PAUSE + 1:
        return outcome, f"the failure lasts {pause} s, not {PAUSE} s"
    again = path.run(sandbox, environment)
    if asked.count != number or again.exit_code != 3:
        return again, "the next run asks again"
    return outcome, None


def run(path, environment, effort):
    tally = campaign.Tally()
    sandbox = campaign.bare_sandbox(environment, 0, TIMEOUT)
    path.make(sandbox, environment)
    sandbox.keep()
    asked = Asked(environment.servers)
    try:
        # The stand-ins do not know each of the last requests, which is enough here.
        outcome = path.run(sandbox, environment)
        requests = asked.count
        if requests == 0:
            tally.add_check("the servers", f"the run asks none of them: {outcome.stderr}")
        faults = [(number, status) for number in range(1, requests + 1) for status in STATUSES]
        tally.possible += len(faults)
        for number, status in effort.chosen(faults):
            sandbox.reset()
            asked.restart(number, status)
            outcome, reason = wrong(path, sandbox, environment, asked, number)
            tally.add(outcome, f"answer {number} of {requests}: {status}, Retry-After", reason)
    finally:
        asked.close()
    return tally
