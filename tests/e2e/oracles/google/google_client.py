# SPDX-License-Identifier: Apache-2.0
"""Uses google-auth like a program that needs a token for GKE.

google-auth reads the environment when it is imported, so the variables must be set before.
"""

import google.auth.transport.requests
from google.auth import aws, compute_engine, identity_pool, impersonated_credentials, pluggable
from google.oauth2 import credentials as user_credentials
from google.oauth2 import service_account

from cases import GKE_SCOPES


def external_credentials(info, scopes):
    source = info["credential_source"]
    if "environment_id" in source:
        return aws.Credentials.from_info(info, scopes=scopes)
    if "executable" in source:
        return pluggable.Credentials.from_info(info, scopes=scopes)
    return identity_pool.Credentials.from_info(info, scopes=scopes)


def google_auth_credentials(info, options):
    """The credentials of google.auth.default(scopes), without its request for the project."""
    scopes = options.get("scopes", GKE_SCOPES)
    if info is None:
        return compute_engine.Credentials(scopes=scopes)
    if info["type"] == "external_account":
        if "audience" in options:
            info = dict(info, audience=options["audience"])
        return external_credentials(info, scopes)
    if info["type"] == "service_account":
        return service_account.Credentials.from_service_account_info(info, scopes=scopes)
    if info["type"] == "authorized_user":
        return user_credentials.Credentials.from_authorized_user_info(
            info, scopes=options.get("user_scopes"))
    return impersonated_credentials.Credentials.from_impersonated_service_account_info(
        info, scopes=scopes)


def ask_google_auth(case):
    options = case.with_google_auth
    found = google_auth_credentials(case.credentials, options)
    if "impersonate" in options:
        found = impersonated_credentials.Credentials(
            found, target_principal=options["impersonate"], target_scopes=GKE_SCOPES,
            delegates=options.get("delegates"))
    found.refresh(google.auth.transport.requests.Request())
    return found.token if isinstance(found.token, str) else found.token.decode()
