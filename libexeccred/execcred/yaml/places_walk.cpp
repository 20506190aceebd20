// SPDX-License-Identifier: Apache-2.0
#include "places_walk.hpp"

#include "events.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/yaml/yaml.hpp>

#include <string>
#include <vector>

namespace execcred {
namespace {

// A container that is open.
struct Frame {
  bool is_object = false;
  bool has_key = false;  // of the member whose value comes next
  std::size_t index = 0;
};

class JsonWalk {
 public:
  JsonWalk(std::string_view text, Position begin, std::size_t document, const ReceivePlace& receive)
      : text_(text), receive_(receive), position_(begin), document_(document) {}

  void run() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const char c = text_[at_];
    const bool is_between = is_space(c) || c == ',' || c == ':' || (c == '-' && open_.empty());
    if (c == ',' && !open_.empty()) ++open_.back().index;
    if (is_between) return advance(1);
    if (c == '}' || c == ']') return close();
    if (c == '"' && !open_.empty() && open_.back().is_object && !open_.back().has_key) {
      return take_key();
    }
    take_value(c);
  }

  void take_key() {
    const std::size_t size = string_size();
    const std::string_view quoted = text_.substr(at_, size);
    std::string_view key = quoted.substr(1, size - 2);
    std::string unescaped;
    if (key.find('\\') != std::string_view::npos) {
      const Result<json::Value> parsed = json::parse(quoted, {.bytes = quoted.size()});
      if (parsed && parsed->string() != nullptr) unescaped = *parsed->string();
      key = unescaped;
    }
    report(key);
    open_.back().has_key = true;
    advance(size);
  }

  void take_value(char c) {
    if (!open_.empty() && open_.back().has_key) {
      open_.back().has_key = false;
    } else {
      report(std::nullopt);
    }
    const bool is_container = c == '{' || c == '[';
    if (is_container) open_.push_back({.is_object = c == '{'});
    if (is_container) return advance(1);
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
    advance(c == '"' ? string_size() : end - at_);
    if (open_.empty()) ++document_;
  }

  void close() {
    if (!open_.empty()) open_.pop_back();
    if (open_.empty()) ++document_;
    advance(1);
  }

  // The size with the quotes.
  std::size_t string_size() const {
    std::size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != '"') i += text_[i] == '\\' ? 2U : 1U;
    return std::min(i + 1, text_.size()) - at_;
  }

  void report(std::optional<std::string_view> key) {
    receive_({.document = document_,
              .depth = open_.size(),
              .key = key,
              .index = open_.empty() ? 0 : open_.back().index,
              .line = position_.line,
              .column = position_.column});
  }

  void advance(std::size_t size) {
    position_.pass(text_.substr(at_, size));
    at_ += size;
  }

  std::string_view text_;
  const ReceivePlace& receive_;
  std::size_t at_ = 0;
  Position position_;
  std::size_t document_;
  std::vector<Frame> open_;
};

class YamlWalk {
 public:
  YamlWalk(std::size_t document, const ReceivePlace& receive)
      : document_(document), receive_(receive) {}

  void take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT:
      case YAML_ALIAS_EVENT:
        return take_node(event);
      case YAML_SEQUENCE_START_EVENT:
      case YAML_MAPPING_START_EVENT:
        take_node(event);
        open_.push_back({.is_object = event.type == YAML_MAPPING_START_EVENT});
        return;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        return;
      case YAML_DOCUMENT_END_EVENT:
        document_ += has_root_ ? 1 : 0;
        has_root_ = false;
        return;
      default:
        return;
    }
  }

 private:
  void take_node(const yaml_event_t& event) {
    const bool is_scalar = event.type == YAML_SCALAR_EVENT;
    const auto& scalar = event.data.scalar;
    const std::string_view text =
        is_scalar ? std::string_view(reinterpret_cast<const char*>(scalar.value), scalar.length)
                  : std::string_view();
    if (open_.empty()) {
      // A document without a value is not counted.
      const bool is_plain = is_scalar && scalar.style == YAML_PLAIN_SCALAR_STYLE;
      const auto* const tag = is_scalar ? reinterpret_cast<const char*>(scalar.tag) : nullptr;
      const Result<json::Value> value =
          yaml::resolve_scalar(text, is_plain, tag == nullptr ? std::string_view() : tag);
      has_root_ = !is_scalar || !value || !value->is_null();
      if (has_root_) report(event, std::nullopt, 0);
    } else if (!open_.back().is_object) {
      report(event, std::nullopt, open_.back().index++);
    } else if (open_.back().has_key) {
      open_.back().has_key = false;
    } else {
      open_.back().has_key = true;
      report(event, text, 0);
    }
  }

  void report(const yaml_event_t& event, std::optional<std::string_view> key, std::size_t index) {
    receive_({.document = document_,
              .depth = open_.size(),
              .key = key,
              .index = index,
              .line = event.start_mark.line + 1,
              .column = event.start_mark.column + 1});
  }

  std::size_t document_;
  const ReceivePlace& receive_;
  bool has_root_ = false;
  std::vector<Frame> open_;
};

}  // namespace

void Position::pass(std::string_view text) {
  for (const char c : text) {
    const bool is_continuation = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (!is_continuation) ++column;
    if (c != '\n') continue;
    ++line;
    column = 1;
  }
}

void walk_json(std::string_view text, Position begin, std::size_t document,
               const ReceivePlace& receive) {
  JsonWalk(text, begin, document, receive).run();
}

void walk_yaml(std::string_view text, Position begin, std::size_t document,
               const ReceivePlace& receive) {
  yaml::Parser parser(text, begin.line - 1);
  YamlWalk walk(document, receive);
  for (;;) {
    yaml::Event next;
    if (!parser.next(next.event) || next.event.type == YAML_STREAM_END_EVENT) return;
    walk.take(next.event);
  }
}

}  // namespace execcred
