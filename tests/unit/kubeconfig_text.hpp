// SPDX-License-Identifier: Apache-2.0
// Kubeconfigs in YAML with one cluster "c", one user "u" and one context "x", whose fields are
// given in the flow style: "token: t".
#pragma once

#include <string>

namespace execcred::test {

struct KubeconfigText {
  std::string cluster = "server: https://10.0.0.1:6443";
  std::string user = "token: t";
  std::string context = "cluster: c, user: u";
  std::string more = {};

  std::string text() const {
    return "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: c\n  cluster: {" +
           cluster + "}\nusers:\n- name: u\n  user: {" + user +
           "}\ncontexts:\n- name: x\n  context: {" + context + "}\n" + more;
  }
};

}  // namespace execcred::test
