// SPDX-License-Identifier: Apache-2.0
// A program with one option of each kind, for the tests of Settings.
#pragma once

#include <execcred/base/try.hpp>
#include <execcred/exec/settings.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace execcred::test {

using Texts = std::vector<std::string>;

struct Program {
  std::string token_file;                      // only from the controller
  std::filesystem::path ca_file;               // without an environment form
  Duration timeout = std::chrono::seconds(8);  // with a default
  Texts audiences;                             // repeatable, from a profile
  Texts scopes = {"default-scope"};            // repeatable, with a default
  Texts patterns;                              // repeatable, only from the controller
  std::string cluster;                         // only from spec.cluster.config
  std::string region;                          // single, from a profile
  bool debug = false;
  bool from_profile = false;
  OptionSet options;
  Settings settings{options};

  Program() {
    options.add("token-file", token_file, "PATH", "a file").short_name('t').variable("TOKEN_FILE");
    options.add("ca-file", ca_file, "PATH", "a file").no_environment();
    options.add("timeout", timeout, "DURATION", "a limit");
    options.add("audience", audiences, "AUDIENCE", "an audience").from_profile();
    options.add("scope", scopes, "SCOPE", "a scope").from_profile();
    options.add("allow-server", patterns, "PATTERN", "a pattern");
    options.add("cluster", cluster, "NAME", "a name")
        .from_profile(Option::Profile::config, {"clusterName"});
    options.add("region", region, "REGION", "a region").from_profile();
    options.add(kBoundaryFlag, from_profile, "a boundary").no_environment();
    options.add("debug", debug, "tell each step");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads the sources in the same order as a plugin. `config` is JSON, or empty for none.
  Status read(const Texts& arguments, const Texts& variables = {}, std::string_view config = {}) {
    TRY(settings.read_arguments(arguments));
    TRY(settings.store());
    const Environment environment(variables);
    TRY(settings.read_environment(environment));
    TRY(settings.store());
    if (!config.empty()) {
      const json::Value value = TRY(json::parse(config));
      TRY(settings.read_config(value));
    }
    TRY(settings.read_variables(environment));
    return settings.store();
  }
};

}  // namespace execcred::test
