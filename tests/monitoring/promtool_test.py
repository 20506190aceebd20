#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The alert rules and the dashboard of config/monitoring, put to Prometheus's own promtool.

promtool_test.py SOURCE PROMTOOL: the rules are valid, every expression of the dashboard is one (in a
rule file made for this), both name only metrics that doctor writes, and an alert fires where it must.
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
- interval: 1m
  input_series:
  - series: 'execcred_cluster_ok{namespace="fleet",name="one",provider="p",cause="connect-refused"}'
    values: '0x60'
  - series: 'execcred_cluster_ok{namespace="fleet",name="two",provider="p"}'
    values: '1x60'
  - series: 'execcred_ca_expiry_timestamp_seconds{namespace="fleet",name="two",provider="p"}'
    values: '86400x60'
  alert_rule_test:
  - eval_time: 30m
    alertname: ExeccredClusterFails
    exp_alerts:
    - exp_labels: {severity: warning, namespace: fleet, name: one, provider: p, cause: connect-refused}
      exp_annotations:
        summary: 'Cluster fleet/one does not work: connect-refused'
        description: 'docs/causes.md explains connect-refused. `execcred doctor --name fleet/one` shows each step.'
  - eval_time: 30m
    alertname: ExeccredCertificateAuthorityEndsSoon
    exp_alerts:
    - exp_labels: {severity: warning, namespace: fleet, name: two, provider: p}
      exp_annotations:
        summary: 'The CA of fleet/two ends in 23h 30m 0s'
        description: 'Put the new CA beside it into the ClusterProfile before that.'
"""

with tempfile.TemporaryDirectory() as scratch:
    checked = promtool("check", "rules", RULES)
    check(checked.returncode == 0, f"the alert rules: {checked.stdout}{checked.stderr}")
    with open(RULES, encoding="utf-8") as file:
        rules = file.read()
    check(names_of(rules) <= METRICS, f"the metrics of the rules: {names_of(rules) - METRICS}")

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
    check(names_of(" ".join(found)) <= METRICS, "the dashboard's metrics are doctor's")

    with open(os.path.join(scratch, "rules.yaml"), "w", encoding="utf-8") as file:
        file.write(rules)
    with open(os.path.join(scratch, "test.yaml"), "w", encoding="utf-8") as file:
        file.write(UNIT_TEST)
    checked = promtool("test", "rules", os.path.join(scratch, "test.yaml"))
    check(checked.returncode == 0, f"the alerts fire: {checked.stdout}{checked.stderr}")

print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
