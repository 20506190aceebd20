# SPDX-License-Identifier: Apache-2.0
"""Credential files of every type, as users have them, and the same settings for google-auth."""

import json
import os
import time

import jwt_tools
from cloud import ACCOUNT, FLEET_ACCOUNTS, OTHER_ACCOUNT

POOL = "//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool-1/"
AUDIENCE = POOL + "providers/hub"
OTHER_PROVIDER = "projects/123456/locations/global/workloadIdentityPools/pool-1/providers/other"
WORKFORCE = "//iam.googleapis.com/locations/global/workforcePools/wf/providers/p"
JWT_TYPE = "urn:ietf:params:oauth:token-type:jwt"
ACCOUNTS = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../config/clouds/google.json")
GKE_SCOPES = ["https://www.googleapis.com/auth/cloud-platform",
              "https://www.googleapis.com/auth/userinfo.email"]
REPLY_SCRIPT = """#!/bin/sh
env | grep ^GOOGLE_EXTERNAL_ACCOUNT | sort >'{folder}/environment'
for argument; do printf '[%s]' "$argument"; done >>'{folder}/environment'
cat '{folder}/reply.json'
"""


class Case:
    """`arguments` and `config` (of a ClusterProfile) are execcred-google's. `with_google_auth` has
    the same settings for google-auth."""

    def __init__(self, name, credentials, arguments=(), config=None, **with_google_auth):
        self.name = name
        self.credentials = credentials
        self.arguments = list(arguments)
        self.config = config
        self.with_google_auth = with_google_auth


def url_of(account):
    return ACCOUNTS + account + ":generateAccessToken"


class World:
    """The files that the credential files refer to."""

    def __init__(self, folder, cloud, settings):
        self.folder, self.cloud, self.settings = folder, cloud, settings
        subject = settings["subject"]
        self.write("subject", subject)
        self.write("subject.json", json.dumps({"access": subject}))
        self.write("workforce", jwt_tools.subject(settings["subject_key"], WORKFORCE))
        self.write("other", jwt_tools.subject(settings["subject_key"],
                                              "//iam.googleapis.com/" + OTHER_PROVIDER))
        self.write("reply.json", json.dumps({
            "version": 1, "success": True, "token_type": "urn:ietf:params:oauth:token-type:id_token",
            "id_token": subject, "expiration_time": int(time.time()) + 3000}))
        self.write("program", REPLY_SCRIPT.format(folder=folder), 0o700)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content, mode=0o600):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(content)
        os.chmod(self.path(name), mode)

    def external(self, source, **more):
        return {"type": "external_account", "audience": AUDIENCE, "subject_token_type": JWT_TYPE,
                "token_url": "https://sts.googleapis.com/v1/token", "credential_source": source,
                **more}

    def file(self, **more):
        return self.external({"file": self.path("subject")}, **more)

    def shipped(self):
        """The file of the guide for EKS, GKE and AKS, with the names of this world."""
        with open(SHIPPED, encoding="utf-8") as file:
            credentials = json.load(file)
        assert credentials["audience"].startswith("//iam.googleapis.com/projects/123456/")
        credentials["audience"] = AUDIENCE
        credentials["credential_source"]["file"] = self.path("subject")
        credentials["service_account_impersonation_url"] = url_of(ACCOUNT)
        return credentials

    def executable(self, **more):
        command = self.path("program") + r""" --a=1 'b c' "d \"e\" \x" f\ g '' $HOME"""
        return self.external({"executable": {"command": command, "timeout_millis": 5000}}, **more)

    def aws(self, **more):
        latest = self.cloud.machine_url("/latest/")
        source = {"environment_id": "aws1",
                  "region_url": latest + "meta-data/placement/availability-zone",
                  "url": latest + "meta-data/iam/security-credentials",
                  "imdsv2_session_token_url": latest + "api/token",
                  "regional_cred_verification_url":
                      "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity"
                      "&Version=2011-06-15"}
        return {**self.external(source),
                "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request", **more}

    def key(self, **more):
        return {"type": "service_account", "project_id": "project-1", "private_key_id": "key-1",
                "private_key": self.settings["account_key_pem"], "client_email": OTHER_ACCOUNT,
                "client_id": "1234567890", "token_uri": "https://oauth2.googleapis.com/token",
                "universe_domain": "googleapis.com", **more}

    def user(self, **more):
        return {"type": "authorized_user", "client_id": "id.apps.googleusercontent.com",
                "client_secret": self.settings["client_secret"],
                "refresh_token": self.settings["refresh_token"], "quota_project_id": "project-1",
                "universe_domain": "googleapis.com", **more}

    def impersonated(self, source, **more):
        return {"type": "impersonated_service_account", "source_credentials": source,
                "service_account_impersonation_url": url_of(ACCOUNT), **more}

    def cases(self):
        return self.external_cases() + self.other_cases() + self.chosen_cases()

    def external_cases(self):
        text = {"url": self.cloud.machine_url("/text"), "headers": {"X-Source": "1"}}
        as_json = {"url": self.cloud.machine_url("/json"), "headers": {"X-Source": "1"},
                   "format": {"type": "json", "subject_token_field_name": "access"}}
        json_file = {"file": self.path("subject.json"),
                     "format": {"type": "json", "subject_token_field_name": "access"}}
        acting = {"service_account_impersonation_url": url_of(ACCOUNT)}
        workforce = self.external({"file": self.path("workforce")}, audience=WORKFORCE,
                                  workforce_pool_user_project="999")
        return [
            Case("external_account, file", self.file()),
            Case("external_account, file of JSON", self.external(json_file)),
            Case("external_account, url", self.external(text)),
            Case("external_account, url of JSON", self.external(as_json)),
            Case("external_account, executable", self.executable()),
            Case("external_account, executable, impersonating", self.executable(**acting)),
            Case("external_account, aws", self.aws()),
            Case("external_account, aws, impersonating", self.aws(**acting)),
            Case("external_account, impersonating", self.file(**acting)),
            Case("external_account, config/clouds/google.json", self.shipped()),
            Case("external_account, token_lifetime_seconds", self.file(
                **acting, service_account_impersonation={"token_lifetime_seconds": 2800})),
            Case("external_account, client id and secret", self.file(
                client_id="id.apps", client_secret="GOCSPX-s3 +/%")),
            Case("external_account, workforce pool's project", workforce),
            Case("external_account, workforce pool with a client", dict(
                workforce, client_id="id.apps", client_secret="x")),
            Case("external_account, quota project", self.file(quota_project_id="project-1")),
            Case("external_account, --scope", self.file(), ["--scope=a", "--scope=b"],
                 scopes=["a", "b"]),
            Case("external_account, --workload-identity-provider",
                 self.external({"file": self.path("other")}),
                 ["--workload-identity-provider=" + OTHER_PROVIDER],
                 audience="//iam.googleapis.com/" + OTHER_PROVIDER),
            Case("external_account, --impersonate-service-account", self.file(),
                 ["--impersonate-service-account=" + ACCOUNT], impersonate=ACCOUNT),
            Case("external_account, impersonating twice",
                 self.file(service_account_impersonation_url=url_of(OTHER_ACCOUNT)),
                 ["--impersonate-service-account=" + ACCOUNT], impersonate=ACCOUNT),
        ]

    def other_cases(self):
        delegate = "projects/-/serviceAccounts/" + OTHER_ACCOUNT
        return [
            Case("service_account", self.key()),
            Case("service_account, another universe",
                 self.key(universe_domain="s3nsapis.example")),
            Case("external_account, the account that a ClusterProfile chose", self.file(),
                 ["--allow-impersonation=" + ACCOUNT, "--from-profile",
                  "--impersonate-service-account=" + ACCOUNT], impersonate=ACCOUNT),
            Case("service_account, --impersonate-service-account with a delegate", self.key(),
                 [f"--impersonate-service-account={OTHER_ACCOUNT},{ACCOUNT}"],
                 impersonate=ACCOUNT, delegates=[delegate]),
            Case("authorized_user", self.user()),
            Case("authorized_user, scopes of the file", self.user(scopes=["c", "d"])),
            Case("authorized_user, --scope", self.user(), ["--scope=a", "--scope=b"],
                 user_scopes=["a", "b"]),
            Case("impersonated_service_account of a person", self.impersonated(self.user())),
            Case("impersonated_service_account of a key, with delegates",
                 self.impersonated(self.key(), delegates=[delegate])),
            Case("the metadata server", None),
            Case("the metadata server, impersonating", None,
                 ["--impersonate-service-account=" + ACCOUNT], impersonate=ACCOUNT),
        ]

    def chosen_cases(self):
        """One entry of the mapping, and 50 ClusterProfiles, each with another account."""
        sources = [("external_account", self.file()), ("service_account", self.key()),
                   ("the metadata server", None)]
        return [
            Case(f"{sources[i % 3][0]}, a ClusterProfile's {account}", sources[i % 3][1],
                 ["--allow-impersonation=fleet-*"],
                 config={"impersonateServiceAccount": account}, impersonate=account)
            for i, account in enumerate(FLEET_ACCOUNTS)
        ]
