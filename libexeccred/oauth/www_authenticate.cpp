// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/www_authenticate.hpp>

#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred {
namespace {

constexpr std::size_t kMaxHeader = 8 * 1024;

// RFC 9110, section 5.6.2.
bool is_token_char(char c) {
  return is_alphanumeric(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

class ChallengeReader {
 public:
  explicit ChallengeReader(std::string_view header) : rest_(header) {}

  std::optional<ChallengeError> read() {
    for (bool is_first = true; take_separator(is_first); is_first = false) {
      if (!take_item()) return std::nullopt;
    }
    if (!rest_.empty()) return std::nullopt;
    finish_challenge();
    return found_;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  // Before an item; lists may have empty items. False: nothing that may begin one follows.
  bool take_separator(bool is_first) {
    bool has_comma = is_first;
    for (skip_blanks(); rest_.starts_with(','); skip_blanks()) {
      has_comma = true;
      rest_.remove_prefix(1);
    }
    return has_comma && !rest_.empty();
  }

  std::string_view take_token() {
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_token_char);
    const std::string_view token(rest_.begin(), static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(token.size());
    return token;
  }

  // A parameter of the challenge before, or the scheme of a new one with what follows it.
  bool take_item() {
    const std::string_view name = take_token();
    if (name.empty()) return false;
    const std::size_t blanks = blanks_ahead();
    if (has_scheme_ && rest_.substr(blanks).starts_with('=')) return take_value(name);
    finish_challenge();
    has_scheme_ = true;
    if (blanks == 0) return rest_.empty() || rest_.front() == ',';
    skip_blanks();
    return rest_.empty() || rest_.front() == ',' || take_token68() || take_first_parameter();
  }

  std::size_t blanks_ahead() const {
    return std::min(rest_.find_first_not_of(" \t"), rest_.size());
  }

  // All of what follows a scheme, up to the comma: base64 or the like, padded with '='.
  bool take_token68() {
    const std::size_t end = std::min(rest_.find(','), rest_.size());
    std::string_view text = trim(rest_.substr(0, end));
    while (text.ends_with('=')) text.remove_suffix(1);
    const bool is_token68 = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return is_alphanumeric(c) || std::string_view("-._~+/").find(c) != std::string_view::npos;
    });
    if (is_token68) rest_.remove_prefix(end);
    return is_token68;
  }

  bool take_first_parameter() {
    const std::string_view name = take_token();
    return !name.empty() && take_value(name);
  }

  bool take_value(std::string_view name) {
    skip_blanks();
    if (!rest_.starts_with('=')) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    std::string value;
    if (rest_.starts_with('"')) {
      if (!take_quoted(value)) return false;
    } else {
      value = take_token();
      if (value.empty()) return false;
    }
    const std::string lower = ascii_lower(name);
    if (lower == "error") return set(error_, value);
    return lower != "error_description" || set(description_, value);
  }

  bool take_quoted(std::string& value) {
    for (rest_.remove_prefix(1); !rest_.empty(); rest_.remove_prefix(1)) {
      const bool is_escape = rest_.front() == '\\';
      if (is_escape) rest_.remove_prefix(1);
      if (rest_.empty()) return false;
      if (!is_escape && rest_.front() == '"') {
        rest_.remove_prefix(1);
        return true;
      }
      value.push_back(rest_.front());
    }
    return false;
  }

  // One challenge has a parameter once.
  static bool set(std::optional<std::string>& parameter, std::string& value) {
    if (parameter) return false;
    parameter = std::move(value);
    return true;
  }

  void finish_challenge() {
    if (!found_ && error_ && !error_->empty()) {
      found_ = {.error = *error_, .description = description_.value_or("")};
    }
    error_.reset();
    description_.reset();
  }

  std::string_view rest_;
  bool has_scheme_ = false;
  std::optional<std::string> error_;  // of the challenge that is being read
  std::optional<std::string> description_;
  std::optional<ChallengeError> found_;
};

}  // namespace

std::optional<ChallengeError> challenge_error(std::string_view header) {
  if (header.size() > kMaxHeader) return std::nullopt;
  return ChallengeReader(header).read();
}

}  // namespace execcred
