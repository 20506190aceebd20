// SPDX-License-Identifier: Apache-2.0
#include <execcred/json/json.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>

namespace execcred::json {
namespace {

std::string_view short_escape(unsigned char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {};
  }
}

void append_unicode_escape(std::string& out, unsigned code) {
  out += "\\u";
  append_hex(static_cast<unsigned char>(code >> 8U), out);
  append_hex(static_cast<unsigned char>(code & 0xffU), out);
}

// The first byte of U+2028 and U+2029, which Go escapes as well.
constexpr char kSeparatorLead = '\xe2';

bool needs_escape(char c, Escape escape) {
  if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') return true;
  return escape == Escape::html && (c == '<' || c == '>' || c == '&' || c == kSeparatorLead);
}

// Writes the escape for the front of `text`. Returns how many bytes of `text` it stands for.
std::size_t write_escape(std::string_view text, std::string& out) {
  const auto first = static_cast<unsigned char>(text.front());
  if (const std::string_view known = short_escape(first); !known.empty()) {
    out += known;
  } else if (text.starts_with("\u2028") || text.starts_with("\u2029")) {
    append_unicode_escape(out, text[2] == '\xa8' ? 0x2028 : 0x2029);
    return 3;
  } else if (text.front() == kSeparatorLead) {
    out.push_back(text.front());
  } else {
    append_unicode_escape(out, first);
  }
  return 1;
}

void indent(std::string& out, std::size_t level) { out.append("\n").append(2 * level, ' '); }

void write_indented(const Value& value, std::string& out, std::size_t level) {
  const Array* array = value.array();
  const Object* object = value.object();
  const bool is_empty =
      (array != nullptr && array->empty()) || (object != nullptr && object->empty());
  if (is_empty || (array == nullptr && object == nullptr)) {
    write(value, out);
    return;
  }
  out.push_back(array != nullptr ? '[' : '{');
  const std::size_t count = array != nullptr ? array->size() : object->size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out.push_back(',');
    indent(out, level + 1);
    if (object != nullptr) {
      write_string((*object)[i].name, out);
      out += ": ";
    }
    write_indented(array != nullptr ? (*array)[i] : (*object)[i].value, out, level + 1);
  }
  indent(out, level);
  out.push_back(array != nullptr ? ']' : '}');
}

}  // namespace

std::string_view Value::kind() const {
  constexpr std::array<std::string_view, 6> kNames = {"null",     "a boolean", "a number",
                                                      "a string", "an array",  "an object"};
  return kNames[data_.index()];
}

const Value* Value::find(std::string_view name) const {
  if (const Object* members = object()) {
    for (const Member& member : *members) {
      if (member.name == name) return &member.value;
    }
  }
  return nullptr;
}

Value& Value::add(std::string_view name, Value value) {
  if (is_null()) data_ = Object();
  EXECCRED_ASSERT(object() != nullptr);
  object()->push_back({std::string(name), std::move(value)});
  return object()->back().value;
}

bool Value::operator==(const Value& other) const { return data_ == other.data_; }

void wipe(Value& value) {
  if (std::string* text = value.string()) execcred::wipe(*text);
  if (Array* array = value.array()) {
    for (Value& item : *array) wipe(item);
  }
  if (Object* object = value.object()) {
    for (Member& member : *object) wipe(member.value);
  }
}

std::string fold_key(std::string_view name) {
  std::string folded;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("\u017f")) {
      folded.push_back('s');
      i += 1;
    } else if (name.substr(i).starts_with("\u212a")) {
      folded.push_back('k');
      i += 2;
    } else {
      folded += ascii_lower(name.substr(i, 1));
    }
  }
  return folded;
}

void write_string(std::string_view text, std::string& out, Escape escape) {
  out.push_back('"');
  while (!text.empty()) {
    std::size_t plain = escape == Escape::minimal ? plain_json_length(text) : 0;
    while (plain < text.size() && !needs_escape(text[plain], escape)) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(write_escape(text, out));
  }
  out.push_back('"');
}

void write(const Value& value, std::string& out, Escape escape) {
  if (value.is_null()) out += "null";
  if (const bool* flag = value.boolean()) out += *flag ? "true" : "false";
  if (const Number* number = value.number()) out += number->text;
  if (const std::string* text = value.string()) write_string(*text, out, escape);
  if (const Array* items = value.array()) {
    out.push_back('[');
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out.push_back(',');
      write((*items)[i], out, escape);
    }
    out.push_back(']');
  }
  if (const Object* members = value.object()) {
    out.push_back('{');
    for (std::size_t i = 0; i < members->size(); ++i) {
      if (i > 0) out.push_back(',');
      write_string((*members)[i].name, out, escape);
      out.push_back(':');
      write((*members)[i].value, out, escape);
    }
    out.push_back('}');
  }
}

std::string to_text(const Value& value, Escape escape) {
  std::string out;
  write(value, out, escape);
  return out;
}

namespace {

// Whether YAML's readers, which read JSON kubeconfigs too, refuse the character or take it for a
// line break.
bool is_special_in_yaml(std::uint32_t code) {
  return (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || code == 0xfeff ||
         code == 0xfffe || code == 0xffff;
}

}  // namespace

std::string to_indented_text(const Value& value) {
  std::string text;
  write_indented(value, text, 0);
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    // All of these are in strings, and begin with one of these bytes.
    const std::size_t plain = std::min(rest.find_first_of("\x7f\xc2\xe2\xef"), rest.size());
    out.append(rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const CodePoint point = decode_utf8(rest);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (is_special_in_yaml(point.value)) {
      append_unicode_escape(out, point.value);
    } else {
      out.append(rest.substr(0, length));
    }
    rest.remove_prefix(length);
  }
  out.push_back('\n');
  return out;
}

}  // namespace execcred::json
