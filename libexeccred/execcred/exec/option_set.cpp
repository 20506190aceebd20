// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/option_set.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

constexpr std::array<std::string_view, 1> kUnset = {""};
constexpr std::size_t kHelpColumn = 34;
constexpr std::size_t kHelpWidth = 100;

std::string left_column(const Option& option) {
  std::string left = "  ";
  if (option.short_name != 0) left += std::string("-") + option.short_name + ", ";
  left += option.flag();
  if (!option.is_switch()) left.append("=").append(option.value_name);
  return left;
}

// "one of a, b", unless the name of the value lists the choices.
std::string choices_note(const Option& option) {
  if (option.choices.empty() || option.has_other_values) return {};
  std::string note;
  for (const std::string_view choice : option.choices) {
    note.append(note.empty() ? "one of " : ", ").append(choice);
  }
  return option.value_name.find('|') == std::string_view::npos ? note : std::string();
}

std::string notes_on(const Option& option) {
  std::vector<std::string> notes;
  if (option.is_required) notes.emplace_back("required");
  if (option.is_repeatable) notes.emplace_back("repeatable");
  if (option.is_template) notes.emplace_back("template");
  if (const std::string choices = choices_note(option); !choices.empty()) notes.push_back(choices);
  if (!option.default_text.empty()) notes.push_back("default " + option.default_text);
  if (option.has_environment) notes.push_back(environment_name(option.name));
  for (const std::string_view variable : option.variables) notes.emplace_back(variable);
  if (!option.config_fields.empty()) {
    std::vector<std::string> fields = option.config_fields;
    if (!option.shared_field.empty()) fields.push_back(option.shared_field);
    notes.push_back("profile: " + join(fields, ", "));
  }
  return notes.empty() ? std::string() : "(" + join(notes, "; ") + ")";
}

// Breaks a text at spaces, so that it fits into the lines from `column` on.
void append_lines(std::string& lines, std::string_view text, std::size_t column) {
  const std::size_t width = kHelpWidth - column;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    lines.append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!text.empty()) lines.append(column, ' ');
  }
  if (!text.empty()) lines.append(text).append("\n");
}

}  // namespace

OptionBuilder& OptionBuilder::or_for(std::string_view option,
                                     std::span<const std::string_view> values) {
  return set([=](Option& o) {
    EXECCRED_ASSERT(!o.uses.empty());
    o.uses.back().other_option = option;
    o.uses.back().other_values = values;
  });
}

OptionBuilder& OptionBuilder::not_with(std::span<const std::string_view> options) {
  for (const std::string_view option : options) only_for(option, kUnset, "leave one of them out");
  return *this;
}

OptionBuilder& OptionBuilder::from_profile(Option::Profile profile,
                                           std::vector<std::string> config_fields) {
  return set([profile, &config_fields](Option& option) {
    option.profile = profile;
    if (config_fields.empty()) config_fields.push_back(camel_case(option.name));
    option.config_fields = std::move(config_fields);
  });
}

// "'x' is neither a nor b", or "'x' is no flow" if there is a noun.
Status Option::check_choices(const std::vector<std::string>& texts) const {
  if (choices.empty() || has_other_values) return {};
  for (const std::string& text : texts) {
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) continue;
    std::vector<std::string> names(choices.begin(), choices.end());
    if (!choice_noun.empty()) {
      return Error::configuration(in_quotes(text) + " is no " + std::string(choice_noun),
                                  "there are: " + join(names, ", "));
    }
    const std::string last = std::exchange(names.back(), {});
    names.pop_back();
    const bool are_two = names.size() == 1;
    return Error::configuration(in_quotes(text) + (are_two ? " is neither " : " is none of ") +
                                join(names, ", ") + (are_two ? " nor " : " and ") + last);
  }
  return {};
}

Status ValueForm::check(const std::string& text) const {
  if (fits == nullptr || fits(text)) return {};
  return Error::configuration(in_quotes(text) + " is no " + std::string(noun), std::string(hint));
}

Status Option::check_form(const std::vector<std::string>& texts) const {
  if (form == nullptr) return {};
  for (const std::string& text : texts) {
    if (!is_template || text.find('{') == std::string::npos) TRY(form->check(text));
  }
  return {};
}

OptionBuilder OptionSet::add(Option option) {
  option.group = group_;
  if (!use_.option.empty()) option.uses.push_back(use_);
  option.not_identity = not_identity_;
  options_.push_back(std::move(option));
  return {options_, options_.size() - 1};
}

OptionBuilder OptionSet::add(std::string_view name, bool& target, std::string_view help) {
  return add({.name = name,
              .help = help,
              .store = [&target](const std::vector<std::string>& texts) -> Status {
                const std::string& text = texts.front();
                if (text != "true" && text != "1" && text != "false" && text != "0") {
                  return Error::configuration(in_quotes(text) + " is neither true nor false",
                                              "write true or 1, false or 0");
                }
                target = text == "true" || text == "1";
                return {};
              }});
}

OptionBuilder OptionSet::add(std::string_view name, std::string& target,
                             std::string_view value_name, std::string_view help) {
  return add_parsed(name, target, value_name, help,
                    [](const std::string& text) { return Result<std::string>(text); });
}

OptionBuilder OptionSet::add(std::string_view name, std::filesystem::path& target,
                             std::string_view value_name, std::string_view help) {
  return add_parsed(name, target, value_name, help, [](const std::string& text) {
    return Result<std::filesystem::path>(std::filesystem::path(text));
  });
}

OptionBuilder OptionSet::add(std::string_view name, Duration& target, std::string_view value_name,
                             std::string_view help) {
  return add_parsed(name, target, value_name, help,
                    [](const std::string& text) { return parse_duration(text); })
      .default_text(format_duration(target));
}

OptionBuilder OptionSet::add(std::string_view name, std::vector<std::string>& target,
                             std::string_view value_name, std::string_view help) {
  return add_parsed(name, target, value_name, help,
                    [](const std::string& text) { return Result<std::string>(text); });
}

const Option* OptionSet::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

const Option* OptionSet::find_short(char short_name) const {
  for (const Option& option : options_) {
    if (option.short_name == short_name) return &option;
  }
  return nullptr;
}

std::vector<std::string_view> OptionSet::groups() const {
  std::vector<std::string_view> groups;
  for (const Option& option : options_) {
    const bool is_known = std::find(groups.begin(), groups.end(), option.group) != groups.end();
    if (!is_known && option.group != kCommonGroup) groups.push_back(option.group);
  }
  groups.push_back(kCommonGroup);
  return groups;
}

std::string option_lines(std::string left, std::string_view text, std::string_view notes,
                         std::size_t column) {
  std::string lines = std::move(left);
  if (lines.size() + 2 > column) {
    lines += "\n";
    lines.append(column, ' ');
  } else {
    lines.append(column - lines.size(), ' ');
  }
  std::string first(text);
  const bool is_one_line = column + text.size() + 1 + notes.size() <= kHelpWidth;
  if (!notes.empty() && is_one_line) first.append(" ").append(notes);
  append_lines(lines, first, column);
  if (notes.empty() || is_one_line) return lines;
  lines.append(column, ' ');
  append_lines(lines, notes, column);
  return lines;
}

std::string example_lines(std::string_view purpose, std::string_view command) {
  return "  " + std::string(purpose) + ":\n    " + std::string(command) + "\n";
}

std::string OptionSet::help(std::string_view usage, std::string_view summary,
                            std::span<const Example> examples) const {
  std::string text = "Usage: " + std::string(usage) + "\n\n" + std::string(summary) + "\n";
  for (const std::string_view group : groups()) {
    std::string lines;
    for (const Option& option : options_) {
      if (option.group != group) continue;
      lines += option_lines(left_column(option), option.help, notes_on(option), kHelpColumn);
    }
    if (!lines.empty()) text.append("\n").append(group).append(":\n").append(lines);
  }
  if (!examples.empty()) text += "\nExamples:\n";
  for (const Example& example : examples) text += example_lines(example.purpose, example.command);
  return text;
}

}  // namespace execcred
