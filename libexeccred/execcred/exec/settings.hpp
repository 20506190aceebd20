// SPDX-License-Identifier: Apache-2.0
// Where the value of each option comes from, and who may set it.
//
//  flag > environment (EXECCRED_<FLAG>) > spec.cluster.config > other programs' variables > default
//
// Other programs' variables (OptionBuilder::variable) are set by a platform for every program. They
// come last, so that a ClusterProfile's region is used although each Pod has AWS_REGION. For an
// option that may not come from a ClusterProfile, this makes no difference. spec.cluster.config
// comes first for an option that is OptionBuilder::replaceable().
//
// Two sources belong to the writer of a ClusterProfile: spec.cluster.config, and the arguments
// behind --from-profile, which a controller's library appends. Both may set only options that are
// declared for it. Upstream's library repeats appended arguments, and passes those of one profile
// on to the next, so behind the boundary an option may be repeated, but only with an equal value.
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// An option's value as people may see it: without what may be a secret in a URL.
std::string shown_value(const Option& option, const std::string& text);

inline constexpr std::string_view kBoundaryFlag = "from-profile";
// The field of a client's document that the writer of a ClusterProfile sets.
inline constexpr std::string_view kConfigPath = "spec.cluster.config";

struct Setting {
  enum class Origin { unset, flag, profile_argument, environment, profile_config, variable };
  Origin origin = Origin::unset;
  std::vector<std::string> texts = {};
  // The controller's, in whose place a ClusterProfile's are.
  std::vector<std::string> replaced = {};
  std::string config_field = {};   // of profile_config
  std::string empty_field = {};    // of spec.cluster.config: "" stands there, which sets nothing
  std::string_view variable = {};  // of variable: its name
  bool is_stored = false;          // in the program's variable

  // Whether a flag or an EXECCRED_<FLAG> variable of the controller's side set it.
  bool is_from_controller() const {
    return origin == Origin::flag || origin == Origin::environment;
  }

  bool is_from_profile() const {
    return origin == Origin::profile_argument || origin == Origin::profile_config;
  }
};

class Settings {
 public:
  // `options` must outlive the settings.
  explicit Settings(const OptionSet& options) : options_(options) {}

  // `arguments` are argv without its first element. Fails (configuration), or (no_credential) if a
  // ClusterProfile chooses something other than the controller did. The error spells the option as
  // it is typed. It never shows an argument that is not an option's value, because that may be a
  // secret whose flag is missing.
  Status read_arguments(const std::vector<std::string>& arguments);
  // Whether the arguments that were read last are behind the boundary.
  bool is_behind_boundary() const { return is_behind_boundary_; }
  // Like read_config(), continues after the first failure and returns it, so that --show-config
  // shows every other setting.
  Status read_environment(const Environment& environment);
  // Fails (configuration) if an argument behind the boundary set an option that may not come from
  // there with the controller's settings.
  Status check_profile_arguments() const;
  // Reads the values that neither flags nor the environment set, and those that may replace them.
  // `config` may be of any kind, but only an object has settings. A field that may be set there and
  // is null or "" counts as absent, because upstream's struct writes "" for a field that is not
  // set. Fails as read_arguments() does.
  Status read_config(const json::Value& config);
  // Messages for --debug about fields that set nothing, because this run does not use them.
  const std::vector<std::string>& ignored() const { return ignored_; }
  // Reads other programs' variables, for options that are not set yet. Fails (configuration).
  Status read_variables(const Environment& environment);

  // Reads the texts that came since the last call into the program's variables, unless the option
  // is not used and no flag set it. Fails at the first option whose text is wrong; the next call
  // continues after it. Fails as the option's parser does: mostly configuration.
  Status store();
  // Reads the texts of one option, used or not. Does nothing if the option is not set.
  Status store(const Option& option) const;
  // Fail (configuration) if a required option, or this one, is not set.
  Status check_required() const;
  Status check_given(const Option& option) const;

  const Setting& get(std::string_view name) const;
  // The values that the controller's side set; empty if a ClusterProfile or nobody set the option.
  const std::vector<std::string>& given(std::string_view name) const;
  bool is_given(std::string_view name) const { return !given(name).empty(); }
  const OptionSet& options() const { return options_; }
  // Whether the options on which this one depends have the values that it needs (OptionUse).
  bool is_used(const Option& option) const;
  // Whether a provider is asked for what the option names.
  bool is_requested(const Option& option) const;
  // Fails (configuration) if a flag sets an option that this run does not use.
  Status check_uses() const;
  // Whether a flag set the option. A variable may be meant for other plugins of the same
  // controller; a flag is not.
  bool is_flag(std::string_view name) const { return get(name).origin == Setting::Origin::flag; }
  // The flag, variable or field that set the option, as it is typed; else "default" or "unset".
  std::string where_from(std::string_view name) const;
  // The flag, variable or field that set the option; `option` itself ("--key") if none did.
  std::string as_typed(std::string_view option) const;
  // The text of the option's default, which may depend on another option; may be empty.
  std::string default_of(const Option& option) const;
  // What --show-config prints: NAME  VALUE  ORIGIN, aligned, one line for each option.
  std::string show() const;

 private:
  Status take_argument(const std::vector<std::string>& arguments, std::size_t& index);
  Status add_value(const Option& option, std::string value);
  Status take_variable(const Option& option, const std::string& name, std::string_view value);
  Status take_field(const json::Member& member);
  Status read_shared_fields(const json::Value& config);
  bool holds(const OptionUse& use) const;
  const OptionUse* unmet_use(const Option& option, std::string_view field = {}) const;
  bool reads_variables(const Option& option) const;
  std::string value_or_default(std::string_view name) const;
  Status add_profile_value(const Option& option, Setting& setting, std::string value);

  Setting& of(const Option& option);
  const Setting& of(const Option& option) const;

  const OptionSet& options_;
  std::vector<Setting> settings_;  // of each option, in their order
  std::vector<std::string> ignored_;
  bool is_behind_boundary_ = false;
};

}  // namespace execcred
