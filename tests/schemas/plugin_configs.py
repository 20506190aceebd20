# SPDX-License-Identifier: Apache-2.0
"""What each plugin's spec.cluster.config may hold: good and bad configs, and functions that run the
plugin with a config.

A plugin "takes" a config if it does not end with 2, which is a usage or configuration error. Each
plugin is run so that it then ends without a request to any server that exists.
"""
import base64
import json
import os
import tempfile

from program import exec_info, run, token_of


class Disagreement(Exception):
    """The plugin ended in a way that says nothing about the config."""


def is_taken(ran, config, *others):
    """`others` are the exit codes with which the plugin ends here if it accepts the config."""
    if ran.returncode != 2 and ran.returncode not in others:
        raise Disagreement(f"{config} ends with {ran.returncode}: {ran.stderr}")
    return ran.returncode != 2


def given(config):
    """The fields of the config that have a value: null and "" count as missing."""
    return {name for name, value in (config or {}).items() if value not in (None, "")}


def token_file_takes(config):
    """Whether execcred-token-file takes the config, by its exit code. It is run with a token."""
    with tempfile.TemporaryDirectory() as folder:
        for cluster in ("spoke-1", "a.b"):
            os.makedirs(os.path.join(folder, cluster))
            with open(os.path.join(folder, cluster, "token"), "w", encoding="utf-8") as file:
                file.write("opaque")
        pattern = "{clusterName}" if "clusterName" in given(config) else "spoke-1"
        ran = run("execcred-token-file", f"--token-file={folder}/{pattern}/token", "--exec-info=-",
                  text=exec_info(config))
    return is_taken(ran, config, 0, 1)


# Nothing listens there. So the plugin ends with 1 (refused by a rule) or 3 if it takes the config.
NO_HUB = {
    "apiVersion": "v1", "kind": "Config", "current-context": "hub",
    "clusters": [{"name": "hub", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "hub", "user": {"token": "t"}}],
    "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "hub",
                                             "namespace": "fleet"}}],
}


def static_secret_takes(config):
    """Whether execcred-static-secret takes it, by the convention that reads its fields."""
    fields = given(config)
    convention = ("token-secretreader" if fields & {"secretName", "secretNamespace"} else
                  "kubeconfig-secretreader" if fields & {"name", "namespace", "key", "context"} else
                  "generic")
    arguments = ["--exec-info=-", "--timeout=5s", f"--convention={convention}"]
    if not fields & {"name", "secretName"}:
        name = "{clusterName}" if "clusterName" in fields else "x"
        arguments.append(f"--secret-name={name}")
    if "key" not in fields:
        arguments.append("--key=x")
    if not fields & {"namespace", "secretNamespace"}:
        arguments.append("--namespace=fleet")
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = os.path.join(folder, "hub")
        with open(kubeconfig, "w", encoding="utf-8") as file:
            json.dump(NO_HUB, file)
        ran = run("execcred-static-secret", *arguments, text=exec_info(config),
                  env={"KUBECONFIG": kubeconfig, "PATH": os.environ["PATH"]})
    return is_taken(ran, config, 1, 3)


def oidc_federation_takes(config):
    """Whether execcred-oidc-federation takes it, by its exit code. It is run with a token. A client
    ID needs a token server, so then it is run with one that does not answer."""
    if "clientId" in config:
        ran = run("execcred-oidc-federation", "--flow=client-credentials", "--no-cache",
                  "--token-url=https://127.0.0.1:1/", "--timeout=1s", "--allow-client-id=x",
                  "--allow-audience=any", "--exec-info=-", text=exec_info(config))
        return is_taken(ran, config, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(token_of(600))
        ran = run("execcred-oidc-federation", "--flow=pass-through", f"--subject-token-file={path}",
                  "--exec-info=-", text=exec_info(config))
    return is_taken(ran, config, 0, 1)


def azure_takes(config):
    """Whether execcred-azure takes it, by its exit code. It is run with an expired token."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(token_of(-600))
        ran = run("execcred-azure", "--no-cache", "--allow-tenant=contoso.com",
                  "--allow-client-id=99999999-*", "--exec-info=-",
                  text=exec_info(config),
                  env={"AZURE_CLIENT_ID": "99999999-8888-7777-6666-555555555555",
                       "AZURE_TENANT_ID": "11111111-2222-3333-4444-55555555abcd",
                       "AZURE_FEDERATED_TOKEN_FILE": path,
                       "AZURE_AUTHORITY_HOST": "https://127.0.0.1:1"})
    return is_taken(ran, config, 1)


POOL = "projects/123456/locations/global/workloadIdentityPools/pool-1/providers/hub"


def google_takes(config):
    """Whether execcred-google takes it. Its token has expired, so that nothing is exchanged."""
    with tempfile.TemporaryDirectory() as folder:
        subject, path = os.path.join(folder, "token"), os.path.join(folder, "credentials.json")
        with open(subject, "w", encoding="utf-8") as file:
            file.write(token_of(-600))
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"type": "external_account", "audience": "//iam.googleapis.com/" + POOL,
                       "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                       "token_url": "https://sts.googleapis.com/v1/token",
                       "credential_source": {"file": subject}}, file)
        ran = run("execcred-google", f"--credentials-file={path}", "--no-cache",
                  "--allow-audience=//iam.googleapis.com/*", "--allow-impersonation=a@*",
                  "--exec-info=-",
                  text=exec_info(config), env={"HOME": folder})
    return is_taken(ran, config, 1)


def aws_takes(config):
    """Whether execcred-aws takes it. With keys in the environment it signs without a request. For a
    role, it calls an STS that does not answer. Without a cluster name in the config, the arguments
    have one."""
    fields = given(config)
    named = [] if fields & {"clusterId", "clusterName"} else ["--cluster-id=a"]
    ran = run("execcred-aws", "--exec-info=-", "--no-cache", "--timeout=1s",
              "--allow-role=arn:aws:iam::123456789012:role/*", *named, text=exec_info(config),
              env={"HOME": "/nonexistent", "AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "A",
                   "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL_STS": "https://127.0.0.1:1"})
    return is_taken(ran, config, 3 if "roleArn" in fields else 0)


def bootstrap_takes(config):
    """Whether execcred-bootstrap takes it. The inner plugin fails, so there is no request, and any
    CA will do."""
    document = json.loads(exec_info(config))
    authority = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    document["spec"]["cluster"]["certificate-authority-data"] = base64.b64encode(
        authority.encode()).decode()
    ran = run("execcred-bootstrap", "--via=csr", "--user=x", '--credential=["/bin/false"]',
              "--allow-server=https://*.example.com", "--no-cache", "--exec-info=-",
              text=json.dumps(document))
    return is_taken(ran, config, 1)


def wrap_takes(config):
    """Whether execcred-wrap takes it. The program prints a token of the cluster's name."""
    names = isinstance(config, dict) and "clusterName" in given(config)
    command = json.dumps(["/bin/echo", "token-{clusterName}" if names else "t"])
    ran = run("execcred-wrap", "--output=token", "--command=" + command, "--exec-info=-",
              text=exec_info(config))
    return is_taken(ran, config, 0)


def spiffe_takes(config):
    """Whether execcred-spiffe takes it. There is no SPIFFE agent."""
    audience = [] if "audience" in given(config) else ["--audience=x"]
    with tempfile.TemporaryDirectory() as folder:
        ran = run("execcred-spiffe", "--type=jwt", "--allow-audience=any", "--exec-info=-",
                  f"--socket=unix://{folder}/agent.sock", "--timeout=300ms", *audience,
                  text=exec_info(config))
    return is_taken(ran, config, 3)


PLUGINS = {
    "execcred-token-file": {
        "takes": token_file_takes,
        "examples": '',
        "good": [{}, {"clusterName": "spoke-1"}, {"clusterName": "a.b"}, {"region": "eu", "other": [1]},
            {"audience": "x"}, {"audience": ["x", "y"]}, {"audience": None}, {"timeout": None},
            {"clusterName": ""}, {"audience": ""}, {"audience": []}],
        "bad": [{"clusterName": 7}, {"clusterName": "../x"}, {"clusterName": "A"},
           {"audience": 7}, {"audience": [""]}, {"audience": ["x", 1]}, {"audience": "a\nb"},
           {"tokenFile": ""},
           {"cluster": "x"}, {"tokenFile": "/etc/passwd"}, {"allowServer": ["https://evil"]},
           {"timeout": "60s"}, {"debug": True}],
    },
    "execcred-static-secret": {
        "takes": static_secret_takes,
        "examples": 'static-secret',
        "good": [{}, {"clusterName": "spoke-1"}, {"clusterName": "a.b"}, {"region": "eu", "other": [1]},
            {"name": "spoke-1.kubeconfig"}, {"name": "x", "key": "_a.B-9"}, {"namespace": "fleet"},
            {"context": "admin@a/b"}, {"secretName": "x", "secretNamespace": "fleet", "key": "k"},
            {"key": None}, {"timeout": None}, {"clusterName": ""}, {"secretName": ""},
            {"name": "x", "key": "", "namespace": "", "context": ""}],
        "bad": [{"clusterName": 7}, {"clusterName": "../x"}, {"name": "A"},
           {"name": "a/b"}, {"name": ["x"]}, {"namespace": "a.b"},
           {"secretNamespace": 1}, {"key": "a/b"}, {"key": ["x", "y"]},
           {"context": "a\nb"}, {"kubeconfig": ""}, {"cluster": "x"}, {"secretDir": "/etc"},
           {"kubeconfig": "/etc/kubernetes/admin.conf"}, {"allowNamespace": ["any"]},
           {"allowHubToken": True}, {"convention": "generic"}, {"allowServer": ["https://evil"]},
           {"allowProfileCa": True}, {"timeout": "60s"}, {"debug": True}],
    },
    "execcred-oidc-federation": {
        "takes": oidc_federation_takes,
        "examples": 'oidc-federation',
        "good": [{}, {"clusterName": "spoke-1"}, {"clusterName": "a.b"}, {"region": "eu", "other": [1]},
            {"audience": "x"}, {"audience": "y"}, {"audience": ["x", "y"]}, {"audience": None},
            {"clusterName": None}, {"issuerUrl": None}, {"oidcIssuerUrl": "https://a"},
            {"clusterName": ""}, {"audience": ""}, {"clientId": "x"}, {"clientId": ""}],
        "bad": [{"clusterName": 7}, {"audience": 7}, {"audience": [""]}, {"scope": ""},
           {"clientId": 7}, {"clientId": ["x"]}, {"clientId": "a\nb"}, {"allowClientId": "x"},
           {"audience": ["x", 1]}, {"audience": "a\nb"}, {"cluster": "x"},
           {"flow": "token-exchange"}, {"issuerUrl": "https://evil.example.com"},
           {"tokenUrl": "https://evil.example.com"}, {"scope": "admin"}, {"resource": ["x"]},
           {"param": ["a=b"]}, {"subjectTokenFile": "/etc/passwd"},
           {"subjectTokenUrl": "https://evil.example.com"}, {"subjectAudience": "x"},
           {"subjectTokenCommand": "[\"/bin/sh\"]"}, {"serviceAccount": "a/b"},
           {"socket": "unix:///evil"}, {"spiffeId": "spiffe://example.org/x"}, {"hint": "x"},
           {"conciergeEndpoint": "https://evil.example.com"}, {"expectAudience": "x"},
           {"cacheDir": "/tmp"}, {"noCache": True}, {"allowServer": ["https://evil"]},
           {"allowAudience": ["any"]}, {"timeout": "60s"}, {"debug": True}],
    },
    "execcred-azure": {
        "takes": azure_takes,
        "examples": 'azure',
        "good": [{}, {"clusterName": "spoke-1"}, {"region": "eu", "other": [1]}, {"tenantId": None},
            {"tenantId": "11111111-2222-3333-4444-55555555ABCD"}, {"tenantId": "Contoso.com"},
            {"tenantID": "x"}, {"tenantId": ""}, {"clientId": ""},
            {"clientId": "99999999-8888-7777-6666-555555555555"}],
        "bad": [{"clusterName": 7}, {"tenantId": 7}, {"tenantId": "common"},
           {"tenantId": "../x"}, {"tenantId": "a/b.c"}, {"tenantId": "a..b"}, {"tenantId": "a.b."},
           {"tenantId": ["contoso.com"]}, {"tenantId": "contoso.com\nx"}, {"tenantId": "-a.b"},
           {"tenantId": "11111111-2222-3333-4444-55555555abc"}, {"cluster": "x"},
           {"clientId": "x"}, {"clientId": "99999999-8888-7777-6666-55555555555"}, {"clientId": 7},
           {"allowClientId": "99999999-8888-7777-6666-555555555555"}, {"identity": "managed"},
           {"authorityHost": "https://evil.example.com"}, {"federatedTokenFile": "/etc/passwd"},
           {"serverId": "api://x"}, {"allowTenant": ["contoso.com"]}, {"caFile": "/etc/passwd"},
           {"identityResourceId": "/subscriptions/x"}, {"allowServer": ["https://evil"]},
           {"cacheDir": "/tmp"}, {"noCache": True}, {"timeout": "60s"}, {"debug": True}],
    },
    "execcred-google": {
        "takes": google_takes,
        "examples": 'google',
        "good": [{}, {"workloadIdentityProvider": POOL}, {"workloadIdentityProvider": None},
             {"clusterName": "a"}, {"scope": None}, {"other": [1]},
             {"workloadIdentityProvider": ""}, {"impersonateServiceAccount": ""},
             {"impersonateServiceAccount": "a@b.iam.gserviceaccount.com"}],
        "bad": [{"workloadIdentityProvider": 7},
           {"workloadIdentityProvider": [POOL]}, {"workloadIdentityProvider": POOL + "/"},
           {"workloadIdentityProvider": "//iam.googleapis.com/" + POOL},
           {"workloadIdentityProvider": POOL.replace("123456", "x")},
           {"workloadIdentityProvider": POOL.replace("global", "eu")},
           {"workloadIdentityProvider": POOL + "\nx"}, {"workloadIdentityProvider": "a b"},
           {"clusterName": 7}, {"cluster": "x"}, {"scope": "x"}, {"credentialsFile": "/etc/passwd"},
           {"impersonateServiceAccount": "a@b/c"}, {"impersonateServiceAccount": ["a@b.c"]},
           {"allowImpersonation": "a@b.iam.gserviceaccount.com"}, {"caFile": "/etc/passwd"},
           {"allowEndpoint": "https://evil.example.com"}, {"allowAudience": ["any"]},
           {"allowServer": ["https://evil"]}, {"cacheDir": "/tmp"}, {"noCache": True},
           {"timeout": "60s"}, {"debug": True}],
    },
    "execcred-aws": {
        "takes": aws_takes,
        "examples": 'aws',
        "good": [{}, {"clusterId": "a"}, {"clusterName": "a"}, {"clusterId": "a", "clusterName": "a"},
             {"clusterId": "a", "clusterName": "arn:aws:eks:us-west-2:123456789012:cluster/a"},
             {"clusterId": "A_1.b-c", "region": "us-gov-west-1"}, {"region": None},
             {"roleArn": None}, {"roleArn": "arn:aws:iam::123456789012:role/x"}, {"roleArn": ""},
             {"of": "x"}, {"clusterId": "a" * 253}, {"clusterId": "", "region": ""},
             {"clusterId": "", "clusterName": "a"}, {"clusterId": "a", "clusterName": ""}],
        "bad": [{"clusterId": 7}, {"clusterId": "", "clusterName": "a/b"}, {"clusterId": "a b"}, {"clusterId": "-a"},
           {"clusterId": ["a"]}, {"clusterId": "a" * 254}, {"clusterId": "a\nb"},
           {"clusterName": "a/b"}, {"clusterId": None, "clusterName": "a/b"},
           {"clusterId": "a", "clusterName": 7},
           {"clusterId": "a", "clusterName": "a\nb"}, {"region": "us-west"}, {"region": "../"}, {"region": 7},
           {"region": "US-WEST-2"}, {"roleArn": "arn:aws:iam::123456789012:role/x/"}, {"roleArn": 7},
           {"roleArn": "arn:aws:iam::1:role/x"}, {"roleArn": ["arn:aws:iam::123456789012:role/x"]},
           {"allowRole": "arn:aws:iam::123456789012:role/x"},
           {"sessionName": "xx"}, {"externalId": "xx"}, {"profile": "xx"}, {"cacheDir": "/tmp"},
           {"noCache": True}, {"refreshBefore": "1s"}, {"allowServer": ["https://evil"]},
           {"cluster": "xx"}, {"debug": True}, {"timeout": "60s"}],
    },
    "execcred-bootstrap": {
        "takes": bootstrap_takes,
        "examples": 'bootstrap',
        "good": [{}, None, "text", 7, [1], {"clusterName": 7}, {"clusterName": "NO NAME"},
             {"via": "csr"}, {"lifetime": 7}, {"audience": ["x", 1]}, {"user": "admin"},
             {"credential": ["/bin/false"]}, {"allowServer": ["https://evil"]}, {"debug": True}],
        "bad": [],
    },
    "execcred-wrap": {
        "takes": wrap_takes,
        "examples": 'wrap',
        "good": [{}, None, "text", 7, [1], {"clusterName": "a.b"}, {"clusterName": ""},
             {"clusterName": None}, {"command": ["/bin/false"]}, {"cluster": 7}, {"timeout": 7},
             {"allowServer": ["https://evil"]}, {"passCluster": "x"}, {"team": ["x"]}],
        "bad": [{"clusterName": 7}, {"clusterName": ["a"]}, {"clusterName": "A_b"},
           {"clusterName": "../x"}],
    },
    "execcred-spiffe": {
        "takes": spiffe_takes,
        "examples": 'spiffe',
        "good": [{}, {"clusterName": "spoke-1"}, {"region": "eu", "other": [1]}, {"audience": "x"},
             {"audience": ["x", "y"]}, {"audience": None}, {"hint": None}, {"spiffeID": "x"},
             {"clusterName": ""}, {"audience": ""}],
        "bad": [{"clusterName": 7}, {"audience": 7}, {"audience": [""]},
           {"audience": ["x", 1]}, {"audience": "a\nb"}, {"cluster": "x"}, {"type": "x509"},
           {"socket": "unix:///evil"}, {"spiffeId": "spiffe://example.org/x"}, {"hint": "x"},
           {"trustDomain": "example.com"}, {"allowEmptyCn": True}, {"maxAge": "1h"},
           {"allowServer": ["https://evil"]}, {"allowAudience": ["any"]}, {"timeout": "60s"},
           {"debug": True}],
    },
}
