// SPDX-License-Identifier: Apache-2.0
// The main function of every plugin. It implements the protocol, and the plugin only gets the
// credential.
//
//   set up the process → options → deadline → input document → access rules → the provider
//   → expiry → one write to standard output
//
// On failure, standard output is empty, standard error has one error, and the exit code is that of
// the error's kind. On success, standard error is empty, unless --debug or --show-config is set, or
// the cache's directory is unsafe; this warning is left out if both streams are one pipe.
#pragma once

#include <execcred/exec/provider.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace execcred {

struct PluginInfo {
  std::string_view name;     // of the binary: "execcred-token-file"
  std::string_view summary;  // one sentence
  std::array<Example, 2> examples = {};
  // True if asking again is cheap. Then --max-age limits every claimed lifetime, so that a rotation
  // is noticed soon.
  bool is_cheap_to_ask = false;
};

// A plugin as a value: its binary runs it, and the command line checks and documents configurations
// with it.
struct PluginDefinition {
  PluginInfo info = {};
  std::unique_ptr<Provider> (*make)() = nullptr;
};

// The values of the options that every plugin has.
struct CommonOptions {
  std::string exec_info = {};
  ApiVersion api_version = ApiVersion::v1;
  Duration timeout = std::chrono::seconds(8);
  Duration max_age = std::chrono::minutes(10);
  AccessRules rules = {};
  std::string cluster_name = {};
  bool from_profile = false;
  bool show_config = false;
  bool debug = false;
  std::filesystem::path log_file = {};
  bool version = false;
  bool help = false;
};

// `common` must live at least as long as `options`.
void add_common_options(OptionSet& options, CommonOptions& common);

// Returns the exit code.
int plugin_main(const PluginDefinition& plugin, int argc, char** argv);

}  // namespace execcred
