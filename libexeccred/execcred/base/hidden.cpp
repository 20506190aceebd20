// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/hidden.hpp>

#include <algorithm>
#include <vector>

namespace execcred {
namespace {

constexpr std::size_t kShortestRun = 32;

std::string without(std::string_view text, std::string_view secret) {
  std::string shown;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(secret, at);
    shown += text.substr(at, found - at);
    if (found == std::string_view::npos) return shown;
    shown += kHidden;
    at = found + secret.size();
  }
}

// A block without its end is hidden up to the end of the text.
std::string without_pem(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  constexpr std::string_view kDashes = "-----";
  std::string shown;
  for (;;) {
    const std::size_t begin = text.find(kBegin);
    shown += text.substr(0, begin);
    if (begin == std::string_view::npos) return shown;
    shown += kHidden;
    const std::size_t end = text.find(kEnd, begin);
    const std::size_t last =
        end == std::string_view::npos ? end : text.find(kDashes, end + kEnd.size());
    if (last == std::string_view::npos) return shown;
    text.remove_prefix(last + kDashes.size());
  }
}

// Without the part of each URL between "://" and "@".
std::string without_userinfo(std::string_view text) {
  constexpr std::string_view kLead = "://";
  std::string shown;
  for (;;) {
    const std::size_t lead = text.find(kLead);
    if (lead == std::string_view::npos) return shown.append(text);
    shown += text.substr(0, lead + kLead.size());
    text.remove_prefix(lead + kLead.size());
    const std::string_view authority = text.substr(0, text.find_first_of("/?# \t\r\n\"'`<>"));
    const std::size_t at = authority.rfind('@');
    if (at == std::string_view::npos) continue;
    shown += kHidden;
    text.remove_prefix(at);
  }
}

bool is_letter(char c) { return is_alphanumeric(c) && !is_digit(c); }
bool is_base64(char c) { return is_alphanumeric(c) || c == '+' || c == '/'; }
bool is_base64url(char c) { return is_alphanumeric(c) || c == '-' || c == '_'; }
bool is_word(char c) { return is_base64(c) || is_base64url(c) || c == '.' || c == '~'; }

// Two labels or more, of which the last has letters alone, and not more than a top-level domain.
bool is_host_name(std::string_view word) {
  constexpr std::size_t kLongestLast = 24;
  const std::vector<std::string_view> labels = split(word, '.');
  const auto is_label = [](std::string_view label) {
    return !label.empty() && is_alphanumeric_or(label, "-");
  };
  return labels.size() > 1 && labels.back().size() <= kLongestLast &&
         std::all_of(labels.begin(), labels.end(), is_label) &&
         std::all_of(labels.back().begin(), labels.back().end(), is_letter);
}

// Whether the word is the path of a file or the end of a URL. Base64 may have slashes too, but
// seldom at its beginning, and a path seldom has a plus.
bool is_path(std::string_view word) {
  if (word.find('+') != std::string_view::npos) return false;
  return word.starts_with('/') || word.starts_with("./") || word.starts_with("../") ||
         word.starts_with("~/") || is_host_name(word.substr(0, word.find('/')));
}

// Paths seldom have letters of both cases and digits or a plus.
bool is_secret(std::string_view run) {
  if (run.size() < kShortestRun || std::none_of(run.begin(), run.end(), is_alphanumeric)) {
    return false;
  }
  if (run.find('/') == std::string_view::npos) return true;
  const auto has = [run](bool (*is_kind)(char)) {
    return std::any_of(run.begin(), run.end(), is_kind);
  };
  return has([](char c) { return is_digit(c) || c == '+'; }) &&
         has([](char c) { return c >= 'a' && c <= 'z'; }) &&
         has([](char c) { return c >= 'A' && c <= 'Z'; });
}

std::size_t length_of(std::string_view text, bool (*is_part)(char)) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_part) -
                                  text.begin());
}

// The word without a JWT and, if `hides_runs`, without its long runs.
std::string shown_word(std::string_view word, bool hides_runs) {
  constexpr std::size_t kShortestJwt = 16;
  const std::size_t jwt = word.find("eyJ");
  if (jwt != std::string_view::npos && word.size() - jwt >= kShortestJwt) {
    return std::string(kHidden);
  }
  if (!hides_runs || is_path(word)) return std::string(word);
  std::string shown;
  while (!word.empty()) {
    const std::size_t size = std::max(length_of(word, is_base64), length_of(word, is_base64url));
    const std::string_view run = word.substr(0, size);
    shown += is_secret(run) ? kHidden : run;
    if (size < word.size()) shown.push_back(word[size]);
    word.remove_prefix(std::min(size + 1, word.size()));
  }
  return shown;
}

// Takes what follows "Bearer" from the front of the text: separators, and the token, which may have
// other characters than a word.
std::string take_bearer(std::string_view& text) {
  const std::size_t token = std::min(text.find_first_not_of(" \t=:\"'"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'`,;<>()[]{}", token), text.size());
  if (token == 0 || end == token) return {};
  std::string shown(text.substr(0, token));
  shown += kHidden;
  text.remove_prefix(end);
  return shown;
}

std::string without_tokens(std::string_view text, bool hides_runs) {
  const std::string cleaned = without_userinfo(without_pem(text));
  std::string shown;
  for (std::string_view rest = cleaned; !rest.empty();) {
    const std::size_t size = length_of(rest, is_word);
    const std::string_view word = rest.substr(0, std::max<std::size_t>(size, 1));
    shown += size == 0 ? std::string(word) : shown_word(word, hides_runs);
    rest.remove_prefix(word.size());
    if (ascii_lower(word) == "bearer") shown += take_bearer(rest);
  }
  return shown;
}

}  // namespace

SecretTexts secrets_in(std::string_view output) {
  constexpr std::size_t kMost = 200;
  constexpr std::size_t kShortest = 6;
  SecretTexts secrets;
  output = trim(output);
  if (is_visible_ascii(output) && output.find('"') == std::string_view::npos) {
    secrets.emplace_back(output);
  }
  while (!output.empty() && secrets.size() < kMost) {
    const std::size_t size = length_of(output, is_word);
    const std::string_view word = output.substr(0, size);
    if (size >= kShortest && std::any_of(word.begin(), word.end(), is_digit) && !is_path(word)) {
      secrets.emplace_back(word);
    }
    output.remove_prefix(std::min(size + 1, output.size()));
  }
  return secrets;
}

std::string without_secrets(std::string_view text, const SecretTexts& secrets) {
  // The longest first: a shorter one may be a part of it.
  std::vector<std::string_view> longest;
  for (const SecretString& secret : secrets) longest.push_back(secret.reveal());
  std::sort(longest.begin(), longest.end(),
            [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  std::string cleaned(text);
  for (const std::string_view secret : longest) {
    if (!secret.empty()) cleaned = without(cleaned, secret);
  }
  return without_tokens(cleaned, true);
}

std::string without_tokens(std::string_view text) { return without_tokens(text, false); }

}  // namespace execcred
