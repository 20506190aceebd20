# SPDX-License-Identifier: Apache-2.0
"""The paths of the command line. Some write files, each of which must be the complete old or the
complete new one, with no leftovers."""
import collections
import json
import os
import re
import shutil
import socket
import stat
import time

import plugin_paths
import servers
import stand_ins
from path import (GRACE, OTHER_SERVER, SERVER, TIMEOUT, Path, input_token, service_account_token)

# The generation of a folder has a new name each time.
CHANGING = re.compile(r"^\.\.\d{4}_[0-9_]+\.[0-9a-f]{16}$")


def profile(server):
    return json.dumps({
        "apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
        "metadata": {"name": "member", "namespace": "fleet"},
        "status": {"accessProviders": [{"name": "file", "cluster": {"server": server}}]}})


def contents(root):
    """The files below a folder that a reader would find: their names and their content."""
    found = {}
    for directory, _, files in os.walk(root, followlinks=True):
        for name in files:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def names_below(root):
    """Counts each name, also hidden ones. Names that change are replaced by a fixed form."""
    found = collections.Counter()
    for directory, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.relpath(os.path.join(directory, name), root)
            found["/".join(CHANGING.sub("..generation", part) for part in path.split("/"))] += 1
    return found


class Command(Path):
    """A command that writes `target` in the state folder. The old content is that of make(), the
    new content that after a run."""
    lists = True

    def __init__(self, name, arguments, make, target, readable):
        super().__init__(name, "execcred", arguments, make=make)
        self.target = target
        self.readable = readable
        self.old = {}
        self.new = {}
        self.names = {}

    def prepare(self, sandbox, environment):
        self.make(sandbox, environment)
        self.before(sandbox, environment)
        sandbox.keep()
        self.old[sandbox.directory] = self.seen(sandbox)
        outcome = self.run(sandbox, environment)
        if outcome.exit_code != 0:
            raise RuntimeError(
                f"{self.name}: {outcome.exit_code} without a fault: {outcome.stderr}")
        self.new[sandbox.directory] = self.seen(sandbox)
        self.names[sandbox.directory] = names_below(sandbox.state)
        if self.new[sandbox.directory] == self.old[sandbox.directory]:
            raise RuntimeError(f"{self.name}: a run without a fault has changed nothing")

    def before(self, sandbox, environment):
        """Makes the files of an earlier run."""

    def seen(self, sandbox):
        return self.readable(sandbox.at("state", self.target))

    def wrong_answer(self, sandbox, stdout):
        del stdout
        is_new = self.seen(sandbox) == self.new[sandbox.directory]
        return None if is_new else "exit code 0, but the target is not the new one"

    def torn(self, sandbox):
        """Checks each name separately, because a command may end between two files."""
        seen = self.seen(sandbox)
        old, new = self.old[sandbox.directory], self.new[sandbox.directory]
        for name, content in seen.items():
            if content not in (old.get(name), new.get(name)):
                return f"'{name}' is neither old nor new"
        for name in old.keys() & new.keys():
            if name not in seen:
                return f"'{name}' is gone"
        return None

    def left_over(self, sandbox):
        more = names_below(sandbox.state) - self.names[sandbox.directory]
        return "left over: " + ", ".join(sorted(more)) if more else None


def mapping(sandbox, environment):
    sandbox.write("mapping.json", json.dumps({"providers": [{
        "name": "file", "execConfig": {
            "apiVersion": "client.authentication.k8s.io/v1", "provideClusterInfo": True,
            "interactiveMode": "Never",
            "command": os.path.join(environment.bin, "execcred-token-file"),
            "args": [f"--token-file={sandbox.at('in')}/{{server.host}}.token",
                     f"--timeout={TIMEOUT}s", "--allow-server=https://*.example.com:6443"]}}]}),
                  0o644)


def fleet(sandbox, environment):
    mapping(sandbox, environment)
    for number in (1, 2):
        sandbox.write(f"member-{number}.example.com.token", service_account_token(f"c{number}"))
    for name, server in (("old", OTHER_SERVER), ("new", SERVER)):
        sandbox.write(f"{name}.json", profile(server), 0o644)


def from_fleet(*arguments):
    return lambda sandbox, _: [
        arguments[0], "-m", sandbox.at("in", "mapping.json"), "-f", sandbox.at("in", "new.json"),
        *(each.format(state=sandbox.state, inputs=sandbox.inputs) for each in arguments[1:])]


class FromOldProfile(Command):
    """The old content is what the same command writes for another server."""

    def before(self, sandbox, environment):
        command = [each.replace("in/new.json", "in/old.json")
                   for each in self.command(sandbox, environment)]
        outcome = sandbox.run(command, {"PATH": "/usr/bin:/bin"}, TIMEOUT + GRACE)
        if outcome.exit_code != 0:
            raise RuntimeError(f"{self.name}: no old target: {outcome.stderr}")


def make_clusters(sandbox, environment):
    fleet(sandbox, environment)
    os.mkdir(sandbox.at("state", "clusters"), 0o700)


class SyncSecrets(FromOldProfile):
    """The Secrets of the sandbox's own hub. A run is over when the hub has answered all of its
    requests."""
    hubs = {}

    def run(self, sandbox, environment, under=(), variables=None):
        outcome = super().run(sandbox, environment, under, variables)
        await_idle(self.hubs[sandbox.directory])
        return outcome


def await_idle(server):
    """Waits until each connection is closed. The server accepts this one after those of the run."""
    with socket.create_connection(server.server_address, GRACE) as ours:
        ours.shutdown(socket.SHUT_WR)
        ours.recv(1)
    deadline = time.monotonic() + GRACE
    while server.is_busy():
        if time.monotonic() > deadline:
            raise RuntimeError("a hub still has a connection after its client has ended")
        time.sleep(0.001)


def make_hub(sandbox, environment):
    fleet(sandbox, environment)
    os.mkdir(sandbox.at("state", "hub"), 0o700)
    if sandbox.directory not in SyncSecrets.hubs:
        store = stand_ins.SecretStore(sandbox.at("state", "hub"), "token-of-the-hub")
        SyncSecrets.hubs[sandbox.directory] = servers.serve_json(
            store.answer, environment.servers.stand_in_ca, environment.servers.stand_in_key)
    cluster = plugin_paths.stand_in_cluster(environment)
    cluster["server"] = SyncSecrets.hubs[sandbox.directory].url
    sandbox.write("hub", plugin_paths.kubeconfig(cluster, "token-of-the-hub"))


def secrets_of(root):
    """The parts of each Secret that readers use, without the time of the next renewal."""
    found = {}
    for name, text in contents(root).items():
        secret = json.loads(text)
        secret["data"].pop("expiration", None)
        found[name] = [secret["type"], secret["data"], secret["metadata"]["labels"]]
    return found


def make_from_hub(sandbox, environment):
    fleet(sandbox, environment)
    sandbox.write("hub", plugin_paths.hub_kubeconfig(environment))


class Install(Command):
    """Runs a copy of the program next to a small plugin. A real plugin has many more blocks, and
    a run of strace for each of them would show nothing new."""

    def command(self, sandbox, environment):
        program = sandbox.at("in", "bin", "execcred")
        if not os.path.exists(program):
            shutil.copy2(os.path.join(environment.bin, "execcred"), program)
        return [program, *self.arguments(sandbox, environment)]


def make_plugins(sandbox, _):
    sandbox.write("bin/execcred-token-file", "#!/bin/sh\nexit 0\n" + "# new\n" * 20000, 0o755)
    os.mkdir(sandbox.at("state", "plugins"), 0o755)
    path = sandbox.at("state", "plugins", "execcred-token-file")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod(path, 0o555)


def cluster_files(root):
    """The credential and the server of each cluster, as a reader gets them by reading the link
    ..data once."""
    whole = {}
    for space in sorted(os.listdir(root)):
        for name in sorted(os.listdir(os.path.join(root, space))):
            data = os.path.join(root, space, name, "..data")
            if os.path.isdir(data) and not name.startswith("."):
                found = contents(data)
                whole[f"{space}/{name}"] = [found.get(file)
                                            for file in ("token", "server", "kubeconfig")]
    return whole


def plugin_files(root):
    """The programs that a mapping could run, so without hidden names."""
    return {name: (content, stat.S_IMODE(os.stat(os.path.join(root, name)).st_mode))
            for name, content in contents(root).items() if not name.startswith(".")}


def one_file(path):
    if not os.path.exists(path):
        return {}
    with open(path, "rb") as file:
        return {"file": file.read()}


PATHS = [
    Path("execcred get", "execcred", from_fleet("get", "-o", "exec-credential"), make=fleet,
         is_true=input_token("member-1.example.com.token")),
    FromOldProfile("execcred kubeconfig -o", from_fleet("kubeconfig", "-o", "{state}/config"),
                   fleet, "config", one_file),
    Command("execcred sync --to-dir, a new folder",
            from_fleet("sync", "--once", "--to-dir={state}/clusters"),
            make_clusters, "clusters", cluster_files),
    FromOldProfile("execcred sync --to-dir, another server",
                   from_fleet("sync", "--once", "--to-dir={state}/clusters"),
                   make_clusters, "clusters", cluster_files),
    SyncSecrets("execcred sync --to-secret, another server",
                from_fleet("sync", "--once", "--to-secret=token", "--secret-namespace=fleet",
                           "--kubeconfig={inputs}/hub"),
                make_hub, "hub", secrets_of),
    Path("execcred get --from-hub", "execcred",
         lambda sandbox, _: ["get", "-m", sandbox.at("in", "mapping.json"), "--from-hub",
                             f"--kubeconfig={sandbox.at('in', 'hub')}", "-o", "exec-credential"],
         make=make_from_hub, is_true=input_token("member-1.example.com.token"),
         is_for_replies=True, timeout=60),
    Install("execcred install",
            lambda sandbox, _: ["install", "--plugin=execcred-token-file",
                                sandbox.at("state", "plugins")],
            make_plugins, "plugins", plugin_files),
]
