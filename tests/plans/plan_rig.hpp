// SPDX-License-Identifier: Apache-2.0
// Makes plans of plugins in this process, and compares their cache keys. No plan asks anybody, so
// no server is needed.
#pragma once

#include "sandbox.hpp"

#include <execcred/exec/provider.hpp>

#include <string>
#include <utility>
#include <vector>

namespace execcred::test {

// One input, and another value of it that the plugin accepts too.
struct Input {
  std::string name = {};  // an option, a variable, or a file of the case's folder
  std::string value = {};
  std::string other = {};
  // Why the other value must give the same key; empty: it must give another one.
  std::string same_because = {};
};

// A configuration of a plugin. FOLDER in a value stands for the case's folder.
struct PlanCase {
  std::string name = {};
  std::string plugin = {};
  std::vector<Input> options = {};
  std::vector<Input> variables = {};
  std::vector<Input> files = {};
  bool is_kept = true;          // whether the plan keeps its credential
  bool counts_cluster = false;  // whether the credential is of one cluster
  std::string token_file = {};  // the file with the JWT whose claims are an input
};

// What a client sends, beside the options.
struct ClientCluster {
  std::string server = "https://spoke-1.example.com:6443";
  std::string tls_server_name = {};
  std::string proxy_url = {};
  std::string ca = {};  // base64
  std::string config = "{}";
};

struct Planned {
  std::string key = {};  // its text
  bool is_kept = false;
  std::string error = {};  // empty: there is a plan
};

class PlanRig {
 public:
  // Writes the files.
  explicit PlanRig(const PlanCase& plan_case);

  Planned plan(const ClientCluster& cluster = {});
  // The plan after this one change.
  Planned plan_with_option(std::size_t index, const std::string& value);
  Planned plan_with_variable(std::size_t index, const std::string& value);
  Planned plan_with_file(std::size_t index, const std::string& content);
  // Makes the plan, removes its files and asks for the credential: the error is that of the
  // request.
  Planned ask_without_files();
  std::string folder() const { return folder_.path().native(); }

 private:
  std::string expanded(std::string text) const;
  void write(const Input& file, const std::string& content) const;
  std::string error_without_files(const Plan& plan, const Environment& environment) const;

  PlanCase case_;
  bool asks_ = false;
  blackbox::Sandbox folder_;
};

}  // namespace execcred::test
