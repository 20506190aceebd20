// SPDX-License-Identifier: Apache-2.0
// The options of a plugin, for commands that check or write its arguments: those of its own
// declaration (plugins/list.hpp), and those that all plugins share.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/json/json.hpp>
#include <execcred/os/program_file.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

class DeclaredOptions {
 public:
  explicit DeclaredOptions(std::string_view program);
  DeclaredOptions(const DeclaredOptions&) = delete;
  DeclaredOptions& operator=(const DeclaredOptions&) = delete;

  const OptionSet& set() const { return set_; }
  // Whether the plugin is known. If not, the set has only the options that all plugins share, and
  // the plugin may have others.
  bool is_complete() const { return provider_ != nullptr; }
  // The plugin; nullptr if no plugin with this name is known.
  const Provider* provider() const { return provider_.get(); }
  // Plan::principal of the cluster. read() must have stored `settings` in this object.
  Result<std::string> principal(const Settings& settings, const Environment& environment,
                                const Cluster& cluster) const;
  // The option to which an environment variable of this name belongs, even if the plugin does not
  // read that option from the environment; nullptr if there is none.
  const Option* find_variable(std::string_view name) const;
  // The page of the documentation that explains the options.
  std::string page() const {
    return is_complete() ? "docs/" + program_ + ".md" : "docs/options.md";
  }
  // Reads the arguments, variables and the spec.cluster.config into `settings` as the plugin would,
  // and in its order. `settings` must have been made from set(). Fails (configuration) as Settings
  // does.
  Status read(const std::vector<std::string>& arguments, const Environment& environment,
              Settings& settings, const json::Value& config = {});
  // Check the values that a ClusterProfile passes to the plugin: spec.cluster.config, one field of
  // it, or appended arguments. `settings` has the controller's values, which read() must have
  // stored. `server` is the cluster's server. Fail (configuration) with the plugin's error.
  Status read_config(const Settings& settings, const json::Value& config, std::string_view server);
  Status read_field(const Settings& settings, const json::Member& field, std::string_view server);
  Status read_appended(const Settings& settings, const std::vector<std::string>& arguments,
                       std::string_view server);
  // Checks all options together, as the plugin does. read() must have stored `settings` in this
  // object. Fails (configuration).
  Status check(const Settings& settings, const Environment& environment) const;

 private:
  Status check_profile(Settings settings, std::string_view server);

  std::string program_;
  std::unique_ptr<Provider> provider_;
  CommonOptions common_;
  OptionSet set_;
};

}  // namespace execcred::cli
