// SPDX-License-Identifier: Apache-2.0
#include <execcred/yaml/yaml_write.hpp>

#include <execcred/base/text.hpp>
#include <execcred/yaml/yaml.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace execcred::yaml {
namespace {

using json::Value;

// A text is plain only if every reader reads it as a string.
bool can_be_plain(std::string_view text) {
  if (text.empty() || (!is_alphanumeric(text.front()) && text.front() != '/')) return false;
  // Besides the colon, no indicator in any position, and no space.
  if (!is_alphanumeric_or(text, "-._/+=@:")) return false;
  // "a: b" and "a:" are mappings, "12:30:45" is a number to base 60, a date is a time.
  if (text.back() == ':' || is_digit(text.front())) return false;
  const Result<Value> read = resolve_scalar(text, true, {});
  return read && read->string() != nullptr;
}

// The size of the first character if YAML refuses, folds or drops it even in quotes (DEL, C1
// controls, U+2028, U+2029, a byte order mark, U+FFFE, U+FFFF), or else 0. JSON does not escape
// these.
std::size_t foreign_length(std::string_view text) {
  constexpr std::array<std::string_view, 5> kForeign = {"\u2028", "\u2029", "\ufeff", "\ufffe",
                                                        "\uffff"};
  if (text.front() == '\x7f') return 1;
  if (text.front() == '\xc2' && text[1] <= '\x9f') return 2;
  const bool is_foreign = std::any_of(kForeign.begin(), kForeign.end(), [text](auto character) {
    return text.starts_with(character);
  });
  return is_foreign ? 3 : 0;
}

// Writes a JSON string, which is a YAML double-quoted scalar except for those characters.
void write_quoted(std::string_view text, std::string& out) {
  std::string quoted;
  json::write_string(text, quoted);
  for (std::string_view rest = quoted; !rest.empty();) {
    const std::size_t length = foreign_length(rest);
    if (length == 0) {
      out += rest.front();
    } else {
      const auto byte = [rest](std::size_t i) { return static_cast<unsigned>(rest[i]); };
      const unsigned code =
          length == 1   ? byte(0)
          : length == 2 ? byte(1) & 0xffU
                        : (byte(0) & 0xfU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
      std::array<char, 8> escape = {};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
      out += escape.data();
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

void write_scalar(const Value& value, std::string& out) {
  const std::string* text = value.string();
  if (text == nullptr) {
    json::write(value, out);
  } else if (can_be_plain(*text)) {
    out += *text;
  } else {
    write_quoted(*text, out);
  }
}

// A reader searches for the ':' of a key in 1024 characters only, unless a '?' precedes the key.
void write_key(std::string_view name, std::size_t level, std::string& out) {
  constexpr std::size_t kMostSimple = 1000;
  std::string key;
  if (can_be_plain(name)) {
    key = name;
  } else {
    write_quoted(name, key);
  }
  if (key.size() > kMostSimple) {
    out.append("? ").append(key).append("\n").append(2 * level, ' ');
  } else {
    out += key;
  }
  out += ':';
}

bool is_block(const Value& value) {
  return (value.array() != nullptr && !value.array()->empty()) ||
         (value.object() != nullptr && !value.object()->empty());
}

void write_block(const Value& value, std::size_t level, std::string& out);

// Whether YAML's literal style holds the text unchanged. Some characters beyond ASCII are line
// breaks in YAML, and would end the block.
bool is_literal(std::string_view text) {
  const bool is_safe = std::all_of(text.begin(), text.end(),
                                   [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  return is_safe && text.ends_with('\n') && !text.ends_with("\n\n") && !is_space(text.front());
}

// The caller has written "key:" or "-", and the text ends in a newline.
void write_literal(std::string_view text, std::size_t level, std::string& out) {
  out += " |\n";
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    if (end > 1) out.append(2 * level, ' ');
    out += text.substr(0, end);
    text.remove_prefix(end);
  }
}

// Writes the value after "key:" or "-": on the same line, or as an indented block.
void write_child(const Value& value, std::size_t level, bool is_item, std::string& out) {
  if (value.string() != nullptr && is_literal(*value.string())) {
    write_literal(*value.string(), level, out);
  } else if (!is_block(value)) {
    out += ' ';
    write_scalar(value, out);
    out += '\n';
  } else if (is_item) {
    out += ' ';
    write_block(value, level, out);
  } else {
    out += '\n';
    // Kubernetes' own writers do not indent a list under its key.
    const std::size_t inner = value.array() != nullptr ? level - 1 : level;
    out.append(2 * inner, ' ');
    write_block(value, inner, out);
  }
}

// The caller has written the indentation of the first line.
void write_block(const Value& value, std::size_t level, std::string& out) {
  bool is_first = true;
  const auto start_line = [&] {
    if (!is_first) out.append(2 * level, ' ');
    is_first = false;
  };
  if (const json::Array* items = value.array()) {
    for (const Value& item : *items) {
      start_line();
      out += '-';
      write_child(item, level + 1, true, out);
    }
    return;
  }
  for (const json::Member& member : *value.object()) {
    start_line();
    write_key(member.name, level, out);
    write_child(member.value, level + 1, false, out);
  }
}

}  // namespace

std::string to_text(const Value& value) {
  std::string out;
  if (is_block(value)) {
    write_block(value, 0, out);
  } else {
    write_scalar(value, out);
    out += '\n';
  }
  return out;
}

}  // namespace execcred::yaml
