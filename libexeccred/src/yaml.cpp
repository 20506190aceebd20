// SPDX-License-Identifier: Apache-2.0
#include "yaml_scalar.hpp"

#include <execcred/text.hpp>
#include <execcred/yaml.hpp>

#include <yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace execcred::yaml {
namespace {

using json::Value;

Error wrong(const std::string& message, const yaml_mark_t& mark) {
  return Error{.kind = Error::Kind::configuration,
               .message = message + " at line " + std::to_string(mark.line + 1) + ", column " +
                          std::to_string(mark.column + 1)};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    is_ready_ = yaml_parser_initialize(&parser_) == 1;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { yaml_parser_delete(&parser_); }

  bool next(yaml_event_t& event) { return is_ready_ && yaml_parser_parse(&parser_, &event) == 1; }

  Error error() const {
    const bool is_problem = parser_.problem != nullptr;
    return wrong(is_problem ? "is no valid YAML (" + std::string(parser_.problem) + ")"
                            : std::string("is no valid YAML"),
                 parser_.error == YAML_READER_ERROR ? unreadable_byte() : parser_.problem_mark);
  }

 private:
  // libyaml sets no mark for bytes that it cannot read at all, only their offset.
  yaml_mark_t unreadable_byte() const {
    const std::string_view before = text_.substr(0, parser_.problem_offset);
    yaml_mark_t mark = {};
    mark.line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    mark.column = before.size() - (before.rfind('\n') + 1);  // npos + 1 is 0
    return mark;
  }

  std::string_view text_;
  yaml_parser_t parser_ = {};
  bool is_ready_ = false;
};

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event); }

  yaml_event_t event = {};
};

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// What aliases have added so far.
struct Expansion {
  std::size_t nodes = 0;
  std::size_t bytes = 0;

  void add(const Value& value) {
    ++nodes;
    if (const std::string* text = value.string()) bytes += text->size();
    if (const json::Number* number = value.number()) bytes += number->text.size();
    if (const json::Array* items = value.array()) {
      for (const Value& item : *items) add(item);
    }
    if (const json::Object* members = value.object()) {
      for (const json::Member& member : *members) {
        bytes += member.name.size();
        add(member.value);
      }
    }
  }
};

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

// One document, from libyaml's events to a tree. No recursion on the input.
class DocumentBuilder {
 public:
  DocumentBuilder(const Limits& limits, Expansion& expansion)
      : limits_(limits), expansion_(expansion) {}

  Status take(const yaml_event_t& event);
  std::optional<Value> take_root() { return std::exchange(root_, std::nullopt); }

 private:
  struct Container {
    Value value;
    std::string anchor;
    std::optional<std::string> key;  // of an object, once read
    bool is_mapping = false;
  };

  Status add(Value value, std::string_view anchor, const yaml_mark_t& mark);
  Status add_alias(const yaml_event_t& event);
  Status add_scalar(const yaml_event_t& event);
  Status open(Value empty, std::string_view anchor, std::string_view tag, const yaml_mark_t& mark);
  Status close(const yaml_mark_t& mark);
  bool expects_key() const {
    return !open_.empty() && open_.back().is_mapping && !open_.back().key.has_value();
  }

  const Limits& limits_;
  Expansion& expansion_;
  std::vector<Container> open_;
  std::map<std::string, Value, std::less<>> anchors_;
  std::optional<Value> root_;
};

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
    return wrong("is nested deeper than " + std::to_string(limits_.depth) + " levels", mark);
  }
  if (expects_key()) return wrong("has a key that is no scalar", mark);
  const bool is_mapping = empty.object() != nullptr;
  const std::string_view own_tag = is_mapping ? YAML_MAP_TAG : YAML_SEQ_TAG;
  if (!tag.empty() && tag != "!" && tag != own_tag) return wrong("has an unknown tag", mark);
  open_.push_back({.value = std::move(empty),
                   .anchor = std::string(anchor),
                   .key = std::nullopt,
                   .is_mapping = is_mapping});
  return {};
}

Status DocumentBuilder::close(const yaml_mark_t& mark) {
  Container container = std::move(open_.back());
  open_.pop_back();
  if (const json::Object* members = container.value.object()) {
    std::vector<std::string_view> names;
    for (const json::Member& member : *members) names.emplace_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
      return wrong("has the key " + in_quotes(*twice) + " more than once in the mapping that ends",
                   mark);
    }
  }
  return add(std::move(container.value), container.anchor, mark);
}

Status DocumentBuilder::add(Value value, std::string_view anchor, const yaml_mark_t& mark) {
  if (!anchor.empty()) anchors_.insert_or_assign(std::string(anchor), value);
  if (open_.empty()) {
    if (root_) return wrong("has a second value", mark);
    root_ = std::move(value);
    return {};
  }
  Container& parent = open_.back();
  if (parent.is_mapping) {
    parent.value.add(*parent.key, std::move(value));
    parent.key.reset();
  } else {
    parent.value.array()->push_back(std::move(value));
  }
  return {};
}

Status DocumentBuilder::add_alias(const yaml_event_t& event) {
  const auto found = anchors_.find(text_of(event.data.alias.anchor));
  if (found == anchors_.end()) return wrong("has an alias without an anchor", event.start_mark);
  if (expects_key()) return wrong("has an alias for a key", event.start_mark);
  if (open_.size() + depth_of(found->second) > limits_.depth) {
    return wrong("is nested deeper than " + std::to_string(limits_.depth) + " levels",
                 event.start_mark);
  }
  expansion_.add(found->second);
  if (expansion_.nodes > limits_.alias_nodes) {
    return wrong(
        "has aliases that stand for more than " + std::to_string(limits_.alias_nodes) + " nodes",
        event.start_mark);
  }
  if (expansion_.bytes > limits_.bytes) {
    return wrong("has aliases that stand for more than " + std::to_string(limits_.bytes / 1024) +
                     " KiB of text",
                 event.start_mark);
  }
  return add(Value(found->second), {}, event.start_mark);
}

Status DocumentBuilder::add_scalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const bool is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (expects_key()) {
    if (is_plain && text == "<<") return wrong("has a merge key", event.start_mark);
    const std::string_view tag = text_of(scalar.tag);
    if (!tag.empty() && tag != YAML_STR_TAG) {
      return wrong("has a key whose tag is unknown or no string's", event.start_mark);
    }
    open_.back().key = std::string(text);
    return {};
  }
  Result<Value> value = resolve_scalar(text, is_plain, text_of(scalar.tag));
  if (!value) return wrong(value.error().message, event.start_mark);
  return add(std::move(value).value(), text_of(scalar.anchor), event.start_mark);
}

}  // namespace

Status for_each_document(std::string_view text, const Limits& limits,
                         const std::function<Status(Value)>& receive) {
  if (text.size() > limits.bytes) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "is larger than " + std::to_string(limits.bytes / 1024) + " KiB"};
  }
  Parser parser(text);
  Expansion expansion;
  std::optional<DocumentBuilder> builder;
  for (;;) {
    Event next;
    if (!parser.next(next.event)) return parser.error();
    if (next.event.type == YAML_STREAM_END_EVENT) return {};
    if (next.event.type == YAML_DOCUMENT_START_EVENT) builder.emplace(limits, expansion);
    if (builder) TRY(builder->take(next.event));
    if (next.event.type != YAML_DOCUMENT_END_EVENT) continue;
    std::optional<Value> root = builder->take_root();
    if (root && !root->is_null()) TRY(receive(*std::move(root)));
  }
}

}  // namespace execcred::yaml
