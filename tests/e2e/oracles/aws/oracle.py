# SPDX-License-Identifier: Apache-2.0
"""Prints the results of botocore, the SDK of the AWS command line, with the same settings.

    oracle.py token CLUSTER REGION TIME   the token that its presigner makes at TIME, with the
                                          keys of the environment
    oracle.py access-key                  the access key ID that its credential chain finds
    oracle.py hosts                       "REGION FIPS DUAL_STACK HOST" for every STS host

The settings are environment variables: AWS_*, HTTPS_PROXY, HOME.
"""

import base64
import datetime
import sys

import botocore.auth
import botocore.awsrequest
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.endpoint_provider import EndpointProvider
from botocore.exceptions import EndpointResolutionError


def token(cluster, region, when):
    """The token that `aws eks get-token` would make at the given time."""
    frozen = datetime.datetime.strptime(when, "%Y%m%dT%H%M%SZ")
    botocore.auth.get_current_datetime = lambda *_, **__: frozen
    session = botocore.session.get_session()
    host = session.create_client("sts", region_name=region).meta.endpoint_url
    request = botocore.awsrequest.AWSRequest(
        "GET",
        f"{host}/?Action=GetCallerIdentity&Version=2011-06-15",
        headers={"x-k8s-aws-id": cluster},
    )
    signer = botocore.auth.SigV4QueryAuth(session.get_credentials(), "sts", region, expires=60)
    signer.add_auth(request)
    encoded = base64.urlsafe_b64encode(request.url.encode()).rstrip(b"=").decode()
    print("k8s-aws-v1." + encoded)


def access_key():
    """Does not retry, because a request that fails in a check is meant to fail."""
    session = botocore.session.get_session()
    session.set_default_client_config(Config(retries={"total_max_attempts": 1}))
    credentials = session.get_credentials()
    if credentials is None:
        raise SystemExit("no credentials")
    print(credentials.get_frozen_credentials().access_key)


def hosts():
    session = botocore.session.get_session()
    loader = session.get_component("data_loader")
    rules = loader.load_service_model("sts", "endpoint-rule-set-1")
    partitions = loader.load_data("partitions")
    provider = EndpointProvider(rules, partitions)
    for partition in partitions["partitions"]:
        for region in sorted(partition["regions"]):
            if region.endswith("-global"):
                continue
            for fips in (False, True):
                for dual_stack in (False, True):
                    try:
                        endpoint = provider.resolve_endpoint(
                            Region=region, UseFIPS=fips, UseDualStack=dual_stack,
                            UseGlobalEndpoint=False,
                        )
                    except EndpointResolutionError:
                        continue
                    host = endpoint.url.removeprefix("https://")
                    print(region, str(fips).lower(), str(dual_stack).lower(), host)


def main():
    command, *arguments = sys.argv[1:]
    try:
        {"token": token, "access-key": access_key, "hosts": hosts}[command](*arguments)
    except (BotoCoreError, ClientError, ValueError) as problem:
        raise SystemExit(f"{type(problem).__name__}: {problem}") from None


if __name__ == "__main__":
    main()
