// SPDX-License-Identifier: Apache-2.0
// execcred-static-secret as clients run it, in front of a hub of a case's own.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"
#include "secret_hub.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr std::string_view kSpoke = "https://spoke-1.example.com:6443";

using Texts = std::vector<std::string>;
using blackbox::Outcome;

// The program with these arguments and variables alone, without cluster information.
blackbox::Command plugin_of(Texts arguments, Texts variables = {});

// What a client sends for a server, with spec.cluster.config and further members of the cluster.
std::string asked(std::string_view server, std::string_view config = "",
                  std::string_view more_of_cluster = "");
// A member of spec.cluster: its CA, in base64.
std::string ca_member(std::string_view pem);

std::string token_of(const Outcome& outcome);

struct Ask {
  Texts arguments = {};
  std::string config = R"({"clusterName":"spoke-1"})";
  std::string server = std::string(kSpoke);
  std::string more_of_cluster = {};
  Texts variables = {};
};

class Plugin {
 public:
  explicit Plugin(const std::string& name_space = "clusters");

  blackbox::Command command(const Ask& ask) const;
  Outcome run(const Ask& ask) const;
  // Without cluster information.
  Outcome run_blind(Texts arguments) const;

  SecretHub hub;
  blackbox::Sandbox sandbox;

 private:
  std::string kubeconfig_;
};

// A token that no message may show.
std::string new_token(std::int64_t seconds = 24L * 3600);
// The same without dots: no JWT.
std::string new_opaque_token();

// A kubeconfig for the spoke, stored by its project; the fields are YAML in the flow style.
std::string stored_kubeconfig(const std::string& user,
                              const std::string& cluster = "server: " + std::string(kSpoke));

}  // namespace execcred::test
