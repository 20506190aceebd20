// SPDX-License-Identifier: Apache-2.0
#include "yaml_scalar.hpp"

#include <execcred/text.hpp>
#include <execcred/yaml_write.hpp>

#include <algorithm>
#include <string_view>

namespace execcred::yaml {
namespace {

using json::Value;

// Nothing that is an indicator anywhere; spaces only where other quoting is not needed anyway.
bool is_plain_byte(char c) {
  constexpr std::string_view kMarks = "-._/+=@";
  return is_alphanumeric(c) || kMarks.find(c) != std::string_view::npos;
}

// Plain only if any reader takes it for a string.
bool can_be_plain(std::string_view text) {
  if (text.empty() || (!is_alphanumeric(text.front()) && text.front() != '/')) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return is_plain_byte(c) || c == ':'; })) {
    return false;
  }
  // "a: b" and "a:" are mappings, "12:30:45" is a number to base 60, a date is a time.
  if (text.back() == ':' || is_digit(text.front())) return false;
  const Result<Value> read = resolve_scalar(text, true, {});
  return read && read->string() != nullptr;
}

// JSON's strings are YAML's double-quoted ones.
void write_scalar(const Value& value, std::string& out) {
  const std::string* text = value.string();
  if (text != nullptr && can_be_plain(*text)) {
    out += *text;
  } else {
    json::write(value, out);
  }
}

void write_key(std::string_view name, std::string& out) {
  if (can_be_plain(name)) {
    out += name;
  } else {
    json::write_string(name, out);
  }
  out += ':';
}

bool is_block(const Value& value) {
  return (value.array() != nullptr && !value.array()->empty()) ||
         (value.object() != nullptr && !value.object()->empty());
}

void write_block(const Value& value, std::size_t level, std::string& out);

// What follows "key:" or "-": on the same line, or as an indented block.
void write_child(const Value& value, std::size_t level, bool is_item, std::string& out) {
  if (!is_block(value)) {
    out += ' ';
    write_scalar(value, out);
    out += '\n';
  } else if (is_item) {
    out += ' ';
    write_block(value, level, out);
  } else {
    out += '\n';
    // Kubernetes' own writers put lists under their key without indentation.
    const std::size_t inner = value.array() != nullptr ? level - 1 : level;
    out.append(2 * inner, ' ');
    write_block(value, inner, out);
  }
}

// The first line's indentation is already there.
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
    write_key(member.name, out);
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
