// SPDX-License-Identifier: Apache-2.0
#include <execcred/json/json_scan.hpp>

#include <algorithm>
#include <cstddef>

namespace execcred::json {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Skips white space, then this character. False if another one is there.
  bool skip(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // The text of the next value, or the rest if the text ends within it; nullopt if there is none.
  std::optional<std::string_view> value() {
    skip_space();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return std::nullopt;
        --depth;
        ++at_;
      } else if (depth > 0) {
        at_ = std::min(text_.find_first_of("\"{}[]", at_), text_.size());
      } else {
        at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size());
        if (at_ == begin) return std::nullopt;
      }
      if (depth == 0) break;
    }
    has_end_ = depth == 0;
    if (at_ == begin) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }

  // Of the last value, if it was an object or an array.
  bool has_end() const { return has_end_; }

  bool is_at_end() {
    skip_space();
    return at_ == text_.size();
  }

 private:
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void skip_string() {
    do {
      at_ = text_.find_first_of("\"\\", at_ + 1);
      if (at_ >= text_.size()) break;
      if (text_[at_] == '"') {
        ++at_;
        return;
      }
      ++at_;  // the character after a backslash is part of the string
    } while (at_ < text_.size());
    at_ = text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_end_ = false;
};

}  // namespace

std::optional<std::string_view> member_text(std::string_view text, std::string_view name) {
  Scanner scanner(text);
  if (!scanner.skip('{')) return std::nullopt;
  do {
    const std::optional<std::string_view> key = scanner.value();
    if (!key || key->size() < 2 || key->front() != '"' || !scanner.skip(':')) return std::nullopt;
    const std::optional<std::string_view> value = scanner.value();
    if (!value) return std::nullopt;
    if (key->substr(1, key->size() - 2) == name) return value;
  } while (scanner.skip(','));
  return std::nullopt;
}

std::size_t container_size(std::string_view text) {
  if (!text.starts_with('{') && !text.starts_with('[')) return 0;
  Scanner scanner(text);
  const std::optional<std::string_view> value = scanner.value();
  return value && scanner.has_end() ? value->size() : 0;
}

std::optional<std::vector<std::string_view>> element_texts(std::string_view text) {
  std::vector<std::string_view> elements;
  Scanner scanner(text);
  if (!scanner.skip('[')) return std::nullopt;
  if (scanner.skip(']')) return elements;
  do {
    const std::optional<std::string_view> element = scanner.value();
    if (!element) return std::nullopt;
    elements.push_back(*element);
  } while (scanner.skip(','));
  if (!scanner.skip(']') || !scanner.is_at_end()) return std::nullopt;
  return elements;
}

}  // namespace execcred::json
