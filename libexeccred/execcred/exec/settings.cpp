// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/settings.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/template.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

Status check_value(const std::string& subject, std::string_view value) {
  if (value.empty()) {
    return Error::configuration(subject + " has an empty value",
                                "give it a value, or leave it out");
  }
  if (has_control_character(value))
    return Error::configuration(subject + " has a control character in its value");
  if (has_unexpanded_template(value)) {
    return Error::configuration(
        subject + " has a template that nobody expanded",
        "Argo CD replaces {{ .ClusterProfileName }} and {{ .ClusterProfileServer }} in a "
        "mapping's args, in exactly this spelling; otherwise write {clusterName} and "
        "{server.host}, where the option accepts them");
  }
  return {};
}

bool contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// The option that a member of spec.cluster.config would set, in any of its spellings. An option
// that declares the spelling takes precedence over an option whose name equals it.
const Option* option_of_field(const OptionSet& options, std::string_view field) {
  for (const Option& option : options.all()) {
    if (contains(option.config_fields, field)) return &option;
  }
  for (const Option& option : options.all()) {
    if (camel_case(option.name) == field) return &option;
  }
  return nullptr;
}

Error not_from_arguments(const Option& option) {
  return Error::without_permission(
      option.flag() + " stands behind --from-profile, and may not come from a ClusterProfile",
      "set it in the mapping's args, before --from-profile");
}

// The error of a field that names an option, but may not set it.
Error not_from_field(const Option& option, const std::string& path) {
  if (!option.config_fields.empty()) {
    return Error::configuration(
        path + " is not the field of " + option.flag(),
        "write it as " + std::string(kConfigPath) + "." + option.config_fields.front());
  }
  return Error::without_permission(
      path + " sets " + option.flag() + ", which may not come from a ClusterProfile",
      "set it in the mapping's args, and remove it from the extension "
      "client.authentication.k8s.io/exec");
}

Result<std::vector<std::string>> read_field(const Option& option, const json::Value& value,
                                            const std::string& path) {
  std::vector<std::string> texts;
  if (option.is_repeatable) {
    texts = TRY(json::read_strings(value, path));
  } else {
    std::string text = TRY(json::read_string(value, path));
    texts.push_back(std::move(text));
  }
  for (const std::string& text : texts) TRY(check_value(path, text));
  return texts;
}

// The error of a choice that the controller has already made, with another value.
Error not_its_choice(const std::string& chosen_by, const std::string& set_by) {
  return Error::by_rule(
      cause::kConfigRefused, chosen_by + " differs from " + set_by,
      "the ClusterProfile may choose only what the mapping leaves open: remove one of them");
}

// Skips a text that is in the list already, while the list is short enough to search. A duplicate
// does no harm.
void add_text(std::vector<std::string>& texts, std::string text) {
  constexpr std::size_t kMany = 1'000;
  if (texts.size() < kMany && contains(texts, text)) return;
  texts.push_back(std::move(text));
}

bool is_empty_text(const json::Value& value) {
  const std::string* const text = value.string();
  return text != nullptr && text->empty();
}

// The variable of a repeatable option contains a list, separated by commas.
Result<std::vector<std::string>> read_variable(const Option& option, const std::string& name,
                                               std::string_view value) {
  std::vector<std::string> texts;
  for (const std::string_view text :
       option.is_repeatable ? split(value, ',') : std::vector<std::string_view>{value}) {
    const std::string_view item = option.is_repeatable ? trim(text) : text;
    TRY(check_value(name, item));
    add_text(texts, std::string(item));
  }
  return texts;
}

const Setting& unset() {
  static const Setting kUnset;
  return kUnset;
}

// If the mapping's last option lacks its value, the boundary must not become that value.
bool may_be_value(std::string_view argument) {
  return !argument.starts_with("--") && argument != "-" + std::string(kBoundaryFlag);
}

std::string_view first_text(const Setting& setting) {
  return setting.texts.empty() ? std::string_view() : std::string_view(setting.texts.front());
}

// Without values, any value will do.
bool is_among(std::string_view value, std::span<const std::string_view> values) {
  if (values.empty()) return !value.empty();
  return std::find(values.begin(), values.end(), value) != values.end();
}

// "--socket needs --subject=spiffe" if one value would do, else "--scope has no use with
// --flow=pinniped", or "--key has no use with --kubeconfig-file" if no value would do.
Error not_used(const Option& option, const OptionUse& use, std::string_view value) {
  const std::string other = "--" + std::string(use.option);
  std::string message = option.flag();
  if (use.values.empty()) {
    message.append(" needs ").append(other);
  } else if (use.values.size() == 1 && use.values.front().empty()) {
    message.append(" has no use with ").append(other);
  } else if (value.empty() || use.values.size() == 1) {
    message.append(" needs ").append(other).append("=").append(use.values.front());
  } else {
    message.append(" has no use with ").append(other).append("=").append(value);
  }
  return Error::configuration(std::move(message), std::string(use.hint));
}

}  // namespace

std::string shown_value(const Option& option, const std::string& text) {
  if (option.value_name != "URL") return redacted_urls(text);
  const std::string quoted = redacted_url(text);
  return quoted.substr(1, quoted.size() - 2);
}

Status Settings::read_arguments(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) TRY(take_argument(arguments, i));
  return {};
}

// Accepts `--name=value`, `--name value` and switches. One dash is accepted for two, as in Go's
// flag package.
Status Settings::take_argument(const std::vector<std::string>& arguments, std::size_t& index) {
  const std::string_view argument = arguments[index];
  const std::size_t dashes = argument.starts_with("--") ? 2 : argument.starts_with('-') ? 1 : 0;
  const std::size_t equals = std::min(argument.find('='), argument.size());
  const std::string_view name = argument.substr(dashes, std::max(equals, dashes) - dashes);
  if (dashes == 0 || name.empty()) {
    return Error::configuration("argument " + std::to_string(index + 1) + " is no option",
                                "every argument is an option: --name=value; see --help");
  }
  const Option* option =
      dashes == 1 && name.size() == 1 ? options_.find_short(name.front()) : options_.find(name);
  if (option == nullptr) {
    return Error::configuration("unknown option " + in_quotes(argument.substr(0, equals)),
                                "--help lists the options");
  }
  const bool has_value = equals < argument.size();
  if (option->name == kBoundaryFlag) {
    if (has_value) return Error::configuration("--from-profile takes no value");
    if (is_behind_boundary_)
      return Error::configuration("--from-profile is given twice",
                                  "write it once, as the last of the mapping's args");
    is_behind_boundary_ = true;
    of(*option) = {.origin = Setting::Origin::flag, .texts = {"true"}};
    return {};
  }
  if (has_value) return add_value(*option, std::string(argument.substr(equals + 1)));
  if (option->is_switch()) return add_value(*option, "true");
  if (index + 1 == arguments.size() || !may_be_value(arguments[index + 1])) {
    return Error::configuration(option->flag() + " needs a value",
                                "write " + option->flag() + "=" + std::string(option->value_name));
  }
  return add_value(*option, arguments[++index]);
}

Status Settings::add_value(const Option& option, std::string value) {
  TRY(check_value(option.flag(), value));
  Setting& setting = of(option);
  if (is_behind_boundary_) return add_profile_value(option, setting, std::move(value));
  if (!option.is_repeatable && !setting.texts.empty() && setting.texts.front() != value) {
    return Error::configuration(
        option.flag() + " is given twice, with different values",
        "it takes one value; only options marked repeatable may be given twice");
  }
  setting.origin = Setting::Origin::flag;
  add_text(setting.texts, std::move(value));
  return {};
}

Status Settings::add_profile_value(const Option& option, Setting& setting, std::string value) {
  if (options_.ignores_profile()) {
    return Error::configuration(
        option.flag() + " stands behind --from-profile, where this plugin takes no option",
        "set it in the mapping's args, before --from-profile");
  }
  if (option.profile != Option::Profile::config_and_arguments) {
    return not_from_arguments(option);
  }
  if (contains(setting.texts, value)) return {};
  if (!setting.texts.empty()) {
    const bool is_leak = setting.origin == Setting::Origin::profile_argument;
    if (option.is_choice && !is_leak) {
      return not_its_choice(option.flag() + " behind --from-profile", option.flag());
    }
    return Error::configuration(
        option.flag() + (is_leak ? " stands behind --from-profile with two values"
                                 : " is set before --from-profile, and may not change"),
        is_leak ? "one ClusterProfile's arguments may have leaked into another's; "
                  "restart the controller, or use spec.cluster.config"
                : "remove it from the ClusterProfile, or from the mapping's args");
  }
  setting = {.origin = Setting::Origin::profile_argument, .texts = {std::move(value)}};
  return {};
}

Status Settings::read_environment(const Environment& environment) {
  if (!environment.has_names_with(environment_name(""))) return {};
  Status first;
  for (const Option& option : options_.all()) {
    if (!option.has_environment) continue;
    const std::string name = environment_name(option.name);
    const std::optional<std::string_view> value = environment.get(name);
    if (!value || of(option).origin == Setting::Origin::flag) continue;
    Status taken = take_variable(option, name, *value);
    if (first && !taken) first = std::move(taken);
  }
  return first;
}

Status Settings::take_variable(const Option& option, const std::string& name,
                               std::string_view value) {
  Setting& setting = of(option);
  std::vector<std::string> texts = TRY(read_variable(option, name, value));
  const bool is_from_profile = setting.origin == Setting::Origin::profile_argument;
  if (is_from_profile && !contains(texts, setting.texts.front())) {
    if (option.is_choice) return not_its_choice(where_from(option.name), name);
    return Error::configuration(
        option.flag() + " stands behind --from-profile, and " + name + " sets it already",
        "remove it from the ClusterProfile, or from the environment");
  }
  setting = {.origin = Setting::Origin::environment, .texts = std::move(texts)};
  return {};
}

Status Settings::read_config(const json::Value& config) {
  if (config.object() == nullptr || !options_.reads_cluster_name()) return {};
  Status first;
  for (const json::Member& member : *config.object()) {
    Status taken = take_field(member);
    if (first && !taken) first = std::move(taken);
  }
  Status shared = read_shared_fields(config);
  return first ? std::move(shared) : std::move(first);
}

Status Settings::take_field(const json::Member& member) {
  const Option* option = option_of_field(options_, member.name);
  if (option == nullptr || member.value.is_null()) return {};
  const std::string path = std::string(kConfigPath) + "." + member.name;
  if (!contains(option->config_fields, member.name)) {
    return options_.ignores_profile() ? Status() : not_from_field(*option, path);
  }
  if (const OptionUse* const use = unmet_use(*option, member.name)) {
    if (is_empty_text(member.value)) return {};
    const std::string_view value = first_text(get(use->option));
    ignored_.push_back(
        path + " is passed over: --" + std::string(use->option) +
        (value.empty() ? " is not set" : "=" + std::string(value) + " does not use it"));
    return {};
  }
  Setting& setting = of(*option);
  if (is_empty_text(member.value)) {
    setting.empty_field = member.name;
    return {};
  }
  const bool is_set = setting.origin != Setting::Origin::unset;
  // For a choice, all sources of a ClusterProfile must have the same value, and so must those of
  // the controller.
  const bool is_compared =
      setting.origin == Setting::Origin::profile_config || (is_set && option->is_choice);
  const bool replaces = option->is_replaceable && setting.is_from_controller();
  if (is_set && !is_compared && !replaces) return {};
  std::vector<std::string> texts = TRY(read_field(*option, member.value, path));
  if (is_compared && texts != setting.texts) {
    if (setting.is_from_controller()) return not_its_choice(path, where_from(option->name));
    return Error::configuration(path + " differs from " + where_from(option->name),
                                "both set " + option->flag() + "; leave one out");
  }
  if (texts.empty() || (is_set && !replaces)) return {};
  setting = {.origin = Setting::Origin::profile_config,
             .texts = std::move(texts),
             .replaced = std::move(setting.texts),
             .config_field = member.name};
  return {};
}

Status Settings::read_shared_fields(const json::Value& config) {
  for (const Option& option : options_.all()) {
    if (option.shared_field.empty() || of(option).origin != Setting::Origin::unset) continue;
    if (!is_used(option)) continue;
    const json::Value* const value = config.find(option.shared_field);
    if (value == nullptr || value->is_null()) continue;
    if (is_empty_text(*value)) {
      if (of(option).empty_field.empty()) of(option).empty_field = option.shared_field;
      continue;
    }
    const std::string path = std::string(kConfigPath) + "." + option.shared_field;
    std::vector<std::string> texts = TRY(read_field(option, *value, path));
    Setting& setting = of(option);
    setting.origin = Setting::Origin::profile_config;
    setting.texts = std::move(texts);
    setting.config_field = option.shared_field;
  }
  return {};
}

Status Settings::read_variables(const Environment& environment) {
  for (const Option& option : options_.all()) {
    if (!option.variables.empty() && !reads_variables(option)) continue;
    for (const std::string_view name : option.variables) {
      Setting& setting = of(option);
      if (setting.origin != Setting::Origin::unset) break;
      const std::optional<std::string_view> value = environment.get(name);
      if (!value) continue;
      setting.variable = name;
      setting.texts = TRY(read_variable(option, std::string(name), *value));
      setting.origin = Setting::Origin::variable;
    }
  }
  return {};
}

Status Settings::check_profile_arguments() const {
  for (const Option& option : options_.all()) {
    if (of(option).origin != Setting::Origin::profile_argument) continue;
    const std::vector<std::string>& fields = option.config_fields;
    const bool may_be = option.profile == Option::Profile::config_and_arguments &&
                        std::any_of(fields.begin(), fields.end(), [&](const std::string& field) {
                          return unmet_use(option, field) == nullptr;
                        });
    if (!may_be) return not_from_arguments(option);
  }
  return {};
}

bool Settings::holds(const OptionUse& use) const {
  return use.option.empty() || is_among(first_text(get(use.option)), use.values) ||
         (!use.other_option.empty() &&
          is_among(first_text(get(use.other_option)), use.other_values));
}

// A condition of the option, or of this field of it, that does not hold; nullptr if all hold.
const OptionUse* Settings::unmet_use(const Option& option, std::string_view field) const {
  for (const OptionUse& use : option.uses) {
    if (!holds(use)) return &use;
  }
  for (const FieldUse& one : option.field_uses) {
    if (one.field == field && !holds(one.use)) return &one.use;
  }
  return nullptr;
}

bool Settings::is_used(const Option& option) const { return unmet_use(option) == nullptr; }

bool Settings::reads_variables(const Option& option) const {
  const auto is_given = [this](std::string_view name) {
    const Option* const other = options_.find(name);
    return other != nullptr && of(*other).origin != Setting::Origin::unset && is_used(*other);
  };
  return is_used(option) && std::none_of(option.rivals.begin(), option.rivals.end(), is_given);
}

bool Settings::is_requested(const Option& option) const {
  return option.is_requested && holds(option.requested_for);
}

Status Settings::check_uses() const {
  for (const Option& option : options_.all()) {
    if (!is_flag(option.name)) continue;
    const OptionUse* const use = unmet_use(option);
    if (use != nullptr) return not_used(option, *use, first_text(get(use->option)));
  }
  return {};
}

Status Settings::store() {
  for (const Option& option : options_.all()) {
    Setting& setting = of(option);
    const bool is_given = setting.origin == Setting::Origin::flag ||
                          (setting.origin != Setting::Origin::unset && is_used(option));
    if (!is_given || setting.is_stored) continue;
    setting.is_stored = true;
    TRY(store(option));
  }
  return {};
}

Status Settings::store(const Option& option) const {
  const std::vector<std::string>& texts = of(option).texts;
  if (texts.empty()) return {};
  Status stored = option.store(texts);
  if (stored) stored = option.check_choices(texts);
  if (stored) stored = option.check_form(texts);
  if (stored) return stored;
  std::string& message = stored.error().message;
  for (const std::string& text : texts) {
    const std::size_t at = message.find(text);
    if (at != std::string::npos) message.replace(at, text.size(), shown_value(option, text));
  }
  message.insert(0, where_from(option.name) + ": ");
  return stored;
}

Status Settings::check_required() const {
  for (const Option& option : options_.all()) {
    if (option.is_required) TRY(check_given(option));
  }
  return {};
}

Status Settings::check_given(const Option& option) const {
  if (of(option).origin != Setting::Origin::unset) return {};
  std::string hint = "pass " + option.flag() + "=" + std::string(option.value_name);
  if (!option.variables.empty()) {
    hint.append(", or set ").append(option.variables.front());
  } else if (option.has_environment) {
    hint += ", or set " + environment_name(option.name);
  }
  const std::string& empty = of(option).empty_field;
  const std::string also =
      empty.empty() ? "" : ", and " + std::string(kConfigPath) + "." + empty + " is empty";
  return Error::configuration(option.flag() + " is required" + also, std::move(hint));
}

Setting& Settings::of(const Option& option) {
  const std::vector<Option>& options = options_.all();
  if (settings_.size() < options.size()) settings_.resize(options.size());
  return settings_[static_cast<std::size_t>(&option - options.data())];
}

const Setting& Settings::of(const Option& option) const {
  const auto index = static_cast<std::size_t>(&option - options_.all().data());
  return index < settings_.size() ? settings_[index] : unset();
}

const Setting& Settings::get(std::string_view name) const {
  const Option* option = options_.find(name);
  return option == nullptr ? unset() : of(*option);
}

const std::vector<std::string>& Settings::given(std::string_view name) const {
  const Setting& setting = get(name);
  return setting.is_from_profile() ? unset().texts : setting.texts;
}

std::string Settings::value_or_default(std::string_view name) const {
  const Option& option = *options_.find(name);
  const std::string text(first_text(of(option)));
  return text.empty() ? option.default_text : printable(shown_value(option, text));
}

std::string Settings::default_of(const Option& option) const {
  if (option.default_by.empty()) return option.default_text;
  return std::string(option.default_for(first_text(get(option.default_by))));
}

namespace {

std::string value_of(const Option& option, const Setting& setting, std::string value) {
  std::vector<std::string> texts = setting.texts;
  for (std::string& text : texts) text = shown_value(option, text);
  if (!texts.empty()) value = printable(join(texts, ","));
  if (option.is_secret && !setting.texts.empty()) value = "(set)";
  if (value.empty()) value = option.is_switch() ? "false" : "-";
  return value;
}

}  // namespace

std::string Settings::where_from(std::string_view name) const {
  const Option* const option = options_.find(name);
  if (option == nullptr) return "unset";
  const Setting& setting = get(name);
  switch (setting.origin) {
    case Setting::Origin::flag:
      return option->flag();
    case Setting::Origin::profile_argument:
      return option->flag() + " behind --from-profile";
    case Setting::Origin::environment:
      return environment_name(name);
    case Setting::Origin::profile_config:
      return std::string(kConfigPath) + "." + setting.config_field;
    case Setting::Origin::variable:
      return std::string(setting.variable);
    case Setting::Origin::unset:
      if (default_of(*option).empty()) return "unset";
      if (option->default_by.empty()) return "default";
      return "--" + std::string(option->default_by) + "=" + value_or_default(option->default_by);
  }
  return {};
}

std::string Settings::as_typed(std::string_view option) const {
  constexpr std::string_view kDashes = "--";
  const std::string_view name = option.substr(option.starts_with(kDashes) ? kDashes.size() : 0);
  const bool is_set = get(name).origin != Setting::Origin::unset;
  return is_set ? where_from(name) : std::string(option);
}

std::string Settings::show() const {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  std::vector<std::pair<const Option*, std::string>> rows;
  for (const Option& option : options_.all()) {
    std::string value = value_of(option, get(option.name), default_of(option));
    name_width = std::max(name_width, option.flag().size());
    value_width = std::max(value_width, value.size());
    rows.emplace_back(&option, std::move(value));
  }
  std::string text;
  for (const auto& [option, value] : rows) {
    text += option->flag() + std::string(name_width + 2 - option->flag().size(), ' ');
    text += value + std::string(value_width + 2 - value.size(), ' ');
    text += where_from(option->name) + "\n";
  }
  return text;
}

}  // namespace execcred
