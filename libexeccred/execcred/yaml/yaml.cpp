// SPDX-License-Identifier: Apache-2.0
#include <execcred/yaml/yaml.hpp>

#include "events.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace execcred::yaml {
namespace {

using json::Number;
using json::Value;

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotFinite = {".inf",  ".Inf",  ".INF",  "+.inf",
                                                         "+.Inf", "+.INF", "-.inf", "-.Inf",
                                                         "-.INF", ".nan",  ".NaN",  ".NAN"};

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Whether the text follows JSON's grammar for numbers. Large numbers keep their digits.
bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  std::string_view mantissa = text.substr(0, exponent);
  std::string_view power = text.substr(std::min(exponent + 1, text.size()));
  if (exponent < text.size()) {
    if (power.starts_with('+') || power.starts_with('-')) power.remove_prefix(1);
    if (!all_digits(power)) return false;
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::string_view whole = mantissa.substr(0, point);
  if (point < mantissa.size() && !all_digits(mantissa.substr(point + 1))) return false;
  return all_digits(whole) && (whole.size() == 1 || whole.front() != '0');
}

// Integers that go-yaml accepts and JSON does not: 0x1F, 0b11, 0o17, 017, 1_000, and those with a
// "+".
std::optional<std::string> other_integer(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  std::string_view rest = digits;
  const bool is_negative = rest.starts_with('-');
  const bool is_signed = is_negative || rest.starts_with('+');
  if (is_signed) rest.remove_prefix(1);
  int base = 10;
  if (rest.starts_with("0x") || rest.starts_with("0X")) base = 16;
  if (rest.starts_with("0b") || rest.starts_with("0B")) base = 2;
  if (rest.starts_with("0o") || rest.starts_with("0O")) base = 8;
  if (base != 10) rest.remove_prefix(2);
  if (base == 10 && rest.size() > 1 && rest.front() == '0') base = 8;
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (rest.empty() || problem != std::errc() || end != rest.data() + rest.size()) {
    return std::nullopt;
  }
  // go-yaml reads an integer with a sign as an int64, and one without a sign as a uint64.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (is_signed && value > kMost + (is_negative ? 1 : 0)) return std::nullopt;
  return (is_negative && value != 0 ? "-" : "") + std::to_string(value);
}

// Decimals that JSON writes in another form: ".5", "5.", "+1.5", "08" and "1_000.5".
std::optional<std::string> other_decimal(std::string_view text) {
  std::string digits(text);
  if (!text.starts_with('.')) std::erase(digits, '_');
  std::string_view rest = digits;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::size_t exponent = std::min(rest.find_first_of("eE"), rest.size());
  const std::string_view mantissa = rest.substr(0, exponent);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction = mantissa.substr(std::min(point + 1, mantissa.size()));
  if (whole.empty() && fraction.empty()) return std::nullopt;
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
  std::string number(is_negative ? "-" : "");
  number.append(whole.empty() ? "0" : whole);
  if (!fraction.empty()) number.append(".").append(fraction);
  number.append(rest.substr(exponent));
  if (!is_json_number(number)) return std::nullopt;
  return number;
}

// go-yaml reads a number that no double can hold as text.
bool is_finite(const std::string& number) {
  return std::isfinite(std::strtod(number.c_str(), nullptr));
}

Result<Value> resolve_plain(std::string_view text) {
  if (is_one_of(text, kNull)) return Value();
  if (is_one_of(text, kTrue)) return Value(true);
  if (is_one_of(text, kFalse)) return Value(false);
  const bool may_be_number =
      is_digit(text.front()) || text.front() == '-' || text.front() == '+' || text.front() == '.';
  if (!may_be_number) return Value(text);
  if (is_one_of(text, kNotFinite)) {
    return Error::configuration("has the number " + in_quotes(text) + ", which JSON cannot hold,");
  }
  std::optional<std::string> number;
  if (is_json_number(text)) number = text;
  if (!number) number = other_integer(text);
  if (!number) number = other_decimal(text);
  return number && is_finite(*number) ? Value(Number{*number}) : Value(text);
}

constexpr std::string_view kBinaryTag = "tag:yaml.org,2002:binary";

// A tag as people write it: !!int.
std::string shown_tag(std::string_view tag) {
  constexpr std::string_view kOwn = "tag:yaml.org,2002:";
  return in_quotes(tag.starts_with(kOwn) ? "!!" + std::string(tag.substr(kOwn.size()))
                                         : std::string(tag));
}

Result<Value> resolve_binary(std::string_view text) {
  std::optional<std::string> bytes = decode_base64(text);
  if (!bytes) return Error::configuration("has a '!!binary' that is no base64");
  for (std::size_t i = 0; i < bytes->size();) {
    const std::size_t length = decode_utf8(std::string_view(*bytes).substr(i)).length;
    if (length == 0) return Error::configuration("has a '!!binary' whose bytes are no UTF-8");
    i += length;
  }
  return Value(*std::move(bytes));
}

}  // namespace

Result<Value> resolve_scalar(std::string_view text, bool is_plain, std::string_view tag) {
  if (tag == YAML_STR_TAG || (tag == "!" && !is_plain)) return Value(text);
  if (tag.empty() || tag == "!") return is_plain ? resolve_plain(text) : Value(text);
  if (tag == kBinaryTag) return resolve_binary(text);
  Value value = TRY(resolve_plain(text));
  const json::Number* number = value.number();
  const bool is_whole = number != nullptr && number->text.find_first_of(".eE") == std::string::npos;
  const bool fits = (tag == YAML_NULL_TAG && value.is_null()) ||
                    (tag == YAML_BOOL_TAG && value.boolean() != nullptr) ||
                    (tag == YAML_INT_TAG && is_whole) ||
                    (tag == YAML_FLOAT_TAG && number != nullptr);
  if (!fits) {
    return Error::configuration("has a scalar whose tag " + shown_tag(tag) +
                                " is unknown or does not fit");
  }
  return value;
}

namespace {

using json::Value;

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// libyaml compares each %TAG directive with all earlier ones, which takes quadratic time. Custom
// tags are refused anyway.
Status check_directives(std::string_view text) {
  constexpr std::string_view kTag = "%TAG";
  constexpr int kMost = 100;
  int count = 0;
  for (std::size_t at = text.find(kTag); at != std::string_view::npos;
       at = text.find(kTag, at + kTag.size())) {
    if (++count > kMost) {
      return Error::configuration("has %TAG more than " + std::to_string(kMost) + " times");
    }
  }
  return {};
}

void count_alias(const Value& value, Progress& progress) {
  ++progress.alias_nodes;
  if (const std::string* text = value.string()) progress.alias_bytes += text->size();
  if (const json::Number* number = value.number()) progress.alias_bytes += number->text.size();
  if (const json::Array* items = value.array()) {
    for (const Value& item : *items) count_alias(item, progress);
  }
  if (const json::Object* members = value.object()) {
    for (const json::Member& member : *members) {
      progress.alias_bytes += member.name.size();
      count_alias(member.value, progress);
    }
  }
}

std::size_t depth_of(const Value& value) {
  std::size_t deepest = 0;
  if (const json::Array* items = value.array()) {
    for (const Value& item : *items) deepest = std::max(deepest, depth_of(item));
    return deepest + 1;
  }
  if (const json::Object* members = value.object()) {
    for (const json::Member& member : *members) {
      deepest = std::max(deepest, depth_of(member.value));
    }
    return deepest + 1;
  }
  return 0;
}

// The place of a node in the tree that is being built. The node moves while its container grows, so
// the place is the number of the container in DocumentBuilder::places_ and the index in it.
struct Place {
  std::size_t container = 0;
  std::size_t index = 0;
};

std::size_t size_of(const Value& container) {
  const json::Array* items = container.array();
  return items == nullptr ? container.object()->size() : items->size();
}

const Value& child_of(const Value& container, std::size_t index) {
  const json::Array* items = container.array();
  return items == nullptr ? (*container.object())[index].value : (*items)[index];
}

// Builds the tree of one document from libyaml's events, without recursion on the input. An
// anchored node is copied only when an alias refers to it.
class DocumentBuilder {
 public:
  DocumentBuilder(const Limits& limits, Progress& progress)
      : limits_(limits), progress_(progress) {}

  Status take(const yaml_event_t& event);
  // Takes an event after an error, or that of the error. False if the error is in no item of a
  // list.
  bool take_as_item(const yaml_event_t& event, const Error& error);
  bool is_passing_over() const { return rest_of_item_ > 0; }
  void pass_over(const yaml_event_t& event);
  std::optional<Value> take_root() { return std::exchange(root_, std::nullopt); }
  ItemErrors take_errors() { return std::exchange(item_errors_, {}); }

 private:
  struct Container {
    Value value;
    std::size_t number = 0;  // its own in places_
    std::string anchor;
    std::optional<std::string> key;  // of an object, once read
    bool is_mapping = false;
  };

  Status add(Value value, std::string_view anchor, const yaml_mark_t& mark);
  Status add_alias(const yaml_event_t& event);
  Status add_scalar(const yaml_event_t& event);
  Status open(Value empty, std::string_view anchor, std::string_view tag, const yaml_mark_t& mark);
  Status close(const yaml_mark_t& mark);
  const Value& at(Place place) const;
  bool expects_key() const {
    return !open_.empty() && open_.back().is_mapping && !open_.back().key.has_value();
  }

  const Limits& limits_;
  Progress& progress_;
  std::vector<Container> open_;
  std::vector<Place> places_;  // of all containers
  std::map<std::string, Place, std::less<>> anchors_;
  std::optional<Value> root_;
  ItemErrors item_errors_;
  Value outline_;                 // what remains of the item that is passed over
  std::size_t rest_of_item_ = 0;  // how many of its containers are still open
};

int depth_change(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
      return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return -1;
    default:
      return 0;
  }
}

bool DocumentBuilder::take_as_item(const yaml_event_t& event, const Error& error) {
  constexpr std::size_t kOfList = 2;  // the document, and its items
  const bool is_in_list =
      open_.size() >= kOfList && open_.front().key == "items" && !open_[1].is_mapping;
  // The end of the items themselves is no part of an item.
  if (!is_in_list || (open_.size() == kOfList && depth_change(event) < 0)) return false;
  outline_ = {};
  rest_of_item_ = open_.size() - kOfList;
  if (rest_of_item_ > 0) {
    const std::size_t first = open_[kOfList].number;
    std::erase_if(anchors_, [first](const auto& one) { return one.second.container >= first; });
    // Its open members, too, so that the error may be in metadata.
    for (; open_.size() > kOfList + 1; open_.pop_back()) {
      Container& parent = open_[open_.size() - 2];
      if (parent.key) parent.value.add(*parent.key, std::move(open_.back().value));
    }
    outline_ = std::move(open_.back().value);
    open_.pop_back();
  }
  item_errors_.emplace(size_of(open_.back().value), error);
  pass_over(event);
  return true;
}

void DocumentBuilder::pass_over(const yaml_event_t& event) {
  const int change = depth_change(event);
  if (change > 0) ++rest_of_item_;
  if (change < 0) --rest_of_item_;
  if (rest_of_item_ == 0) open_.back().value.array()->push_back(std::exchange(outline_, {}));
}

Status DocumentBuilder::take(const yaml_event_t& event) {
  const auto& data = event.data;
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return add_scalar(event);
    case YAML_ALIAS_EVENT:
      return add_alias(event);
    case YAML_SEQUENCE_START_EVENT:
      return open(Value(json::Array()), text_of(data.sequence_start.anchor),
                  text_of(data.sequence_start.tag), event.start_mark);
    case YAML_MAPPING_START_EVENT:
      return open(Value(json::Object()), text_of(data.mapping_start.anchor),
                  text_of(data.mapping_start.tag), event.start_mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return close(event.end_mark);
    default:
      return {};
  }
}

Status DocumentBuilder::open(Value empty, std::string_view anchor, std::string_view tag,
                             const yaml_mark_t& mark) {
  if (open_.size() >= limits_.depth) {
    return wrong_at("is nested deeper than " + std::to_string(limits_.depth) + " levels", mark);
  }
  if (expects_key()) return wrong_at("has a key that is no scalar", mark);
  const bool is_mapping = empty.object() != nullptr;
  const std::string_view own_tag = is_mapping ? YAML_MAP_TAG : YAML_SEQ_TAG;
  if (!tag.empty() && tag != "!" && tag != own_tag) {
    return wrong_at("has the unknown tag " + shown_tag(tag), mark);
  }
  places_.push_back(open_.empty() ? Place()
                                  : Place{.container = open_.back().number,
                                          .index = size_of(open_.back().value)});
  open_.push_back({.value = std::move(empty),
                   .number = places_.size() - 1,
                   .anchor = std::string(anchor),
                   .key = std::nullopt,
                   .is_mapping = is_mapping});
  return {};
}

// Of the members with one name, keeps the last.
void keep_last(json::Object& members) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < members.size(); ++i) last[members[i].name] = i;
  json::Object remaining;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (last[members[i].name] == i) remaining.push_back(std::move(members[i]));
  }
  members = std::move(remaining);
}

Status DocumentBuilder::close(const yaml_mark_t& mark) {
  if (json::Object* const members = open_.back().value.object()) {
    std::vector<std::string_view> names;
    for (const json::Member& member : *members) names.emplace_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end() && limits_.last_key_counts) {
      keep_last(*members);
    } else if (twice != names.end()) {
      return wrong_at(
          "has the key " + in_quotes(*twice) + " more than once in the mapping that ends", mark);
    }
  }
  Container container = std::move(open_.back());
  open_.pop_back();
  return add(std::move(container.value), container.anchor, mark);
}

Status DocumentBuilder::add(Value value, std::string_view anchor, const yaml_mark_t& mark) {
  if (open_.empty()) {
    if (root_) return wrong_at("has a second value", mark);
    root_ = std::move(value);
    return {};
  }
  Container& parent = open_.back();
  if (!anchor.empty()) {
    anchors_.insert_or_assign(std::string(anchor),
                              Place{.container = parent.number, .index = size_of(parent.value)});
  }
  if (parent.is_mapping) {
    parent.value.add(*parent.key, std::move(value));
    parent.key.reset();
  } else {
    parent.value.array()->push_back(std::move(value));
  }
  return {};
}

const Value& DocumentBuilder::at(Place place) const {
  std::vector<std::size_t> indexes = {place.index};
  for (std::size_t number = place.container; number != 0; number = places_[number].container) {
    indexes.push_back(places_[number].index);
  }
  auto open = open_.begin();
  const Value* value = &open->value;
  for (; !indexes.empty(); indexes.pop_back()) {
    const bool is_closed = indexes.back() < size_of(*value);
    value = is_closed ? &child_of(*value, indexes.back()) : &(++open)->value;
  }
  return *value;
}

Status DocumentBuilder::add_alias(const yaml_event_t& event) {
  const auto found = anchors_.find(text_of(event.data.alias.anchor));
  if (found == anchors_.end()) return wrong_at("has an alias without an anchor", event.start_mark);
  if (expects_key()) return wrong_at("has an alias for a key", event.start_mark);
  const Value& anchored = at(found->second);
  if (open_.size() + depth_of(anchored) > limits_.depth) {
    return wrong_at("is nested deeper than " + std::to_string(limits_.depth) + " levels",
                    event.start_mark);
  }
  count_alias(anchored, progress_);
  if (progress_.alias_nodes > limits_.alias_nodes) {
    return wrong_at(
        "has aliases that stand for more than " + std::to_string(limits_.alias_nodes) + " nodes",
        event.start_mark);
  }
  if (progress_.alias_bytes > limits_.bytes) {
    return wrong_at("has aliases that stand for more than " + std::to_string(limits_.bytes / 1024) +
                        " KiB of text",
                    event.start_mark);
  }
  return add(Value(anchored), {}, event.start_mark);
}

Status DocumentBuilder::add_scalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const bool is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (expects_key()) {
    if (is_plain && text == "<<") return wrong_at("has a merge key", event.start_mark);
    const std::string_view tag = text_of(scalar.tag);
    if (!tag.empty() && tag != YAML_STR_TAG) {
      return wrong_at("has a key whose tag is unknown or no string's", event.start_mark);
    }
    if (is_plain && tag.empty() && is_one_of(text, kNull)) {
      return wrong_at("has a key that is null", event.start_mark);
    }
    open_.back().key = std::string(text);
    return {};
  }
  Result<Value> value = resolve_scalar(text, is_plain, text_of(scalar.tag));
  if (!value) return wrong_at(value.error().message, event.start_mark);
  return add(std::move(value).value(), text_of(scalar.anchor), event.start_mark);
}

}  // namespace

Status for_each_document(std::string_view text, const Limits& limits,
                         const std::function<Status(Value)>& receive) {
  Progress progress;
  return for_each_document(text, limits, progress, receive);
}

namespace {

Status read_documents(std::string_view text, const Limits& limits, Progress& progress, bool divides,
                      const std::function<Status(Value, ItemErrors)>& receive) {
  if (text.size() > limits.bytes) {
    return Error::configuration("is larger than " + std::to_string(limits.bytes / 1024) + " KiB");
  }
  TRY(check_directives(text));
  Parser parser(text, progress.lines);
  std::optional<DocumentBuilder> builder;
  for (std::size_t received = 0; received < limits.documents;) {
    Event next;
    if (!parser.next(next.event)) return parser.error();
    if (next.event.type == YAML_STREAM_END_EVENT) return {};
    if (next.event.type == YAML_DOCUMENT_START_EVENT) {
      const yaml_version_directive_t* version = next.event.data.document_start.version_directive;
      // libyaml reads 1.2 too.
      if (version != nullptr && version->minor != 1) {
        return wrong_at("is no valid YAML (found incompatible YAML document)",
                        next.event.start_mark);
      }
      builder.emplace(limits, progress);
    }
    if (builder && builder->is_passing_over()) {
      builder->pass_over(next.event);
    } else if (builder) {
      Status taken = builder->take(next.event);
      if (!taken && !(divides && builder->take_as_item(next.event, taken.error()))) return taken;
    }
    if (next.event.type != YAML_DOCUMENT_END_EVENT) continue;
    std::optional<Value> root = builder->take_root();
    if (!root || root->is_null()) {
      if (limits.documents == 1) return {};
      continue;
    }
    TRY(receive(*std::move(root), builder->take_errors()));
    ++received;
  }
  return {};
}

}  // namespace

Status for_each_document(std::string_view text, const Limits& limits, Progress& progress,
                         const std::function<Status(Value)>& receive) {
  return read_documents(
      text, limits, progress, false,
      [&receive](Value value, const ItemErrors& /*none*/) { return receive(std::move(value)); });
}

Status for_each_divided_document(std::string_view text, const Limits& limits, Progress& progress,
                                 const std::function<Status(Value, ItemErrors)>& receive) {
  return read_documents(text, limits, progress, true, receive);
}

Status check_escapes(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.find("\\/") == std::string_view::npos) return {};
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(text, 0);
  // libyaml counts characters.
  std::size_t passed = 0;
  const auto take = [&](std::size_t until) {
    std::size_t size = 0;
    for (; passed < until && size < text.size(); ++passed) {
      size += std::max<std::size_t>(1, decode_utf8(text.substr(size)).length);
    }
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(taken.size());
    return taken;
  };
  for (bool is_end = false; !is_end;) {
    Event next;
    is_end = !parser.next(next.event) || next.event.type == YAML_STREAM_END_EVENT;
    const bool is_quoted = !is_end && next.event.type == YAML_SCALAR_EVENT &&
                           next.event.data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    if (!is_quoted) continue;
    take(next.event.start_mark.index);
    const std::string_view scalar = take(next.event.end_mark.index);
    for (std::size_t at = scalar.find('\\'); at != std::string_view::npos;
         at = scalar.find('\\', at + 2)) {
      if (scalar.substr(at + 1).starts_with('/')) {
        return wrong_at("has the escape '\\/', which clients do not know, in the text",
                        next.event.start_mark);
      }
    }
  }
  return {};
}

}  // namespace execcred::yaml
