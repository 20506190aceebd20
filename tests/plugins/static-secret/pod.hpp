// SPDX-License-Identifier: Apache-2.0
// The plugin inside a Pod: with a service account's files where the kubelet mounts them.
#pragma once

#include "plugin.hpp"

#include <string>

namespace execcred::test {

struct ServiceAccount {
  std::string token = {};
  std::string name_space = "pod-namespace";
  std::string ca = {};
  // Of Istio's workload-spiffe-credentials, if any.
  std::string workload_certificate = {};
  std::string workload_key = {};
};

// Whether run_in_pod() is permitted; if not, the test is reported as skipped.
bool can_be_pod();

// Runs it in a new mount namespace, in which /run contains only these files.
Outcome run_in_pod(blackbox::Command command, const ServiceAccount& account);

}  // namespace execcred::test
