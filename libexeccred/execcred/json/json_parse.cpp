// SPDX-License-Identifier: Apache-2.0
// The parser of json.hpp. nlohmann/json reads the text, and its events become a json::Value. The
// handler adds execcred's rules: the depth, duplicate keys, numbers that keep their digits.
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::json {
namespace {

// The parser's floating-point type. Only a number's text is kept, so a number of any size is
// accepted: this type discards the value, and always reads as 0.
class AnyFloat {
 public:
  AnyFloat() = default;
  AnyFloat(double value) : value_(value) {}
  operator double&() { return value_; }
  operator double() const { return 0; }

 private:
  double value_ = 0;
};

using Library = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                     std::uint64_t, AnyFloat>;

// An iterator that shares its place with the handler, because the parser's events have no position.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit Cursor(const char*& place) : place_(&place) {}
  reference operator*() const { return **place_; }
  Cursor& operator++() {
    ++*place_;
    return *this;
  }
  bool operator==(const Cursor& other) const { return *place_ == *other.place_; }

 private:
  const char** place_;
};

std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(position - line_start + 1);
}

// The handler of nlohmann/json's events. A function that returns false ends the parsing, and
// refusal() returns the reason.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const Limits& limits, bool quotes_keys)
      : text_(text),
        limits_(limits),
        quotes_keys_(quotes_keys),
        place_(text.data()),
        end_(place_ + text.size()) {}

  bool build() { return Library::sax_parse(Cursor(place_), Cursor(end_), this); }

  Value& tree() { return tree_; }
  const std::string& refusal() const { return refusal_; }

  bool null() { return add(Value()); }
  bool boolean(bool value) { return add(Value(value)); }
  bool number_integer(std::int64_t /*value*/) { return add_number(); }
  bool number_unsigned(std::uint64_t /*value*/) { return add_number(); }
  bool number_float(AnyFloat /*value*/, const std::string& /*text*/) { return add_number(); }
  bool string(const std::string& text) { return add(Value(text)); }
  bool binary(const Library::binary_t& /*value*/) { return false; }  // JSON has none

  bool start_object(std::size_t /*size*/) { return open(Value(Object())); }
  bool start_array(std::size_t /*size*/) { return open(Value(Array())); }
  bool end_array() { return close(); }
  bool end_object() { return check_keys(*open_.back().object()) && close(); }

  bool key(const std::string& name) {
    open_.back().object()->push_back(Member{name, Value()});
    return true;
  }

  // The library's own message is not used, because it would show the text.
  bool parse_error(std::size_t bytes_read, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    refusal_ = "is no valid JSON at " + line_and_column(text_, bytes_read - 1);
    return false;
  }

 private:
  std::size_t position() const { return static_cast<std::size_t>(place_ - text_.data()); }

  bool add(Value&& value) {
    if (open_.empty()) {
      tree_ = std::move(value);
    } else if (Array* items = open_.back().array()) {
      items->push_back(std::move(value));
    } else {
      open_.back().object()->back().value = std::move(value);
    }
    return true;
  }

  // The parser finds the end of a number by the byte after it, which it has already read if there
  // is one. If that byte is one of kBytes, as in "01", the parser refuses the text next.
  bool add_number() {
    constexpr std::string_view kBytes = "+-.0123456789Ee";
    const std::string_view read = text_.substr(0, position());
    const std::size_t last = read.find_last_of(kBytes);
    const std::size_t before = read.find_last_not_of(kBytes, last);  // npos + 1 is 0
    return add(Value(Number{std::string(read.substr(before + 1, last - before))}));
  }

  bool open(Value container) {
    if (open_.size() == limits_.depth) {
      refusal_ = "is nested deeper than " + std::to_string(limits_.depth) + " levels";
      return false;
    }
    open_.push_back(std::move(container));
    return true;
  }

  bool close() {
    Value done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }

  // Sorting hashes is cheaper than sorting keys: hostile keys have a long common prefix.
  static bool have_distinct_hashes(const std::vector<std::string_view>& names) {
    std::vector<std::size_t> hashes(names.size());
    std::transform(names.begin(), names.end(), hashes.begin(), std::hash<std::string_view>());
    std::sort(hashes.begin(), hashes.end());
    return std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
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
    if (have_distinct_hashes(names)) return true;
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return true;
    refusal_ = "has " + (quotes_keys_ ? "the key " + in_quotes(*twice) : "a key") +
               " more than once in the object that ends at " +
               line_and_column(text_, position() - 1);
    return false;
  }

  std::string_view text_;
  const Limits& limits_;
  bool quotes_keys_;
  const char* place_;
  const char* end_;
  std::vector<Value> open_;
  Value tree_;
  std::string refusal_;
};

// `quotes_keys`: in messages. A server can repeat a secret as a key.
Result<Value> parse(std::string_view text, const Limits& limits, bool quotes_keys) {
  if (text.size() > limits.bytes) {
    return Error::configuration("is larger than " + std::to_string(limits.bytes / 1024) + " KiB");
  }
  if (trim(text).empty()) return Error::configuration("is empty");
  if (text.starts_with("\ufeff")) return Error::configuration("starts with a byte order mark");
  // nlohmann/json takes a NUL as the end of the text.
  const std::size_t end = std::min(text.find('\0'), text.size());
  TreeBuilder builder(text.substr(0, end), limits, quotes_keys);
  if (!builder.build()) return Error::configuration(builder.refusal());
  if (end < text.size())
    return Error::configuration("is no valid JSON at " + line_and_column(text, end));
  return std::move(builder.tree());
}

}  // namespace

Result<Value> parse(std::string_view text, const Limits& limits) {
  return parse(text, limits, true);
}

Result<SecretValue> parse_secret(std::string_view text, const Limits& limits) {
  return SecretValue(TRY(parse(text, limits, false)));
}

}  // namespace execcred::json
