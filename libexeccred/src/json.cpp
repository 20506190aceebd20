// SPDX-License-Identifier: Apache-2.0
#include <execcred/json.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

namespace execcred::json {
namespace {

Error refused(std::string message) {
  return Error{.kind = Error::Kind::configuration, .message = std::move(message)};
}

// Fed by nlohmann's parser; builds the tree and stops at the first limit that is passed.
class TreeBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit TreeBuilder(const Limits& limits) : limits_(limits) {}

  // The names that nlohmann's SAX interface asks for.
  bool null() { return add(Value()); }
  bool boolean(bool value) { return add(Value(value)); }
  bool number_integer(number_integer_t value) { return add(Value(Number{std::to_string(value)})); }
  bool number_unsigned(number_unsigned_t value) {
    return add(Value(Number{std::to_string(value)}));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) {
    return add(Value(Number{text}));
  }
  bool string(string_t& text) { return add(Value(std::move(text))); }
  bool binary(binary_t& /*bytes*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(Value(Object())); }
  bool end_object() { return check_keys(*open_.back()->object()) && close(); }
  bool start_array(std::size_t /*size*/) { return open(Value(Array())); }
  bool end_array() { return close(); }
  bool key(string_t& name) {
    open_.back()->object()->push_back({std::move(name), Value()});
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*what*/) {
    error_position_ = position;
    return false;
  }

  std::optional<std::size_t> error_position() const { return error_position_; }
  const std::string& refusal() const { return refusal_; }
  Value take() { return std::move(root_); }

 private:
  // Where the next value goes: into the last open container, or it is the document itself.
  Value* place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (Object* object = open_.back()->object()) {
      object->back().value = std::move(value);
      return &object->back().value;
    }
    Array* array = open_.back()->array();
    array->push_back(std::move(value));
    return &array->back();
  }

  bool add(Value value) {
    place(std::move(value));
    return true;
  }

  bool open(Value container) {
    if (open_.size() >= limits_.depth) {
      refusal_ = "is nested deeper than " + std::to_string(limits_.depth) + " levels";
      return false;
    }
    open_.push_back(place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool check_keys(const Object& object) {
    std::vector<std::string> names;
    names.reserve(object.size());
    for (const Member& member : object) {
      names.push_back(limits_.keys == Keys::exact ? member.name : fold_key(member.name));
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return true;
    refusal_ = "has the key " + in_quotes(*twice) + " more than once in one object";
    return false;
  }

  const Limits& limits_;
  Value root_;
  std::vector<Value*> open_;  // pointers stay good: only the last container ever grows
  std::optional<std::size_t> error_position_;
  std::string refusal_;
};

std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " +
         std::to_string(std::max<std::size_t>(before.size() - start, 1));
}

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
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[(code >> shift) & 0xf]);
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
  object()->push_back({std::string(name), std::move(value)});
  return object()->back().value;
}

bool Value::operator==(const Value& other) const { return data_ == other.data_; }

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

Result<Value> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes) {
    return refused("is larger than " + std::to_string(limits.bytes / 1024) + " KiB");
  }
  if (trim(text).empty()) return refused("is empty");
  TreeBuilder builder(limits);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  if (!builder.refusal().empty()) return refused(builder.refusal());
  return refused("is no valid JSON at " +
                 line_and_column(text, builder.error_position().value_or(0)));
}

void write_string(std::string_view text, std::string& out, Escape escape) {
  out.push_back('"');
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_html = escape == Escape::html && (c == '<' || c == '>' || c == '&');
    if (const std::string_view known = short_escape(c); !known.empty()) {
      out += known;
    } else if (c < 0x20 || is_html) {
      append_unicode_escape(out, c);
    } else if (escape == Escape::html &&
               (text.substr(i).starts_with("\u2028") || text.substr(i).starts_with("\u2029"))) {
      append_unicode_escape(out, text[i + 2] == '\xa8' ? 0x2028 : 0x2029);
      i += 2;
    } else {
      out.push_back(text[i]);
    }
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

std::string to_indented_text(const Value& value) {
  std::string out;
  write_indented(value, out, 0);
  out.push_back('\n');
  return out;
}

}  // namespace execcred::json
