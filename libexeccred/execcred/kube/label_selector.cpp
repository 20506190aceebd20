// SPDX-License-Identifier: Apache-2.0
#include <execcred/kube/label_selector.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxName = 63;

Error malformed(std::string_view requirement, const std::string& why) {
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(requirement) + " is no label requirement: " + why,
               .hint =
                   "write KEY=VALUE, KEY!=VALUE, KEY, !KEY, 'KEY in (A,B)' or "
                   "'KEY notin (A,B)', joined by commas"};
}

bool is_qualified_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && is_alphanumeric_or(text, "-_.");
}

// Splits at the commas outside of parentheses.
std::vector<std::string_view> split_requirements(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') is_inside = true;
    if (text[i] == ')') is_inside = false;
    if (text[i] != ',' || is_inside) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

}  // namespace

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_qualified_name(text);
  return is_dns1123_subdomain(text.substr(0, slash)) && is_qualified_name(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_qualified_name(text); }

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  if (trim(text).empty()) return selector;
  for (const std::string_view part : split_requirements(text)) {
    Requirement requirement = TRY(parse_requirement(trim(part)));
    if (!is_label_key(requirement.key)) return malformed(part, "its key is no label's");
    for (const std::string& value : requirement.values) {
      if (!is_label_value(value)) return malformed(part, "its value is no label's");
    }
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

Result<LabelSelector::Requirement> LabelSelector::parse_requirement(std::string_view text) {
  if (text.starts_with('!')) {
    return Requirement{.key = std::string(trim(text.substr(1))), .op = Operator::does_not_exist};
  }
  if (const std::size_t open = text.find('('); open != std::string_view::npos) {
    return parse_set(text, open);
  }
  if (text.find('=') != std::string_view::npos) return parse_equality(text);
  return Requirement{.key = std::string(text), .op = Operator::exists};
}

Result<LabelSelector::Requirement> LabelSelector::parse_equality(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool is_negated = equals > 0 && text[equals - 1] == '!';
  const std::string_view key = text.substr(0, equals - (is_negated ? 1 : 0));
  std::string_view value = text.substr(equals + 1);
  if (!is_negated && value.starts_with('=')) value.remove_prefix(1);
  return Requirement{.key = std::string(trim(key)),
                     .op = is_negated ? Operator::not_in : Operator::in,
                     .values = {std::string(trim(value))}};
}

Result<LabelSelector::Requirement> LabelSelector::parse_set(std::string_view text,
                                                            std::size_t open) {
  if (!text.ends_with(')')) return malformed(text, "it does not end with ')'");
  const std::string_view head = trim(text.substr(0, open));
  const std::size_t space = head.find_last_of(" \t");
  if (space == std::string_view::npos) return malformed(text, "it has no operator");
  const std::string_view word = head.substr(space + 1);
  if (word != "in" && word != "notin")
    return malformed(text, "its operator is neither in nor notin");
  Requirement requirement{.key = std::string(trim(head.substr(0, space))),
                          .op = word == "in" ? Operator::in : Operator::not_in};
  for (const std::string_view value : split(text.substr(open + 1, text.size() - open - 2), ',')) {
    requirement.values.emplace_back(trim(value));
  }
  return requirement;
}

LabelSelector LabelSelector::unmet(const Labels& labels) const {
  LabelSelector unmet;
  std::copy_if(
      requirements_.begin(), requirements_.end(), std::back_inserter(unmet.requirements_),
      [&labels](const Requirement& requirement) {
        const auto found = labels.find(requirement.key);
        const bool is_there = found != labels.end();
        const auto holds = [&](const std::string& value) { return found->second == value; };
        switch (requirement.op) {
          case Operator::exists:
            return !is_there;
          case Operator::does_not_exist:
            return is_there;
          case Operator::in:
            return !is_there ||
                   std::none_of(requirement.values.begin(), requirement.values.end(), holds);
          case Operator::not_in:  // an absent label is not among the values either
            return is_there &&
                   std::any_of(requirement.values.begin(), requirement.values.end(), holds);
        }
        return true;
      });
  return unmet;
}

LabelSelector LabelSelector::with_defaults(const LabelSelector& defaults) const {
  LabelSelector merged = *this;
  for (const Requirement& requirement : defaults.requirements_) {
    const bool is_named =
        std::any_of(requirements_.begin(), requirements_.end(),
                    [&](const Requirement& mine) { return mine.key == requirement.key; });
    if (!is_named) merged.requirements_.push_back(requirement);
  }
  return merged;
}

LabelSelector LabelSelector::with(const LabelSelector& more) const {
  LabelSelector both = *this;
  both.requirements_.insert(both.requirements_.end(), more.requirements_.begin(),
                            more.requirements_.end());
  return both;
}

std::string LabelSelector::text() const {
  std::vector<std::string> parts;
  for (const Requirement& requirement : requirements_) {
    const bool is_single = requirement.values.size() == 1;
    const std::string values = join(requirement.values, ",");
    switch (requirement.op) {
      case Operator::exists:
        parts.push_back(requirement.key);
        break;
      case Operator::does_not_exist:
        parts.push_back("!" + requirement.key);
        break;
      case Operator::in:
        parts.push_back(requirement.key + (is_single ? "=" + values : " in (" + values + ")"));
        break;
      case Operator::not_in:
        parts.push_back(requirement.key + (is_single ? "!=" + values : " notin (" + values + ")"));
        break;
    }
  }
  return join(parts, ",");
}

}  // namespace execcred
