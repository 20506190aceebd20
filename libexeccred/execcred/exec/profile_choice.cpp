// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/profile_choice.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url_pattern.hpp>

#include <algorithm>

namespace execcred {
namespace {

bool is_plain(std::string_view text) { return is_alphanumeric_or(text, "-._~:/@+="); }

// Checks the path segments from the last "/" of the prefix on, which the value determines.
bool has_plain_parts(std::string_view value, std::size_t prefix_size) {
  const std::size_t slash = value.substr(0, prefix_size).rfind('/');
  const std::vector<std::string_view> parts =
      split(value.substr(slash == std::string_view::npos ? 0 : slash + 1), '/');
  return std::none_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.empty() || part == "." || part.find("..") != std::string_view::npos;
  });
}

Error no_permission(const std::string& what, const Option& option) {
  const std::string permission = "--" + std::string(option.permission);
  return Error::without_permission(
      what + " is not allowed: there is no " + permission,
      "set " + option.flag() + " in the mapping's args, or " + permission + "=PATTERN");
}

Error no_match(const std::string& what, const Option& option,
               const std::vector<std::string>& allowed) {
  return Error::by_rule(cause::kConfigRefused,
                        what + " matches no --" + std::string(option.permission),
                        "allowed: " + quoted_list(allowed));
}

Result<bool> matches_any(const std::vector<std::string>& allowed, const std::string& value) {
  bool is_allowed = false;
  for (const std::string& text : allowed) {
    const ChoicePattern pattern = TRY(ChoicePattern::parse(text));
    is_allowed |= pattern.matches(value);
  }
  return is_allowed;
}

Status check_choice(const Option& option, const Settings& settings) {
  const Setting& chosen = settings.get(option.name);
  if (!chosen.is_from_profile()) return {};
  const std::vector<std::string>& allowed = settings.get(option.permission).texts;
  const std::string subject = settings.where_from(option.name) + " ";
  for (const std::string& value : chosen.texts) {
    std::string what = subject;
    what += in_quotes(value);
    if (allowed.empty()) return no_permission(what, option);
    const bool is_allowed = TRY(matches_any(allowed, value));
    if (!is_allowed) return no_match(what, option, allowed);
  }
  return {};
}

}  // namespace

Result<ChoicePattern> ChoicePattern::parse(std::string_view text) {
  const std::string_view fault =
      text == "any" ? "would allow everything" : fault_of_text_pattern(text);
  if (!fault.empty()) {
    return Error::configuration(in_quotes(text) + " is no pattern: it " + std::string(fault),
                                "write what may be chosen, or a prefix of it that ends in *");
  }
  ChoicePattern pattern;
  pattern.text_ = text;
  return pattern;
}

bool ChoicePattern::matches(std::string_view value) const {
  if (!is_prefix()) return value == text_;
  const std::string_view prefix = std::string_view(text_).substr(0, text_.size() - 1);
  return value.starts_with(prefix) && is_plain(value.substr(prefix.size())) &&
         has_plain_parts(value, prefix.size());
}

OptionBuilder add_choice_patterns(OptionSet& set, std::string_view name,
                                  std::vector<ChoicePattern>& patterns, std::string_view help) {
  return set
      .add_parsed(name, patterns, "PATTERN", help,
                  [](const std::string& text) { return ChoicePattern::parse(text); })
      .no_environment()
      .not_identity("it only allows a choice, which is an input itself");
}

Status check_choices(const OptionSet& options, const Settings& settings) {
  for (const Option& option : options.all()) {
    if (option.is_choice) TRY(check_choice(option, settings));
  }
  return {};
}

Status check_audience_choice(const OptionSet& options, const Settings& settings,
                             const AccessRules& rules, const ExecInfo& info) {
  const Option* const option = options.find("audience");
  if (option == nullptr || !settings.get("audience").is_from_profile()) return {};
  if (!settings.is_requested(*option) && rules.allow_audience.empty()) return {};
  for (const std::string& text : settings.get("audience").texts) {
    TRY(check_audience(rules, text, info));
  }
  return {};
}

}  // namespace execcred
