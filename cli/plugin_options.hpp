// SPDX-License-Identifier: Apache-2.0
// The options of the plugins, for commands that judge or write their arguments: those that all
// plugins share, and a plugin's own, from its own table where it has a library. The tests compare
// them with what the plugins' --help says.
#pragma once

#include <aws/options.hpp>
#include <azure/options.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/settings.hpp>
#include <execcred/json/json.hpp>
#include <google/options.hpp>
#include <oidc-federation/options.hpp>
#include <spiffe/options.hpp>
#include <static-secret/options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

inline constexpr std::string_view kTokenFile = "execcred-token-file";
inline constexpr std::string_view kStaticSecret = "execcred-static-secret";
inline constexpr std::string_view kOidcFederation = "execcred-oidc-federation";
inline constexpr std::string_view kSpiffe = "execcred-spiffe";
inline constexpr std::string_view kGoogle = "execcred-google";
inline constexpr std::string_view kAzure = "execcred-azure";
inline constexpr std::string_view kAws = "execcred-aws";

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
  // The page that explains them.
  std::string page() const { return is_complete_ ? "docs/" + program_ + ".md" : "docs/options.md"; }
  // What the plugin would do of these, in its order. The settings must be of this set. Fails
  // (configuration) as Settings does.
  Status read(const std::vector<std::string>& arguments, const Environment& environment,
              Settings& settings);
  // What the plugin would say of what a ClusterProfile gives it, once `settings` has stored the
  // controller's: spec.cluster.config, one field of it, or appended arguments. Fails
  // (configuration).
  Status read_config(const Settings& settings, const json::Value& config, std::string_view server);
  Status read_field(const Settings& settings, const json::Member& field, std::string_view server);
  Status read_appended(const Settings& settings, const std::vector<std::string>& arguments,
                       std::string_view server);
  // What the plugin says of the options together, once `settings` has stored them here.
  Status check(const Settings& settings) const;

 private:
  void add_shared();
  Status check_profile(Settings settings, std::string_view server);

  std::string program_;
  OptionSet set_;
  bool is_complete_ = false;

  static_secret::Options static_secret_;
  oidc_federation::Options oidc_federation_;
  spiffe::Options spiffe_;
  google::Options google_;
  azure::Options azure_;
  aws::Options aws_;
  // Where the values of other options go; only whether they can be read matters.
  std::string text_;
  std::vector<std::string> texts_;
  bool switch_ = false;
  ApiVersion version_ = ApiVersion::v1;
  Duration duration_ = {};
  std::vector<UrlPattern> urls_;
  std::vector<AudiencePattern> audiences_;
};

}  // namespace execcred::cli
