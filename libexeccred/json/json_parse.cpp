// SPDX-License-Identifier: Apache-2.0
// The parser of json.hpp. A parser of our own, because every run of a plugin waits for it: it
// takes a tenth of the instructions of the general one (docs/benchmarks.md), which stays its
// judge in the tests and the fuzzer.
#include <execcred/base/byte_scan.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace execcred::json {
namespace {

// RFC 8259 section 2: no other white space than this.
bool is_json_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | (code >> 6));
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3f));
    byte(0x80 | ((code >> 6) & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(position - line_start + 1);
}

// Recursive descent; the depth limit bounds the stack. Each read_… returns false at the first
// problem, and position_ is then where it is.
class Parser {
 public:
  Parser(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {}

  bool read_document(Value& value) {
    skip_space();
    if (!read_value(value, 0)) return false;
    skip_space();
    return position_ == text_.size();
  }

  std::size_t position() const { return position_; }
  // What was refused, where it is not the syntax; empty otherwise.
  const std::string& refusal() const { return refusal_; }

 private:
  bool at(char c) const { return position_ < text_.size() && text_[position_] == c; }

  bool take(char c) {
    if (!at(c)) return false;
    ++position_;
    return true;
  }

  void skip_space() {
    while (position_ < text_.size() && is_json_space(text_[position_])) ++position_;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  bool read_value(Value& value, std::size_t depth) {
    if (position_ == text_.size()) return false;
    switch (text_[position_]) {
      case '{':
        return read_object(value, depth);
      case '[':
        return read_array(value, depth);
      case '"': {
        std::string text;
        if (!read_string(text)) return false;
        value = Value(std::move(text));
        return true;
      }
      case 't':
        value = Value(true);
        return take_word("true");
      case 'f':
        value = Value(false);
        return take_word("false");
      case 'n':
        value = Value();
        return take_word("null");
      default:
        return read_number(value);
    }
  }

  bool enter(std::size_t depth) {
    ++position_;
    skip_space();
    if (depth < limits_.depth) return true;
    refusal_ = "is nested deeper than " + std::to_string(limits_.depth) + " levels";
    return false;
  }

  bool read_array(Value& value, std::size_t depth) {
    if (!enter(depth)) return false;
    Array items;
    if (!take(']')) {
      do {
        skip_space();
        if (!read_value(items.emplace_back(), depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take(']')) return false;
    }
    value = Value(std::move(items));
    return true;
  }

  bool read_object(Value& value, std::size_t depth) {
    if (!enter(depth)) return false;
    Object members;
    if (!take('}')) {
      do {
        skip_space();
        Member& member = members.emplace_back();
        if (!read_string(member.name)) return false;
        skip_space();
        if (!take(':')) return false;
        skip_space();
        if (!read_value(member.value, depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take('}')) return false;
    }
    if (!check_keys(members)) return false;
    value = Value(std::move(members));
    return true;
  }

  bool check_keys(const Object& members) {
    std::vector<std::string> folded;
    std::vector<std::string_view> names;
    names.reserve(members.size());
    folded.reserve(members.size());
    for (const Member& member : members) {
      if (limits_.keys == Keys::ignore_case) folded.push_back(fold_key(member.name));
      names.emplace_back(limits_.keys == Keys::exact ? member.name : folded.back());
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return true;
    refusal_ = "has the key " + in_quotes(*twice) + " more than once in the object that ends at " +
               line_and_column(text_, position_ - 1);
    return false;
  }

  bool read_digits() {
    const std::size_t start = position_;
    while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
    return position_ > start;
  }

  bool read_number(Value& value) {
    const std::size_t start = position_;
    take('-');
    if (!take('0') && !read_digits()) return false;
    if (take('.') && !read_digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!read_digits()) return false;
    }
    value = Value(Number{std::string(text_.substr(start, position_ - start))});
    return true;
  }

  bool read_string(std::string& out) {
    if (!take('"')) return false;
    for (;;) {
      // The common part: ASCII that stands for itself.
      const std::size_t start = position_;
      position_ += plain_json_length(text_.substr(start));
      out.append(text_, start, position_ - start);
      if (take('"')) return true;
      if (take('\\')) {
        if (!read_escape(out)) return false;
      } else {
        if (position_ == text_.size()) return false;
        const std::size_t length = utf8_length(text_.substr(position_));
        if (length < 2) return false;
        out.append(text_, position_, length);
        position_ += length;
      }
    }
  }

  bool read_escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (position_ == text_.size()) return false;
    const char name = text_[position_];
    if (const std::size_t index = kNames.find(name); index != std::string_view::npos) {
      ++position_;
      out.push_back(kValues[index]);
      return true;
    }
    std::uint32_t code = 0;
    if (!take('u') || !read_hex(code)) return false;
    const bool is_low = code >= 0xdc00 && code <= 0xdfff;
    if (is_low) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      std::uint32_t low = 0;
      if (!take_word("\\u") || !read_hex(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
    return true;
  }

  bool read_hex(std::uint32_t& code) {
    for (int i = 0; i < 4; ++i, ++position_) {
      const int digit = position_ < text_.size() ? hex_digit(text_[position_]) : -1;
      if (digit < 0) return false;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  std::string_view text_;
  const Limits& limits_;
  std::size_t position_ = 0;
  std::string refusal_;
};

Error refused(std::string message) {
  return Error{.kind = Error::Kind::configuration, .message = std::move(message)};
}

}  // namespace

Result<Value> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes) {
    return refused("is larger than " + std::to_string(limits.bytes / 1024) + " KiB");
  }
  if (trim(text).empty()) return refused("is empty");
  if (text.starts_with("\ufeff")) return refused("starts with a byte order mark");
  Parser parser(text, limits);
  Value value;
  if (parser.read_document(value)) return value;
  if (!parser.refusal().empty()) return refused(parser.refusal());
  return refused("is no valid JSON at " + line_and_column(text, parser.position()));
}

}  // namespace execcred::json
