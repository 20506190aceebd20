# SPDX-License-Identifier: Apache-2.0
"""Prints a token that Microsoft's own clients get with the variables of the environment.

    client.py workload|binding|msal SERVER_ID
    client.py managed SERVER_ID [client_id|object_id|resource_id VALUE]
"""

import logging
import os
import sys

import azure.identity
import msal
import requests


def workload(server_id):
    # Without instance discovery the client does not ask a public server about this authority.
    credential = azure.identity.WorkloadIdentityCredential(disable_instance_discovery=True,
                                                           retry_total=0)
    return credential.get_token(f"{server_id}/.default").token


def binding(server_id):
    credential = azure.identity.WorkloadIdentityCredential(disable_instance_discovery=True,
                                                           enable_azure_proxy=True, retry_total=0)
    return credential.get_token(f"{server_id}/.default").token


def by_msal(server_id):
    with open(os.environ["AZURE_FEDERATED_TOKEN_FILE"], encoding="utf-8") as file:
        assertion = file.read().strip()
    authority = os.environ["AZURE_AUTHORITY_HOST"].rstrip("/") + "/" + os.environ["AZURE_TENANT_ID"]
    application = msal.ConfidentialClientApplication(
        os.environ["AZURE_CLIENT_ID"], authority=authority, instance_discovery=False,
        client_credential={"client_assertion": assertion}, http_client=requests.Session())
    reply = application.acquire_token_for_client([f"{server_id}/.default"])
    if "access_token" not in reply:
        raise SystemExit(f"{reply['error']}: {reply['error_description']}")
    return reply["access_token"]


def managed(server_id, *selector):
    config = {selector[0]: selector[1]} if selector else None
    credential = azure.identity.ManagedIdentityCredential(identity_config=config)
    return credential.get_token(f"{server_id}/.default").token


logging.disable()
print({"workload": workload, "binding": binding, "msal": by_msal, "managed": managed}[sys.argv[1]](*sys.argv[2:]))
