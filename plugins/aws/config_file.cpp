// SPDX-License-Identifier: Apache-2.0
#include "config_file.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace execcred::aws {
namespace {

// A larger file was not written by hand, and the search for duplicates would take too long.
constexpr std::size_t kMaxLines = 50'000;

class Parser {
 public:
  Status take_line(std::string_view line);
  Result<std::vector<ConfigSection>> finish() && { return std::move(sections_); }

 private:
  Error wrong(std::string_view problem) const {
    return {.kind = Error::Kind::configuration,
            .message = "line " + std::to_string(line_number_) + " " + std::string(problem)};
  }

  Status take_section(std::string_view text);
  Status take_setting(std::string_view text, std::size_t indent);

  std::vector<ConfigSection> sections_;
  std::set<std::string, std::less<>> section_names_;
  std::set<std::string, std::less<>> setting_names_;  // of the last section
  std::size_t line_number_ = 0;
  std::size_t setting_indent_ = 0;
  bool has_setting_ = false;  // in the last section
};

bool is_comment(std::string_view text) { return text.starts_with('#') || text.starts_with(';'); }

// The text without its comment, which begins after white space.
std::string_view without_comment(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (is_space(text[i - 1]) && is_comment(text.substr(i))) return trim(text.substr(0, i));
  }
  return text;
}

bool has_odd_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return c != '\t' && has_control_character(std::string_view(&c, 1));
  });
}

Status Parser::take_line(std::string_view line) {
  ++line_number_;
  if (line_number_ > kMaxLines) return wrong("is one too many");
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (has_odd_control_character(line)) return wrong("has a control character");
  if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) {
    return wrong("begins with a byte order mark, which most readers of this file refuse");
  }
  const std::string_view text = trim(line);
  if (text.empty() || is_comment(text)) return {};
  const auto indent = static_cast<std::size_t>(text.data() - line.data());
  if (has_setting_ && indent > setting_indent_) {
    SecretString& value = sections_.back().settings.back().value;
    value.append("\n");
    value.append(text);
    return {};
  }
  return text.front() == '[' ? take_section(text) : take_setting(text, indent);
}

Status Parser::take_section(std::string_view text) {
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return wrong("does not end with the section's bracket");
  const std::string_view rest = trim(text.substr(end + 1));
  if (!rest.empty() && !is_comment(rest)) {
    return wrong("has more than a comment behind the section's bracket");
  }
  const std::string_view name = trim(text.substr(1, end - 1));
  if (name.empty() || name.find('[') != std::string_view::npos) {
    return wrong("is no name of a section");
  }
  if (name == "DEFAULT") return wrong("has the section DEFAULT, which is not [default]");
  if (!section_names_.emplace(name).second) return wrong("has a section twice");
  sections_.push_back({.name = std::string(name)});
  setting_names_.clear();
  has_setting_ = false;
  return {};
}

Status Parser::take_setting(std::string_view text, std::size_t indent) {
  if (sections_.empty()) return wrong("stands before the first section");
  const std::size_t size = text.size();
  text = without_comment(text);
  const std::size_t comment_line = text.size() < size ? line_number_ : 0;
  const std::size_t delimiter = text.find_first_of("=:");
  if (delimiter == std::string_view::npos) return wrong("is no section, setting or comment");
  std::string name = ascii_lower(trim(text.substr(0, delimiter)));
  if (name.empty()) return wrong("has no name before its value");
  if (!setting_names_.insert(name).second) return wrong("has a setting twice");
  sections_.back().settings.push_back({.name = std::move(name),
                                       .value = SecretString(trim(text.substr(delimiter + 1))),
                                       .comment_line = comment_line});
  setting_indent_ = indent;
  has_setting_ = true;
  return {};
}

}  // namespace

const ConfigSetting* ConfigSection::setting(std::string_view wanted) const {
  for (const ConfigSetting& setting : settings) {
    if (setting.name == wanted) return &setting;
  }
  return nullptr;
}

const SecretString* ConfigSection::find(std::string_view wanted) const {
  const ConfigSetting* const found = setting(wanted);
  return found == nullptr ? nullptr : &found->value;
}

Result<std::vector<ConfigSection>> parse_config_file(std::string_view text) {
  Parser parser;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    TRY(parser.take_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(parser).finish();
}

}  // namespace execcred::aws
