// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/text.hpp>

#include <execcred/base/cut.hpp>
#include <execcred/base/encoding.hpp>

#include <algorithm>
#include <cstdint>

namespace execcred {
namespace {

constexpr std::size_t kMaxQuoted = 120;

unsigned char byte(char c) { return static_cast<unsigned char>(c); }

bool is_lower_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); }

bool is_label_of_any_size(std::string_view text) {
  return !text.empty() && is_lower_alphanumeric(text.front()) &&
         is_lower_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_alphanumeric(c) || c == '-';
         });
}

// Whether a character is shown unchanged: no control character, no line separator, nothing that
// reorders or hides text.
bool is_safe_to_show(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return false;
  if (c >= 0x200b && c <= 0x200f) return false;  // zero width, direction marks
  if (c == 0x061c) return false;                 // Arabic letter mark, a direction mark too
  if (c >= 0x2028 && c <= 0x202e) return false;  // separators, direction overrides
  return !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff;
}

}  // namespace

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_lower_alphanumeric(c) || (c >= 'A' && c <= 'Z'); }

bool is_alphanumeric_or(std::string_view text, std::string_view marks) {
  return std::all_of(text.begin(), text.end(), [marks](char c) {
    return is_alphanumeric(c) || marks.find(c) != std::string_view::npos;
  });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) joined += separator;
    joined += part;
  }
  return joined;
}

bool has_control_character(std::string_view text) {
  const auto is_control = [](char c) { return byte(c) < 0x20 || byte(c) == 0x7f; };
  return plain_length(text, has_control, is_control) < text.size();
}

bool is_visible_ascii(std::string_view text) {
  return plain_length(
             text,
             [](ByteWord word) {
               return has_non_ascii(word) | has_control(word) | has_byte(word, ' ');
             },
             [](char c) { return c <= ' ' || c >= '\x7f'; }) == text.size();
}

std::string printable(std::string_view text) {
  if (is_visible_ascii(text)) return std::string(text);
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    if (c.length > 0 && is_safe_to_show(c.value)) {
      shown.append(text.substr(0, length));
    } else {
      for (const char raw : text.substr(0, length)) {
        append_hex(byte(raw), shown.append("\\x"));
      }
    }
    text.remove_prefix(length);
  }
  return shown;
}

std::string in_quotes(std::string_view text) {
  if (text.size() <= kMaxQuoted) return "'" + printable(text) + "'";
  // Cut between characters: a cut one would be shown as escaped bytes.
  std::size_t end = kMaxQuoted;
  while (end > kMaxQuoted - 4 && (byte(text[end]) & 0xc0) == 0x80) --end;
  return "'" + printable(text.substr(0, end)) + "...'";
}

std::string quoted_list(const std::vector<std::string>& texts, std::size_t most) {
  std::vector<std::string> shown;
  for (const std::string& text : texts) {
    if (shown.size() < most) shown.push_back(in_quotes(text));
  }
  const std::size_t left = texts.size() - shown.size();
  return join(shown, ", ") + (left > 0 ? " and " + std::to_string(left) + " more" : "");
}

bool is_dns1123_label(std::string_view text) {
  return text.size() <= 63 && is_label_of_any_size(text);
}

bool is_dns1123_subdomain(std::string_view text) {
  if (text.size() > 253) return false;
  const std::vector<std::string_view> labels = split(text, '.');
  // Kubernetes bounds the whole, not each label, of a subdomain.
  return std::all_of(labels.begin(), labels.end(), is_label_of_any_size);
}

std::string full_name_of(std::string_view name_space, std::string_view name) {
  std::string text(name_space);
  if (!text.empty()) text.push_back('/');
  return text.append(name);
}

std::string camel_case(std::string_view dashed) {
  std::string camel;
  bool upper = false;
  for (const char c : dashed) {
    if (c == '-') {
      upper = true;
      continue;
    }
    camel.push_back(upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    upper = false;
  }
  return camel;
}

std::string environment_name(std::string_view dashed) {
  std::string name = "EXECCRED_";
  for (const char c : dashed) {
    name.push_back(c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return name;
}

namespace {

constexpr std::size_t kMaxJudged = 1024;  // of a text that is searched for JWTs
constexpr std::size_t kShortestJwt = 16;

bool is_token_byte(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

// A JWT begins with the base64url of '{"'.
void mark_jwts(std::string_view text, std::vector<bool>& marked) {
  std::size_t begin = text.find("eyJ");
  while (begin != std::string_view::npos) {
    std::size_t end = begin;
    while (end < text.size() && is_token_byte(text[end])) ++end;
    if (end - begin >= kShortestJwt) {
      std::fill_n(marked.begin() + static_cast<std::ptrdiff_t>(begin), end - begin, true);
    }
    begin = text.find("eyJ", end);
  }
}

}  // namespace

std::string without_marked(std::string_view text, const std::vector<bool>& marked) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!marked[i]) {
      shown.push_back(text[i]);
    } else if (i == 0 || !marked[i - 1]) {
      shown += "***";
    }
  }
  return shown;
}

std::string shown_text(std::string_view text, std::size_t limit) {
  const bool is_cut = text.size() > kMaxJudged;
  text = text.substr(0, kMaxJudged);
  std::vector<bool> marked(text.size());
  mark_jwts(text, marked);
  // A JWT of which less than its first characters stand before the cut is not recognised.
  const std::string shown =
      printable(without_marked(is_cut ? text.substr(0, kMaxJudged - kShortestJwt) : text, marked));
  if (shown.size() <= limit) return shown + (is_cut ? "..." : "");
  return std::string(first_characters(shown, limit)) + "...";
}

}  // namespace execcred
