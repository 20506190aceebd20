// SPDX-License-Identifier: Apache-2.0
// libyaml's events of a text, with their positions in the whole text.
#pragma once

#include <execcred/base/error.hpp>

#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace execcred::yaml {

inline Error wrong_at(const std::string& message, const yaml_mark_t& mark) {
  return Error::configuration(message + " at line " + std::to_string(mark.line + 1) + ", column " +
                              std::to_string(mark.column + 1));
}

class Parser {
 public:
  Parser(std::string_view text, std::size_t lines) : text_(text), lines_(lines) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    if (text_.data() == nullptr) text_ = "";  // libyaml asserts that there is a text
    is_ready_ = yaml_parser_initialize(&parser_) == 1;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()),
                                 text_.size());
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { yaml_parser_delete(&parser_); }

  bool next(yaml_event_t& event) {
    if (!is_ready_ || yaml_parser_parse(&parser_, &event) != 1) return false;
    event.start_mark.line += lines_;
    event.end_mark.line += lines_;
    return true;
  }

  Error error() const {
    const bool is_problem = parser_.problem != nullptr;
    yaml_mark_t mark =
        parser_.error == YAML_READER_ERROR ? unreadable_byte() : parser_.problem_mark;
    mark.line += lines_;
    return wrong_at(is_problem ? "is no valid YAML (" + std::string(parser_.problem) + ")"
                               : std::string("is no valid YAML"),
                    mark);
  }

 private:
  // For bytes that libyaml cannot read at all, it sets no mark, only their offset.
  yaml_mark_t unreadable_byte() const {
    const std::string_view before = text_.substr(0, parser_.problem_offset);
    yaml_mark_t mark = {};
    mark.line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    mark.column = before.size() - (before.rfind('\n') + 1);  // npos + 1 is 0
    return mark;
  }

  std::string_view text_;
  std::size_t lines_;  // before the text
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

}  // namespace execcred::yaml
