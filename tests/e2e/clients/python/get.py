# SPDX-License-Identifier: Apache-2.0
"""Sends requests to a cluster as a controller written in Python does: it loads
a kubeconfig, and the kubernetes package handles the credentials.

Each request prints one line: "ok USER", "ok NAMESPACE...", or "error REASON".
The exit status is 0 when every request was answered, 1 when one was not, 2
when the input is wrong.
"""

import argparse
import sys

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException


def whoami(api):
    review = client.AuthenticationV1Api(api).create_self_subject_review(
        client.V1SelfSubjectReview())
    return review.status.user_info.username


def namespaces(api):
    found = client.CoreV1Api(api).list_namespace()
    return " ".join(namespace.metadata.name for namespace in found.items)


QUESTIONS = {"whoami": whoami, "namespaces": namespaces}


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kubeconfig")
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--requests", type=int, default=1)
    return parser.parse_args()


def request(api, question):
    try:
        print("ok", question(api), flush=True)
        return True
    except ApiException as error:
        print("error", error.status, error.reason, flush=True)
        return False


def main():
    options = parse_command_line()
    try:
        api = config.new_client_from_config(options.kubeconfig)
    except config.ConfigException as error:
        print(f"get.py: error: {error}", file=sys.stderr)
        return 2
    question = QUESTIONS[options.question]
    # All requests share one client, which holds the credential.
    answered = [request(api, question) for _ in range(options.requests)]
    return 0 if all(answered) else 1


if __name__ == "__main__":
    sys.exit(main())
