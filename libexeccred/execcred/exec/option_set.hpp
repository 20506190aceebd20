// SPDX-License-Identifier: Apache-2.0
// The options of a program: one table that parsing, precedence, --help and --show-config share.
// Lint, completion, manual pages, JSON Schemas and the tables of docs/ are made of it too.
//
//   options.add("token-file", path_, "PATH", "File that holds the bearer token").required();
//   options.add("audience", audiences_, "AUDIENCE", "…").from_profile();
//
// The type of the variable determines how its text is read, and whether the option repeats.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace execcred {

class Settings;
struct Finding;

// The values that an option accepts. JSON Schemas have the pattern and the size.
struct ValueForm {
  std::string_view pattern = {};  // a regular expression of ECMA-262, for the whole text
  std::size_t max_size = 0;       // 0: unbounded
  // Whether the text has this form; null if the option checks its values by itself.
  bool (*fits)(std::string_view text) = nullptr;
  std::string_view noun = {};  // "namespace's name", in the error "'x' is no namespace's name"
  std::string_view hint = {};

  // Fails (configuration) if the text does not fit.
  Status check(const std::string& text) const;
};
// DNS-1123 names.
inline constexpr ValueForm kSubdomainForm = {
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", 253};
inline constexpr ValueForm kLabelForm = {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63};

// A name of an option's value, for OptionSet::add_choice.
template <class T>
struct Named {
  std::string_view name;
  T value;
};

// The names of a table, for OptionBuilder::choices.
template <class Entry, std::size_t Size>
constexpr std::array<std::string_view, Size> names_of(const std::array<Entry, Size>& table) {
  std::array<std::string_view, Size> names = {};
  for (std::size_t i = 0; i < Size; ++i) names[i] = table[i].name;
  return names;
}

inline constexpr std::string_view kCommonGroup = "Common";

// That an option has no use without another one.
struct OptionUse {
  std::string_view option = {};                   // the other one; empty: no condition
  std::span<const std::string_view> values = {};  // it must have one of these; empty: any value
  std::string_view hint = {};  // of the error if a flag sets the option without it
  // Another option whose value makes it useful too.
  std::string_view other_option = {};
  std::span<const std::string_view> other_values = {};
};

// A ClusterProfile's field that sets its option only if a condition holds.
struct FieldUse {
  std::string_view field = {};
  OptionUse use = {};
};

struct Option {
  enum class Profile {
    never,                 // only from the controller's side
    config,                // may come from spec.cluster.config
    config_and_arguments,  // and from behind --from-profile
  };

  std::string_view name = {};        // "token-file"; these texts are literals, and not copied
  char short_name = 0;               // 'm' for -m, or none
  std::string_view value_name = {};  // "PATH"; empty for a switch
  std::string_view help = {};
  std::string default_text = {};
  // Another option whose value gives the default that --show-config prints, and that text.
  std::string_view default_by = {};
  std::string_view (*default_for)(std::string_view value) = nullptr;
  bool is_repeatable = false;
  bool is_required = false;
  bool has_environment = true;  // EXECCRED_<NAME>
  bool is_secret = false;       // --show-config says only that it is set
  Profile profile = Profile::never;
  std::vector<std::string> config_fields = {};  // its spellings in spec.cluster.config
  std::string shared_field =
      {};  // another option's field, which sets this one if no other field does
  std::vector<FieldUse> field_uses = {};  // fields that are ignored unless these hold
  std::vector<std::string_view> variables =
      {};  // other programs' names for it; the first that is set is used

  std::array<std::string_view, 2> rivals = {};  // options in whose place no variable is read
  const std::string* parsed = nullptr;          // its value after parsing, if that is a text
  bool ignores_case = false;

  // The following facts are for lint, help and documentation.
  std::string_view group = {};    // the heading in --help
  std::string_view example = {};  // a value
  std::span<const std::string_view> choices = {};
  std::string_view choice_noun = {};  // "flow", in the error "'x' is no flow"
  bool has_other_values = false;      // besides the choices
  const ValueForm* form = nullptr;
  std::string_view permission = {};  // the option that may have to allow a ClusterProfile's value
  bool is_choice = false;            // an identity: only `permission` may allow it
  bool is_replaceable = false;       // a ClusterProfile's field takes the controller's place
  // The finding about a ClusterProfile's value, for lint.
  std::optional<Finding> (*judge)(const std::string& value, const Settings& settings) = nullptr;
  bool is_directory = false;            // its value is a path, of a directory
  bool is_template = false;             // {clusterName} and {server.host} are filled in
  bool is_command = false;              // a JSON array: a program and its arguments
  std::string_view weakness = {};       // "gives …": its effect, behind ", which"
  std::string_view weakness_hint = {};  // empty: leave it out
  bool (*is_weak)(std::string_view value) = nullptr;  // only these values; null: any
  bool is_minor_weakness = false;
  bool needs_cluster = false;  // it has no use without spec.cluster
  bool names_cluster = false;  // its value fills in {clusterName}
  enum class Servers : unsigned char { none, limited, excepted };
  Servers servers = Servers::none;     // its values are patterns of servers
  std::string_view companion = {};     // the option without which it may do nothing
  std::vector<OptionUse> uses = {};    // it is used if all of these hold
  bool is_requested = false;           // a provider is asked for it
  OptionUse requested_for = {};        // if this holds
  std::string_view not_identity = {};  // why its value tells no two credentials apart

  // Reads the texts (one, unless the option repeats) into the program's variable.
  std::function<Status(const std::vector<std::string>&)> store = {};
  // Fails (configuration) if a text is none of the choices.
  Status check_choices(const std::vector<std::string>& texts) const;
  // Fails (configuration) if a text without placeholders does not have the option's form.
  Status check_form(const std::vector<std::string>& texts) const;

  bool is_switch() const { return value_name.empty(); }
  // Whether its value is the path of a file or directory.
  bool is_path() const { return value_name == "PATH"; }
  // Whether it is required and no ClusterProfile can set it.
  bool is_required_of_controller() const { return is_required && profile == Profile::never; }
  std::string flag() const { return "--" + std::string(name); }
};

// Adds properties to an option that was just added.
class OptionBuilder {
 public:
  OptionBuilder(std::vector<Option>& options, std::size_t index)
      : options_(&options), index_(index) {}

  OptionBuilder& required() { return set(&Option::is_required, true); }
  OptionBuilder& no_environment() { return set(&Option::has_environment, false); }
  // A variable that other programs read for the same setting ("AZURE_CLIENT_ID"), so that a
  // platform's setting need not be repeated. It is used if nothing else sets the option: no flag,
  // no EXECCRED_<NAME>, and no ClusterProfile that may set it. If there are several, the first one
  // set is used. `name` must be a literal, and is not copied.
  OptionBuilder& variable(std::string_view name) {
    return set([name](Option& o) { o.variables.push_back(name); });
  }
  // These options name the same thing: if one of them is set, the platform's variables for this one
  // are neither read nor checked. The texts must be literals, and are not copied.
  OptionBuilder& no_variable_with(std::string_view one, std::string_view other) {
    return set(&Option::rivals, std::array{one, other});
  }
  // Values that differ in letter case alone are one value.
  OptionBuilder& ignores_case() { return set(&Option::ignores_case, true); }
  OptionBuilder& secret() { return set(&Option::is_secret, true); }
  OptionBuilder& short_name(char c) { return set(&Option::short_name, c); }
  OptionBuilder& default_text(std::string_view text) { return set(&Option::default_text, text); }
  // The default depends on the value of `option`, which is "" if that is not set. `option` must be
  // a literal, and is not copied.
  OptionBuilder& default_by(std::string_view option,
                            std::string_view (*text_for)(std::string_view value)) {
    return set(&Option::default_by, option).set(&Option::default_for, text_for);
  }
  // The option may come from a ClusterProfile. Its field is the option's name in camelCase, unless
  // `config_fields` are given.
  OptionBuilder& from_profile(Option::Profile profile = Option::Profile::config_and_arguments,
                              std::vector<std::string> config_fields = {});
  // A ClusterProfile's field is ignored unless `option` has one of the values; "" stands for an
  // option that is not set. If no field of the option counts, its argument behind --from-profile is
  // refused. The texts must be literals, and are not copied.
  OptionBuilder& field_only_for(std::string_view field, std::string_view option,
                                std::span<const std::string_view> values) {
    return set([=](Option& o) {
      o.field_uses.push_back({.field = field, .use = {.option = option, .values = values}});
    });
  }
  // Lint judges a ClusterProfile's value by this rule, which also knows the controller's settings.
  OptionBuilder& judged_by(std::optional<Finding> (*judge)(const std::string& value,
                                                           const Settings& settings)) {
    return set(&Option::judge, judge);
  }
  // A value from a ClusterProfile may need this option ("allow-audience"). `option` must be a
  // literal, and is not copied.
  OptionBuilder& allowed_by(std::string_view option) { return set(&Option::permission, option); }
  // The option is an identity that a ClusterProfile may choose, if it matches a pattern of the
  // option `permission` (profile_choice.hpp). `permission` must be a literal, and is not copied.
  OptionBuilder& chosen_among(std::string_view permission) {
    return from_profile().allowed_by(permission).set(&Option::is_choice, true);
  }
  // The field of a ClusterProfile is used also if the controller has set the option. The plugin
  // must refuse it if it may not replace that value, which is Setting::replaced.
  OptionBuilder& replaceable() { return set(&Option::is_replaceable, true); }
  OptionBuilder& or_from_field(std::string_view field) { return set(&Option::shared_field, field); }
  // `names` are the option's only values. Another value is refused: "'x' is no flow", with the noun
  // "flow". The names and the noun must have static storage duration.
  OptionBuilder& choices(std::span<const std::string_view> names, std::string_view noun = {}) {
    return set(&Option::choices, names).set(&Option::choice_noun, noun);
  }
  // `names` are special values of the option, which has other values too.
  OptionBuilder& choices_besides_others(std::span<const std::string_view> names) {
    return choices(names).set(&Option::has_other_values, true);
  }
  // `value` must be a literal, and is not copied.
  OptionBuilder& example(std::string_view value) { return set(&Option::example, value); }
  // Values without placeholders must have this form. `form` must have static storage duration.
  OptionBuilder& form(const ValueForm& form) { return set(&Option::form, &form); }
  OptionBuilder& directory() { return set(&Option::is_directory, true); }
  // In the option's value, {clusterName} and {server.host} are filled in (docs/options.md).
  OptionBuilder& with_template() { return set(&Option::is_template, true); }
  // The option's value is a JSON array of strings: a program, which is run, and its arguments.
  OptionBuilder& command() { return set(&Option::is_command, true); }
  // The option permits something that is refused otherwise. `effect` completes "which …", as in
  // "gives tokens to …". All texts must be literals, and are not copied.
  OptionBuilder& weakens(std::string_view effect, std::string_view hint = {},
                         bool (*is_weak)(std::string_view value) = nullptr) {
    return set(&Option::weakness, effect)
        .set(&Option::weakness_hint, hint)
        .set(&Option::is_weak, is_weak);
  }
  // The same for a usual setting, which lint reports as information only.
  OptionBuilder& weakens_a_little(std::string_view effect, std::string_view hint) {
    return weakens(effect, hint).set(&Option::is_minor_weakness, true);
  }
  // The option has no use if the client sends no spec.cluster.
  OptionBuilder& needs_cluster() { return set(&Option::needs_cluster, true); }
  // The option's value fills in {clusterName}.
  OptionBuilder& names_cluster() { return set(&Option::names_cluster, true); }
  // The option's values are patterns of servers. Only these servers get a credential.
  OptionBuilder& limits_servers() { return set(&Option::servers, Option::Servers::limited); }
  // The option's values are patterns of servers to which a rule does not apply.
  OptionBuilder& excepts_servers() { return set(&Option::servers, Option::Servers::excepted); }
  // The option has no effect without the option `companion`, unless the plugin checks the
  // connection by itself (Binding). `companion` must be a literal, and is not copied.
  OptionBuilder& only_with(std::string_view companion) {
    return set(&Option::companion, companion);
  }
  // The option is used only if `option` has one of the values; "" stands for an option that is not
  // set. If it is not used, a flag that sets it is an error with this hint, and every other source
  // of it is ignored, because it may be meant for another program. Further conditions must hold
  // too. All texts must be literals, and are not copied.
  OptionBuilder& only_for(std::string_view option, std::span<const std::string_view> values,
                          std::string_view hint = {}) {
    return set(
        [=](Option& o) { o.uses.push_back({.option = option, .values = values, .hint = hint}); });
  }
  // The last condition of only_for() holds also if `option` has one of the values.
  OptionBuilder& or_for(std::string_view option, std::span<const std::string_view> values);
  // The same for an option that any value of the other one makes useful.
  OptionBuilder& needs(std::string_view option, std::string_view hint = {}) {
    return only_for(option, {}, hint);
  }
  // The option is not used if one of these is set; the error for a flag says so. The names must
  // have static storage duration.
  OptionBuilder& not_with(std::span<const std::string_view> options);
  // A provider is asked for what the option names, so a ClusterProfile's value needs
  // --allow-audience. With the arguments, only if `option` has one of the values. The texts are not
  // copied.
  OptionBuilder& requested(std::string_view option = {},
                           std::span<const std::string_view> values = {}) {
    return set(&Option::is_requested, true)
        .set(&Option::requested_for, OptionUse{.option = option, .values = values});
  }
  // Two runs that differ only in this option get the same credential, so its value is no part of
  // the cache's key. `reason` must be a literal, and is not copied.
  OptionBuilder& not_identity(std::string_view reason) {
    return set(&Option::not_identity, reason);
  }

 private:
  template <class Member, class Value>
  OptionBuilder& set(Member Option::*member, Value value) {
    (*options_)[index_].*member = std::move(value);
    return *this;
  }
  template <class Change>
  OptionBuilder& set(Change change) {
    change((*options_)[index_]);
    return *this;
  }

  std::vector<Option>* options_;
  std::size_t index_;
};

// The lines of an option in --help. `left` is "  --name=VALUE". The text and the notes begin at
// `column`. Notes that do not fit after the text have lines of their own.
std::string option_lines(std::string left, std::string_view text, std::string_view notes,
                         std::size_t column);

// A command line that --help shows. The texts are literals, and not copied.
struct Example {
  std::string_view purpose = {};
  std::string_view command = {};
};
// The lines of an example in --help.
std::string example_lines(std::string_view purpose, std::string_view command);

class OptionSet {
 public:
  OptionSet() { options_.reserve(kUsualSize); }

  // The program takes nothing from a ClusterProfile. It ignores spec.cluster.config, which another
  // program reads, and refuses every argument behind --from-profile. The cluster's name alone may
  // be read of it.
  void ignore_profile(bool but_its_name = false) {
    ignores_profile_ = true;
    reads_name_ = but_its_name;
  }
  bool ignores_profile() const { return ignores_profile_; }
  bool reads_cluster_name() const { return !ignores_profile_ || reads_name_; }

  // Sets the heading of the options that are added from now on, and what they all need first, as
  // OptionBuilder::only_for() says it. All texts must be literals, and are not copied.
  void group(std::string_view title, const OptionUse& use = {}) {
    group_ = title;
    use_ = use;
  }
  // Declares the options that are added from now on as OptionBuilder::not_identity() does.
  void not_identity(std::string_view reason) { not_identity_ = reason; }

  OptionBuilder add(std::string_view name, bool& target, std::string_view help);
  OptionBuilder add(std::string_view name, std::string& target, std::string_view value_name,
                    std::string_view help);
  OptionBuilder add(std::string_view name, std::filesystem::path& target,
                    std::string_view value_name, std::string_view help);
  OptionBuilder add(std::string_view name, Duration& target, std::string_view value_name,
                    std::string_view help);
  OptionBuilder add(std::string_view name, std::vector<std::string>& target,
                    std::string_view value_name, std::string_view help);
  // Adds an option of any type T. `parse` makes a Result<T> from one text.
  template <class T, class Parse>
  OptionBuilder add_parsed(std::string_view name, T& target, std::string_view value_name,
                           std::string_view help, Parse parse);
  template <class T, class Parse>
  OptionBuilder add_parsed(std::string_view name, std::vector<T>& target,
                           std::string_view value_name, std::string_view help, Parse parse);
  // Adds an option whose value is the name of an entry of the table. `target` becomes the entry, or
  // the entry's value. `noun` is that of OptionBuilder::choices().
  template <const auto& kTable, class T>
  OptionBuilder add_choice(std::string_view name, T& target, std::string_view value_name,
                           std::string_view help, std::string_view noun = {});

  const Option* find(std::string_view name) const;
  const Option* find_short(char short_name) const;
  const std::vector<Option>& all() const { return options_; }

  // The headings in their order; the heading of the common options is last.
  std::vector<std::string_view> groups() const;

  // The text of --help, with `usage` as its first line. No line is longer than 100 columns, unless
  // a text of the option or an example is.
  std::string help(std::string_view usage, std::string_view summary,
                   std::span<const Example> examples = {}) const;

 private:
  // The options of a usual plugin need one allocation, because each page that is touched makes the
  // start slower.
  static constexpr std::size_t kUsualSize = 64;

  OptionBuilder add(Option option);

  std::string_view group_ = "Options";
  OptionUse use_ = {};
  std::string_view not_identity_ = {};
  bool ignores_profile_ = false;
  bool reads_name_ = false;
  std::vector<Option> options_;
};

template <class T, class Parse>
OptionBuilder OptionSet::add_parsed(std::string_view name, T& target, std::string_view value_name,
                                    std::string_view help, Parse parse) {
  Option option = {.name = name,
                   .value_name = value_name,
                   .help = help,
                   .store = [&target, parse](const std::vector<std::string>& texts) -> Status {
                     target = EXECCRED_TRY(parse(texts.front()));
                     return {};
                   }};
  if constexpr (std::is_same_v<T, std::string>) option.parsed = &target;
  return add(std::move(option));
}

template <class T, class Parse>
OptionBuilder OptionSet::add_parsed(std::string_view name, std::vector<T>& target,
                                    std::string_view value_name, std::string_view help,
                                    Parse parse) {
  return add({.name = name,
              .value_name = value_name,
              .help = help,
              .is_repeatable = true,
              .store = [&target, parse](const std::vector<std::string>& texts) -> Status {
                std::vector<T> values;
                for (const std::string& text : texts) {
                  T value = EXECCRED_TRY(parse(text));
                  values.push_back(std::move(value));
                }
                target = std::move(values);
                return {};
              }});
}

template <const auto& kTable, class T>
OptionBuilder OptionSet::add_choice(std::string_view name, T& target, std::string_view value_name,
                                    std::string_view help, std::string_view noun) {
  static constexpr auto kNames = names_of(kTable);
  // check_choices() refuses every other text.
  return add({.name = name,
              .value_name = value_name,
              .help = help,
              .store = [&target](const std::vector<std::string>& texts) -> Status {
                for (const auto& entry : kTable) {
                  if (entry.name != texts.front()) continue;
                  if constexpr (std::is_assignable_v<T&, decltype(entry)>) {
                    target = entry;
                  } else {
                    target = entry.value;
                  }
                }
                return {};
              }})
      .choices(kNames, noun);
}

}  // namespace execcred
