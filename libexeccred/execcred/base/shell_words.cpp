// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/shell_words.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <optional>
#include <utility>

namespace execcred {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        end_word();
      } else if (c == '\'') {
        TRY(take_single_quoted());
      } else if (c == '"') {
        TRY(take_double_quoted());
      } else if (c == '\\') {
        if (at_ == text_.size()) return Error::configuration("ends in a backslash");
        word().push_back(text_[at_++]);
      } else {
        word().push_back(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  // The current word. It is begun if necessary, because an empty pair of quotes is a word too.
  std::string& word() { return word_ ? *word_ : word_.emplace(); }

  void end_word() {
    if (word_) words_.push_back(*std::move(word_));
    word_.reset();
  }

  Status take_single_quoted() {
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return Error::configuration("has a ' without its end");
    word().append(text_.substr(at_, end - at_));
    at_ = end + 1;
    return {};
  }

  Status take_double_quoted() {
    constexpr std::string_view kEscaped = "\\\"$`";
    word();
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return {};
      const bool is_escape =
          c == '\\' && at_ < text_.size() && kEscaped.find(text_[at_]) != std::string_view::npos;
      word().push_back(is_escape ? text_[at_++] : c);
    }
    return Error::configuration("has a \" without its end");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_shell_words(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return Error::configuration("has a NUL byte");
  return Splitter(text).split();
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && is_alphanumeric_or(text, "-._/:@%+,=")) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace execcred
