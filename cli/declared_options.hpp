// SPDX-License-Identifier: Apache-2.0
// The options of a plugin, for commands that check or write its arguments: those of its own
// declaration (plugins/list.hpp), and those that all plugins share.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/json/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// Its file's name starts like those of the plugins.
bool is_plugin_of_ours(std::string_view command);
// "execcred-token-file" of "/plugins/execcred-token-file".
std::string_view program_name(std::string_view command);

class DeclaredOptions {
 public:
  explicit DeclaredOptions(std::string_view program);
  DeclaredOptions(const DeclaredOptions&) = delete;
  DeclaredOptions& operator=(const DeclaredOptions&) = delete;

  const OptionSet& set() const { return set_; }
  // Whether the set is complete, so that other options do not exist.
  bool is_complete() const { return provider_ != nullptr; }
  // The plugin; null where none of this name is known.
  const Provider* provider() const { return provider_.get(); }
  // An option of the set would be set by this variable, if it had one.
  const Option* find_variable(std::string_view name) const;
  // The page that explains them.
  std::string page() const {
    return is_complete() ? "docs/" + program_ + ".md" : "docs/options.md";
  }
  // The plugin's own checks of these settings, in its order. The settings must be of this set.
  // Fails (configuration) as Settings does.
  Status read(const std::vector<std::string>& arguments, const Environment& environment,
              Settings& settings);
  // The plugin's error about a ClusterProfile's values, after `settings` has stored the
  // controller's: spec.cluster.config, one field of it, or appended arguments. Fails
  // (configuration).
  Status read_config(const Settings& settings, const json::Value& config, std::string_view server);
  Status read_field(const Settings& settings, const json::Member& field, std::string_view server);
  Status read_appended(const Settings& settings, const std::vector<std::string>& arguments,
                       std::string_view server);
  // The plugin's check of all options together, after `settings` has stored them here.
  Status check(const Settings& settings) const;

 private:
  Status check_profile(Settings settings, std::string_view server);

  std::string program_;
  std::unique_ptr<Provider> provider_;
  CommonOptions common_;
  OptionSet set_;
};

}  // namespace execcred::cli
