// SPDX-License-Identifier: Apache-2.0
// The arguments and variables of a plugin, read as the plugin would.
#pragma once

#include "declared_options.hpp"
#include "findings.hpp"

#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

using cli::DeclaredOptions;

// An option with its value, which may be the next argument. An operand has no name.
struct Argument {
  std::size_t index = 0;
  std::size_t count = 1;
  std::string name = {};
  std::string value = {};  // an operand's text too
};

// `options` distinguishes switches from options whose value is the next argument. For an unknown
// option, or if `options` is nullptr, the next argument is the value unless it starts with '-'.
std::vector<Argument> split_arguments(const std::vector<std::string>& args,
                                      const OptionSet* options);

// The values that args and the EXECCRED_* variables of the exec object at `path` set.
struct Given {
  std::string name;  // the option's, without dashes
  std::string value;
  std::string path;
};
std::vector<Given> given_in(const ExecConfig& exec, const DeclaredOptions& options,
                            const std::string& path);

// The values of one option, set by args or env.
std::vector<std::string> values_of(const ExecConfig& exec, const DeclaredOptions& options,
                                   std::string_view name);
bool is_given(const ExecConfig& exec, const DeclaredOptions& options, std::string_view name);

Environment environment_of(const ExecConfig& exec);

// The plugin of an exec object with what args and env set, as far as that can be read.
struct ExecSettings {
  explicit ExecSettings(const ExecConfig& exec);

  DeclaredOptions options;
  Environment environment;
  Settings settings;
  bool is_whole = true;  // whether all could be read
};

// The option whose own rule judges this field of a ClusterProfile; nullptr if there is none.
const Option* judged_option(const DeclaredOptions& options, std::string_view field);

// Reports args and env that the plugin would refuse. `path` is the path of exec, and `given` are
// its settings.
void check_settings(const Scope& scope, const ExecConfig& exec, const DeclaredOptions& options,
                    const ExecSettings& given, const std::string& path);

// An error of a plugin whose message begins with spec.cluster.config: `path`, the place in the
// document, replaces these words.
Error placed(Error error, const std::string& path);

// Reports the fields of spec.cluster.config, found at `path`, that every plugin refuses.
void check_shared_config(const Scope& scope, const json::Value& config, const std::string& path);

}  // namespace execcred::lint
