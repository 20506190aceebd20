// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/known_secrets.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace execcred {
namespace {

constexpr std::size_t kWindow = 12;   // a part of this many characters reveals a secret
constexpr std::size_t kShortest = 4;  // a shorter one would also match ordinary words
constexpr std::string_view kHidden = "***";

// The parts of a text that would reveal a secret, and where each begins.
using Parts = std::unordered_map<std::string_view, std::vector<std::size_t>>;

void add_part(std::string_view text, std::size_t begin, std::size_t size, Parts& parts) {
  if (begin + size <= text.size()) parts[text.substr(begin, size)].push_back(begin);
}

void mark(std::size_t begin, std::size_t size, std::vector<bool>& marked) {
  std::fill_n(marked.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
}

// Marks the parts, which have that size, that are in the secret. Each is taken out when it is
// marked, because a secret may have it many times.
void mark_found(Parts parts, std::string_view secret, std::size_t size, std::vector<bool>& marked) {
  for (std::size_t i = 0; i + size <= secret.size(); ++i) {
    const auto found = parts.find(secret.substr(i, size));
    if (found == parts.end()) continue;
    for (const std::size_t begin : found->second) mark(begin, size, marked);
    parts.erase(found);
  }
}

// Marks the parts of the secret that were cut or hidden in part: what ends at "..." or "***", and
// what begins after "***".
void mark_rests(std::string_view text, std::string_view secret, std::vector<bool>& marked) {
  for (std::size_t size = kShortest; size < kWindow; ++size) {
    Parts parts;
    for (const std::string_view gap : {std::string_view("..."), kHidden}) {
      for (std::size_t at = text.find(gap); at != std::string_view::npos;
           at = text.find(gap, at + 1)) {
        if (at >= size) add_part(text, at - size, size, parts);
        if (gap == kHidden) add_part(text, at + gap.size(), size, parts);
      }
    }
    if (!parts.empty()) mark_found(std::move(parts), secret, size, marked);
  }
}

bool is_in_word(char c) { return is_alphanumeric(c) || c == '-' || c == '_'; }

// A text of lower-case words may be one of our own, so it is only searched for as a whole, and only
// if it is not short.
void mark_words(std::string_view text, std::string_view secret, std::vector<bool>& marked) {
  constexpr std::size_t kLongestOrdinary = 7;
  const bool is_of_words = std::all_of(secret.begin(), secret.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '-' || c == '_';
  });
  if (secret.size() < kShortest || (is_of_words && secret.size() <= kLongestOrdinary)) return;
  for (std::size_t at = text.find(secret); at != std::string_view::npos;
       at = text.find(secret, at + 1)) {
    const std::size_t end = at + secret.size();
    const bool is_whole =
        (at == 0 || !is_in_word(text[at - 1])) && (end == text.size() || !is_in_word(text[end]));
    if (is_whole || !is_of_words) mark(at, secret.size(), marked);
  }
}

void mark_secret(std::string_view text, std::string_view secret, std::vector<bool>& marked) {
  if (secret.size() < kWindow) return mark_words(text, secret, marked);
  Parts parts;
  for (std::size_t i = 0; i + kWindow <= text.size(); ++i) add_part(text, i, kWindow, parts);
  mark_found(std::move(parts), secret, kWindow, marked);
  mark_rests(text, secret, marked);
}

}  // namespace

void KnownSecrets::add(const SecretString& secret) {
  const bool is_known = std::any_of(
      secrets_.begin(), secrets_.end(),
      [&secret](const SecretString& known) { return known.reveal() == secret.reveal(); });
  if (!is_known) secrets_.push_back(secret.copy());
}

void KnownSecrets::add(const SecretTexts& secrets) {
  for (const SecretString& secret : secrets) add(secret);
}

std::string KnownSecrets::redacted(std::string_view text) const {
  std::vector<bool> marked(text.size());
  for (const SecretString& secret : secrets_) {
    const std::string_view plain = secret.reveal();
    mark_secret(text, plain, marked);
    const SecretString in_form = form_urlencode(plain);
    if (in_form.reveal() != plain) mark_secret(text, in_form.reveal(), marked);
    std::string shown = printable(plain);
    if (shown != plain) mark_secret(text, shown, marked);
    wipe(shown);
  }
  // What is hidden already joins what is hidden beside it.
  for (std::size_t at = text.find(kHidden); at != std::string_view::npos;
       at = text.find(kHidden, at + 1)) {
    mark(at, kHidden.size(), marked);
  }
  return without_marked(text, marked);
}

Error KnownSecrets::redacted(Error error) const {
  error.message = redacted(error.message);
  error.hint = redacted(error.hint);
  for (std::string& doing : error.context) doing = redacted(doing);
  return error;
}

}  // namespace execcred
