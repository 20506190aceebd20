// SPDX-License-Identifier: Apache-2.0
// Runs a plugin as clients do: as a process with exactly the arguments and variables of a case. The
// rig of each plugin adds the settings of its cases, and the servers that the plugin needs.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

using Texts = std::vector<std::string>;
using blackbox::milliseconds;
using blackbox::Outcome;

Texts operator+(Texts one, const Texts& other);

inline constexpr const char* kSpoke = "https://spoke-1.example.com:6443";

// "execcred-aws" with exactly these arguments and variables.
blackbox::Command plugin_command(std::string_view plugin, Texts arguments, Texts variables = {});

// The variable KUBERNETES_EXEC_INFO of a client; nothing if the server is empty.
Texts asked_for(std::string_view server, std::string_view config = "",
                std::string_view more_of_cluster = "", std::string_view version = blackbox::kV1);

// `Ask` has the settings of one run.
template <class Ask>
class PluginRig {
 public:
  PluginRig() = default;
  PluginRig(const PluginRig&) = delete;
  PluginRig& operator=(const PluginRig&) = delete;
  virtual ~PluginRig() = default;

  virtual blackbox::Command command(const Ask& ask) const = 0;
  Outcome run(const Ask& ask = {}) const { return blackbox::run(command(ask)); }
  // The same, with an empty cache.
  Outcome run_cold(const Ask& ask = {}) const {
    clear_cache();
    return run(ask);
  }
  void clear_cache() const { std::filesystem::remove_all(cache_path); }

  blackbox::Sandbox sandbox;
  std::string cache_path = sandbox.at("cache");
};

// ["PATH","ARGUMENT",...], for options that name a program.
std::string command_json(const Texts& command);
// {"kind":"ExecCredential",...} with this status.
std::string exec_credential(const std::string& status, std::string_view version = blackbox::kV1);
// An RFC 3339 time so many seconds from now.
std::string timestamp(std::int64_t seconds);

// The token of an answer; empty if there is none.
std::string token_of(const Outcome& outcome);
// Seconds from now to the claimed end; fails the case if there is none.
std::int64_t claimed_seconds(const Outcome& outcome);
// The claimed seconds of a credential that expires in this many seconds.
std::int64_t claim_for(std::int64_t seconds);
// Whether the seconds are as expected, within a few seconds.
bool is_about(std::int64_t seconds, std::int64_t expected);

// The commands under "Examples:" in a program's --help.
Texts examples_in(const std::string& help);
// Fails the case unless each example in the plugin's --help succeeds in this folder, with PATH and
// these variables.
void check_examples(const std::string& plugin, const blackbox::Sandbox& folder, Texts variables);

// A word without dots that no message may show. Each call returns a new one.
std::string new_secret();
// A JWT that no message may show. Each call returns a new one. `claims` are those before "exp".
std::string new_jwt(const std::string& claims, std::int64_t seconds,
                    const std::string& more_claims = "");

}  // namespace execcred::test
