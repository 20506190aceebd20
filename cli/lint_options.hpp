// SPDX-License-Identifier: Apache-2.0
// The options of the plugins, as far as lint knows them: those that all plugins share, and all of
// a plugin's own where the table has it. The tests compare it with what the plugins' --help says.
#pragma once

#include "lint_findings.hpp"

#include <execcred/access_rules.hpp>
#include <execcred/exec_credential.hpp>
#include <execcred/option_set.hpp>
#include <execcred/provider_mapping.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::lint {

// Its file's name starts like those of the plugins.
bool is_plugin_of_ours(std::string_view command);
// "execcred-token-file" of "/plugins/execcred-token-file".
std::string_view program_name(std::string_view command);

class PluginOptions {
 public:
  explicit PluginOptions(std::string_view program);
  PluginOptions(const PluginOptions&) = delete;
  PluginOptions& operator=(const PluginOptions&) = delete;

  const OptionSet& set() const { return set_; }
  // Whether an option that is not in the set does not exist.
  bool is_complete() const { return is_complete_; }
  // An option of the set would be set by this variable, if it had one.
  const Option* find_variable(std::string_view name) const;

 private:
  void add_shared();
  void add_token_file();
  void add_static_secret();

  OptionSet set_;
  bool is_complete_ = false;

  // Where the values go; only whether they can be read matters.
  std::string text_;
  std::vector<std::string> texts_;
  bool switch_ = false;
  ApiVersion version_ = ApiVersion::v1;
  Duration duration_ = {};
  std::vector<UrlPattern> urls_;
  std::vector<AudiencePattern> audiences_;
};

// An option with its value, which may be the next argument; or an operand, without a name.
struct Argument {
  std::size_t index = 0;
  std::size_t count = 1;
  std::string name = {};
  std::string value = {};  // an operand's text too
};

// `options` tells switches from options whose value is the next argument. For options that it
// does not have, or where it is null, what does not start with '-' is taken for a value.
std::vector<Argument> split_arguments(const std::vector<std::string>& args,
                                      const OptionSet* options);

// What is set by args or env, from whichever program: the values of one option.
std::vector<std::string> values_of(const ExecConfig& exec, const PluginOptions& options,
                                   std::string_view name);
bool is_given(const ExecConfig& exec, const PluginOptions& options, std::string_view name);

// args and env that the plugin would refuse; `path` is that of exec.
void check_settings(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                    const std::string& path);

// spec.cluster.config, found at `path`: fields that every plugin refuses there.
void check_profile_config(const Scope& scope, const json::Value& config, const std::string& path);

}  // namespace execcred::lint
