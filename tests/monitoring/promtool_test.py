#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the alert rules and the dashboard of config/ with promtool of Prometheus.

promtool_test.py SOURCE PROMTOOL: the rules and the expressions of the dashboard are valid (the
expressions are put into a rule file for this). They name only metrics that doctor or sync writes.
An alert fires only in the cases in which it must.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, PROMTOOL = sys.argv[1:3]
FOLDER = os.path.join(SOURCE, "config", "monitoring")
RULES = os.path.join(FOLDER, "execcred-alerts.yaml")
SYNC_RULES = os.path.join(SOURCE, "config", "sync", "alerts.yaml")
SYNC_METRICS = {"execcred_credential_expiry_timestamp_seconds",
                "execcred_credential_lifetime_seconds", "execcred_sync_clusters",
                "execcred_sync_renewals_total", "execcred_sync_failures_total",
                "execcred_sync_plugin_duration_seconds_bucket", "execcred_sync_watch_up"}
METRICS = {"execcred_cluster_ok", "execcred_credential_expiry_timestamp_seconds",
           "execcred_ca_expiry_timestamp_seconds", "execcred_check_duration_seconds"}
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("not ok:", what)


def promtool(*arguments):
    return subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)


def expressions():
    with open(os.path.join(FOLDER, "execcred-dashboard.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def names_of(text):
    return set(re.findall(r"\bexeccred_\w+", text))


UNIT_TEST = """
rule_files: [rules.yaml]
evaluation_interval: 1m
tests:
- name: all is well, and one cluster of eleven failed for a moment
  interval: 1m
  input_series:
  - series: 'execcred_cluster_ok{namespace="fleet",name="a",provider="p",cause="connect-refused"}'
    values: '1x20 0x10 1x230'
  - series: 'execcred_cluster_ok{namespace="fleet",name="b",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="c",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="d",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="e",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="f",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="g",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="h",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="i",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="j",provider="p"}'
    values: '1x260'
  - series: 'execcred_cluster_ok{namespace="fleet",name="k",provider="p"}'
    values: '1x260'
  - series: 'execcred_ca_expiry_timestamp_seconds{namespace="fleet",name="a",provider="p"}'
    values: '31536000x260'
  - series: 'execcred_check_duration_seconds{namespace="fleet",name="a",provider="p"}'
    values: '0.5x260'
  - series: 'node_textfile_mtime_seconds{file="/var/lib/node_exporter/execcred.prom"}'
    values: '0+60x260'
  - series: 'node_textfile_mtime_seconds{file="/var/lib/node_exporter/other.prom"}'
    values: '0x260'
  alert_rule_test:
  - {eval_time: 30m, alertname: ExeccredClusterFails}
  - {eval_time: 30m, alertname: ExeccredManyClustersFail}
  - {eval_time: 4h, alertname: ExeccredCertificateAuthorityEndsSoon}
  - {eval_time: 4h, alertname: ExeccredChecksAreSlow}
  - {eval_time: 4h, alertname: ExeccredDoctorDoesNotRun}

- name: half of the clusters fail, and the CA of the other ends
  interval: 1m
  input_series:
  - series: 'execcred_cluster_ok{namespace="fleet",name="one",provider="p",cause="connect-refused"}'
    values: '0x60'
  - series: 'execcred_cluster_ok{namespace="fleet",name="two",provider="p"}'
    values: '1x60'
  - series: 'execcred_ca_expiry_timestamp_seconds{namespace="fleet",name="two",provider="p"}'
    values: '86400x60'
  alert_rule_test:
  - {eval_time: 10m, alertname: ExeccredClusterFails}
  - eval_time: 30m
    alertname: ExeccredClusterFails
    exp_alerts:
    - exp_labels: {severity: warning, namespace: fleet, name: one, provider: p, cause: connect-refused}
      exp_annotations:
        summary: 'Cluster fleet/one does not work: connect-refused'
        description: 'docs/causes.md explains connect-refused. `execcred doctor --name fleet/one` shows each step.'
  - {eval_time: 4m, alertname: ExeccredManyClustersFail}
  - eval_time: 6m
    alertname: ExeccredManyClustersFail
    exp_alerts:
    - exp_labels: {severity: critical}
      exp_annotations:
        summary: '50% of the clusters do not work'
        description: 'Something that they share may be at fault: a token server, the network, this machine.'
  - eval_time: 30m
    alertname: ExeccredCertificateAuthorityEndsSoon
    exp_alerts:
    - exp_labels: {severity: warning, namespace: fleet, name: two, provider: p}
      exp_annotations:
        summary: 'The CA of fleet/two ends in 23h 30m 0s'
        description: 'Put the new CA beside it into the ClusterProfile before that.'

- name: checks of nine seconds, by a job that stops after an hour
  interval: 1m
  input_series:
  - series: 'execcred_check_duration_seconds{namespace="fleet",name="one",provider="p"}'
    values: '9x260'
  - series: 'execcred_check_duration_seconds{namespace="fleet",name="two",provider="p"}'
    values: '9x260'
  - series: 'node_textfile_mtime_seconds{file="/var/lib/node_exporter/execcred.prom"}'
    values: '0+60x60 3600x200'
  alert_rule_test:
  - {eval_time: 20m, alertname: ExeccredChecksAreSlow}
  - eval_time: 40m
    alertname: ExeccredChecksAreSlow
    exp_alerts:
    - exp_labels: {severity: warning}
      exp_annotations:
        summary: 'Most checks take up to 9s'
        description: 'Clients wait for a plugin that long, too.'
  - {eval_time: 4h, alertname: ExeccredDoctorDoesNotRun}
  - eval_time: 4h1m
    alertname: ExeccredDoctorDoesNotRun
    exp_alerts:
    - exp_labels: {severity: warning, file: /var/lib/node_exporter/execcred.prom}
      exp_annotations:
        summary: 'execcred doctor has written nothing for 3h 1m 0s'
        description: 'Look at the job that runs it.'
"""

# Two processes, one of which writes. promtool's clock begins at 0: an expiry of 3000 is after 50
# minutes.
SYNC_UNIT_TEST = """
rule_files: [rules.yaml]
evaluation_interval: 1m
tests:
- name: all is well, with credentials of an hour and of a day
  interval: 1m
  input_series:
  - series: 'execcred_credential_expiry_timestamp_seconds{namespace="fleet",name="hour",provider="p",instance="one"}'
    values: '3600x40 6000x40 8400x40 10800x40 13200x40 15600x40 18000x40'
  - series: 'execcred_credential_expiry_timestamp_seconds{namespace="fleet",name="day",provider="p",instance="one"}'
    values: '86400x280'
  - series: 'execcred_credential_lifetime_seconds{namespace="fleet",name="hour",provider="p",instance="one"}'
    values: '3600x280'
  - series: 'execcred_credential_lifetime_seconds{namespace="fleet",name="day",provider="p",instance="one"}'
    values: '86400x280'
  - series: 'execcred_credential_expiry_timestamp_seconds{namespace="fleet",name="none",provider="p",instance="one"}'
    values: 'Inf+0x280'
  - series: 'execcred_credential_lifetime_seconds{namespace="fleet",name="none",provider="p",instance="one"}'
    values: 'Inf+0x280'
  - series: 'execcred_sync_renewals_total{instance="one"}'
    values: '2x280'
  - series: 'execcred_sync_renewals_total{instance="two"}'
    values: '0x280'
  - series: 'execcred_sync_clusters{instance="one"}'
    values: '2x280'
  - series: 'execcred_sync_clusters{instance="two"}'
    values: '2x280'
  - series: 'execcred_sync_watch_up{instance="one"}'
    values: '1x280'
  - series: 'execcred_sync_failures_total{cause="source-unavailable",instance="one"}'
    values: '3x280'
  - series: 'execcred_sync_plugin_duration_seconds_bucket{le="1",instance="one"}'
    values: '0+10x280'
  - series: 'execcred_sync_plugin_duration_seconds_bucket{le="+Inf",instance="one"}'
    values: '0+10x280'
  alert_rule_test:
  - {eval_time: 4h30m, alertname: ExeccredCredentialEnds}
  - {eval_time: 4h30m, alertname: ExeccredSyncFails}
  - {eval_time: 4h30m, alertname: ExeccredSyncDoesNotWatch}
  - {eval_time: 4h30m, alertname: ExeccredSyncDoesNotWrite}
  - {eval_time: 4h30m, alertname: ExeccredPluginsAreSlow}

- name: credentials of five minutes that are renewed after two thirds, and one that nobody renews
  interval: 10s
  input_series:
  - series: 'execcred_credential_expiry_timestamp_seconds{namespace="fleet",name="a",provider="p"}'
    values: '300x80'
  - series: 'execcred_credential_lifetime_seconds{namespace="fleet",name="a",provider="p"}'
    values: '300x80'
  - series: 'execcred_credential_expiry_timestamp_seconds{namespace="fleet",name="b",provider="p"}'
    values: '300x20 500x20 700x20 900x20'
  - series: 'execcred_credential_lifetime_seconds{namespace="fleet",name="b",provider="p"}'
    values: '300x80'
  alert_rule_test:
  - {eval_time: 4m, alertname: ExeccredCredentialEnds}
  - eval_time: 5m
    alertname: ExeccredCredentialEnds
    exp_alerts:
    - exp_labels: {severity: critical, namespace: fleet, name: a, provider: p}
      exp_annotations:
        summary: 'The credential of fleet/a is not renewed'
        description: '`execcred doctor --name fleet/a` shows each step.'

- name: a credential of an hour that nobody renews
  interval: 1m
  input_series:
  - series: 'execcred_credential_expiry_timestamp_seconds{namespace="fleet",name="a",provider="p"}'
    values: '3600x120'
  - series: 'execcred_credential_lifetime_seconds{namespace="fleet",name="a",provider="p"}'
    values: '3600x120'
  alert_rule_test:
  - {eval_time: 54m, alertname: ExeccredCredentialEnds}
  - eval_time: 55m
    alertname: ExeccredCredentialEnds
    exp_alerts:
    - exp_labels: {severity: critical, namespace: fleet, name: a, provider: p}
      exp_annotations:
        summary: 'The credential of fleet/a is not renewed'
        description: '`execcred doctor --name fleet/a` shows each step.'

- name: a cause that stays
  interval: 1m
  input_series:
  - series: 'execcred_sync_failures_total{cause="target-refused",instance="one"}'
    values: '0+1x60'
  alert_rule_test:
  - {eval_time: 10m, alertname: ExeccredSyncFails}
  - eval_time: 40m
    alertname: ExeccredSyncFails
    exp_alerts:
    - exp_labels: {severity: warning, cause: target-refused}
      exp_annotations:
        summary: 'Some credentials are not written: target-refused'
        description: 'docs/causes.md and docs/execcred-sync.md explain target-refused. The log names the clusters.'

- name: the inventory is not watched
  interval: 1m
  input_series:
  - series: 'execcred_sync_watch_up{instance="one"}'
    values: '1x5 0x60'
  alert_rule_test:
  - {eval_time: 10m, alertname: ExeccredSyncDoesNotWatch}
  - eval_time: 30m
    alertname: ExeccredSyncDoesNotWatch
    exp_alerts:
    - exp_labels: {severity: warning, instance: one}
      exp_annotations:
        summary: 'execcred sync does not see all changes'
        description: 'Known clusters are renewed. Until it sees the inventory again, new ones get no credential, and nothing is removed. The log says why.'

- name: two processes that both wait for the Lease
  interval: 1m
  input_series:
  - series: 'execcred_sync_clusters{instance="one"}'
    values: '2x120'
  - series: 'execcred_sync_clusters{instance="two"}'
    values: '2x120'
  alert_rule_test:
  - {eval_time: 10m, alertname: ExeccredSyncDoesNotWrite}
  - eval_time: 30m
    alertname: ExeccredSyncDoesNotWrite
    exp_alerts:
    - exp_labels: {severity: critical}
      exp_annotations:
        summary: 'execcred sync has written no credential of any cluster'
        description: 'No process may hold the Lease: look at the log, and at the rights to it.'

- name: plugins that take eight seconds
  interval: 1m
  input_series:
  - series: 'execcred_sync_plugin_duration_seconds_bucket{le="5"}'
    values: '0x120'
  - series: 'execcred_sync_plugin_duration_seconds_bucket{le="10"}'
    values: '0+10x120'
  - series: 'execcred_sync_plugin_duration_seconds_bucket{le="+Inf"}'
    values: '0+10x120'
  alert_rule_test:
  - eval_time: 60m
    alertname: ExeccredPluginsAreSlow
    exp_alerts:
    - exp_labels: {severity: warning}
      exp_annotations:
        summary: 'One plugin in twenty takes longer than 9.75s'
        description: 'A plugin is ended after nine seconds.'
"""


def check_rules(path, metrics, unit_test, scratch):
    """Checks that the rules are valid, name only these metrics, and pass promtool's unit test."""
    checked = promtool("check", "rules", path)
    check(checked.returncode == 0, f"the rules of {path}: {checked.stdout}{checked.stderr}")
    with open(path, encoding="utf-8") as file:
        rules = file.read()
    check(names_of(rules) <= metrics, f"the metrics of {path}: {names_of(rules) - metrics}")
    with open(os.path.join(scratch, "rules.yaml"), "w", encoding="utf-8") as file:
        file.write(rules)
    with open(os.path.join(scratch, "test.yaml"), "w", encoding="utf-8") as file:
        file.write(unit_test)
    checked = promtool("test", "rules", os.path.join(scratch, "test.yaml"))
    check(checked.returncode == 0, f"the alerts of {path}: {checked.stdout}{checked.stderr}")
    for alert in re.findall(r"- alert: (\w+)", rules):
        tested = re.search(rf"alertname: {alert}\n *exp_alerts", unit_test)
        check(tested is not None, f"a case in which {alert} of {path} fires")


with tempfile.TemporaryDirectory() as scratch:
    check_rules(RULES, METRICS, UNIT_TEST, scratch)
    check_rules(SYNC_RULES, SYNC_METRICS, SYNC_UNIT_TEST, scratch)

    found = expressions()
    check(len(found) >= 5, "the dashboard has expressions")
    generated = {"groups": [{"name": "dashboard", "rules": [
        {"record": f"dashboard:panel{i}", "expr": expr.replace("$provider", ".*")}
        for i, expr in enumerate(found)]}]}
    path = os.path.join(scratch, "dashboard.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(generated, file)
    checked = promtool("check", "rules", path)
    check(checked.returncode == 0, f"the dashboard: {checked.stdout}{checked.stderr}")
    check(names_of(" ".join(found)) == METRICS, "the dashboard shows each metric of doctor, and no other")

print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
