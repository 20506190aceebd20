# SPDX-License-Identifier: Apache-2.0
"""EKS and Oracle's container engine, as far as a kubeconfig is made of their answers.

    platforms.py FILE    listens on 127.0.0.1, and writes its URL to FILE

Of EKS, the cluster "outpost" is one on an Outpost. Oracle's service answers with a whole kubeconfig, to
which oci adds arguments.
"""

import http.server
import json
import os
import sys

OKE = """---
apiVersion: v1
kind: ""
clusters:
- name: cluster-a
  cluster:
    server: https://oke.example.com:6443
    certificate-authority-data: LS0tLS1CRUdJTi0tLS0tCg==
users:
- name: user-a
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: oci
      args:
      - ce
      - cluster
      - generate-token
      - --cluster-id
      - ocid1.cluster.oc1.iad.a
      - --region
      - us-ashburn-1
      env: []
contexts:
- name: context-a
  context:
    cluster: cluster-a
    user: user-a
current-context: context-a
"""


def eks(name):
    cluster = {
        "name": name,
        "arn": f"arn:aws:eks:eu-central-1:111122223333:cluster/{name}",
        "status": "ACTIVE",
        "endpoint": f"https://{name}.example.com",
        "certificateAuthority": {"data": "LS0tLS1CRUdJTi0tLS0tCg=="},
    }
    if name == "outpost":
        cluster["id"] = "11111111-2222-3333-4444-555555555555"
        cluster["outpostConfig"] = {"outpostArns": ["arn:aws:outposts:eu-central-1:111122223333:outpost/op-1"]}
    return json.dumps({"cluster": cluster})


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # pylint: disable=invalid-name
        parent, _, name = self.path.rpartition("/")
        if parent == "/clusters":
            self.answer("application/json", eks(name))
        else:
            self.send_error(404)

    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/kubeconfig/content"):
            self.answer("application/x-yaml", OKE)
        else:
            self.send_error(404)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w", encoding="utf-8") as file:
    file.write(f"http://127.0.0.1:{server.server_port}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
