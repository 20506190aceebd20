// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/shown_text.hpp>

#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred {
namespace {

constexpr std::size_t kMaxJudged = 1024;  // of a text that is searched for secrets
constexpr std::size_t kWindow = 12;       // so much of a secret gives it away

bool is_token_byte(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

void mark(std::vector<bool>& marked, std::size_t begin, std::size_t size) {
  std::fill_n(marked.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
}

// A part of a secret gives it away as well as the whole; a shorter one is found as a whole.
void mark_secret(std::string_view text, std::string_view secret, std::vector<bool>& marked) {
  constexpr std::size_t kShortest = 4;  // below it would blot out ordinary words
  const std::size_t size = std::min(kWindow, secret.size());
  if (size < kShortest || text.size() < size) return;
  for (std::size_t i = 0; i + size <= text.size(); ++i) {
    if (secret.find(text.substr(i, size)) != std::string_view::npos) mark(marked, i, size);
  }
}

// A JWT begins with the base64url of '{"'.
void mark_jwts(std::string_view text, std::vector<bool>& marked) {
  constexpr std::size_t kShortest = 16;
  std::size_t begin = text.find("eyJ");
  while (begin != std::string_view::npos) {
    std::size_t end = begin;
    while (end < text.size() && is_token_byte(text[end])) ++end;
    if (end - begin >= kShortest) mark(marked, begin, end - begin);
    begin = text.find("eyJ", end);
  }
}

std::string without_marked(std::string_view text, const std::vector<bool>& marked) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!marked[i]) {
      kept.push_back(text[i]);
    } else if (i == 0 || !marked[i - 1]) {
      kept += "***";
    }
  }
  return kept;
}

}  // namespace

std::string shown_text(std::string_view text, const SecretTexts& secrets, std::size_t limit) {
  const bool is_cut = text.size() > kMaxJudged;
  text = text.substr(0, kMaxJudged);
  std::vector<bool> marked(text.size());
  for (const SecretString& secret : secrets) mark_secret(text, secret.reveal(), marked);
  mark_jwts(text, marked);
  // What the cut leaves of a secret may be too short to be found.
  const std::string kept =
      without_marked(is_cut ? text.substr(0, kMaxJudged - kWindow) : text, marked);
  if (kept.size() <= limit) return printable(kept) + (is_cut ? "..." : "");
  std::size_t end = limit;
  // Between characters: a cut one would be shown as escaped bytes.
  while (end > 0 && limit - end < 3 && (static_cast<unsigned char>(kept[end]) & 0xc0) == 0x80) {
    --end;
  }
  return printable(std::string_view(kept).substr(0, end)) + "...";
}

}  // namespace execcred
