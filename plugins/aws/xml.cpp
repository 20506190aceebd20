// SPDX-License-Identifier: Apache-2.0
#include "xml.hpp"

#include <execcred/base/text.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace execcred::aws {
namespace {

constexpr std::size_t kMaxSize = 128 * 1024;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxElements = 1000;  // each is compared with its siblings

struct Entity {
  std::string_view name;
  char character;
};
constexpr std::array<Entity, 5> kEntities = {
    {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};

bool is_name_start(char c) { return (is_alphanumeric(c) && !is_digit(c)) || c == '_'; }
bool is_name_part(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' || c == ':';
}

// A character that XML 1.0 allows and that is one of text: no control but white space.
bool is_text_character(std::uint32_t c) {
  return c == 0x9 || c == 0xa || c == 0xd || (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0xd800) ||
         (c >= 0xe000 && c < 0xfffe) || (c >= 0x10000 && c < 0x110000);
}

void append_utf8(std::uint32_t c, std::string& out) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xc0U | c >> 6U));
    out.push_back(tail(0));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xe0U | c >> 12U));
    out.push_back(tail(6));
    out.push_back(tail(0));
  } else {
    out.push_back(static_cast<char>(0xf0U | c >> 18U));
    out.push_back(tail(12));
    out.push_back(tail(6));
    out.push_back(tail(0));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<json::Value> parse() {
    if (text_.size() > kMaxSize) return wrong("is too large");
    skip_space();
    if (take("<?xml")) {
      const std::size_t end = rest().find("?>");
      if (end == std::string_view::npos) return wrong("has a declaration without its end");
      at_ += end + 2;
    }
    skip_space();
    json::Value document;
    TRY(take_element(0, document));
    skip_space();
    if (!rest().empty()) return wrong("has something behind its root element");
    return document;
  }

 private:
  Error wrong(const std::string& problem) const {
    return {.kind = Error::Kind::no_credential,
            .message = "the XML " + problem + " (byte " + std::to_string(at_ + 1) + ")"};
  }

  std::string_view rest() const { return text_.substr(at_); }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(std::string_view part) {
    if (!rest().starts_with(part)) return false;
    at_ += part.size();
    return true;
  }

  Result<std::string> take_name() {
    const std::size_t begin = at_;
    if (rest().empty() || !is_name_start(rest().front())) return wrong("lacks a name");
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Status skip_attributes() {
    for (;;) {
      const std::size_t begin = at_;
      skip_space();
      if (rest().starts_with('>') || rest().starts_with("/>")) return {};
      if (begin == at_) return wrong("has a tag without its end");
      TRY(take_name());
      if (!take("=")) return wrong("has an attribute without a value");
      const char quote = rest().empty() ? '\0' : rest().front();
      if (quote != '"' && quote != '\'') return wrong("has an attribute without quotes");
      const std::size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos ||
          text_.substr(at_ + 1, end - at_ - 1).find('<') != std::string_view::npos) {
        return wrong("has an attribute without its end");
      }
      at_ = end + 1;
    }
  }

  // Appends the element to `parent`, an object.
  Status take_element(std::size_t depth, json::Value& parent) {
    if (depth >= kMaxDepth) return wrong("is nested too deeply");
    if (++elements_ > kMaxElements) return wrong("has too many elements");
    if (!take("<")) return wrong("has no element where one must be");
    TRY_ASSIGN(const std::string name, take_name());
    if (parent.find(name) != nullptr) return wrong("has an element twice");
    TRY(skip_attributes());
    json::Value content{std::string_view()};
    if (!take("/>")) {
      take(">");
      TRY(take_content(depth, content));
      if (!take("</" + name)) return wrong("has an element that another one ends");
      skip_space();
      if (!take(">")) return wrong("has a tag without its end");
    }
    parent.add(name, std::move(content));
    return {};
  }

  // Elements with white space between them, or text.
  Status take_content(std::size_t depth, json::Value& content) {
    std::string text;
    json::Value elements;
    while (!rest().starts_with("</")) {
      if (rest().empty()) return wrong("ends within an element");
      if (rest().front() == '<') {
        TRY(take_element(depth + 1, elements));
      } else {
        TRY(take_text(text));
      }
    }
    if (elements.is_null()) {
      content = json::Value(std::move(text));
      return {};
    }
    if (!trim(text).empty()) return wrong("has text between elements");
    content = std::move(elements);
    return {};
  }

  Status take_text(std::string& text) {
    if (take("&")) return take_entity(text);
    const std::size_t length = utf8_length(rest());
    const auto byte = static_cast<unsigned char>(rest().front());
    if (length == 0 || (length == 1 && !is_text_character(byte))) {
      return wrong("has a byte that is no text");
    }
    text += rest().substr(0, length);
    at_ += length;
    return {};
  }

  Status take_entity(std::string& text) {
    const std::size_t end = rest().find(';');
    if (end == std::string_view::npos) return wrong("has an entity without its end");
    std::string_view name = rest().substr(0, end);
    for (const Entity& entity : kEntities) {
      if (entity.name != name) continue;
      text.push_back(entity.character);
      at_ += end + 1;
      return {};
    }
    if (!name.starts_with('#')) return wrong("has an unknown entity");
    name.remove_prefix(1);
    const int base = name.starts_with('x') ? 16 : 10;
    if (base == 16) name.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [stop, problem] =
        std::from_chars(name.data(), name.data() + name.size(), code, base);
    if (problem != std::errc() || stop != name.data() + name.size() || !is_text_character(code)) {
      return wrong("has a reference to no character");
    }
    append_utf8(code, text);
    at_ += end + 1;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t elements_ = 0;
};

}  // namespace

Result<json::Value> parse_xml(std::string_view text) { return Parser(text).parse(); }

}  // namespace execcred::aws
