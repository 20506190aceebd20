// SPDX-License-Identifier: Apache-2.0
// XML of STS: an accepted text is a tree of bounded depth, and is the same when written again.
#include "fuzz.hpp"

#include <aws/xml.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>

#include <algorithm>
#include <string>

namespace execcred::fuzz {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // This includes white space that a parser could change.
    if (c == '&' || c == '<' || c == '>' || byte < 0x20) {
      out += "&#" + std::to_string(byte) + ";";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string written(const json::Value& value, int depth) {
  require(depth <= 17, "a tree of bounded depth");
  if (value.string() != nullptr) return escaped(*value.string());
  require(value.object() != nullptr && !value.object()->empty(), "elements or text");
  std::string text;
  for (const json::Member& member : *value.object()) {
    const auto same =
        std::count_if(value.object()->begin(), value.object()->end(),
                      [&](const json::Member& other) { return other.name == member.name; });
    require(same == 1, "no element stands twice");
    text += "<" + member.name + ">" + written(member.value, depth + 1) + "</" + member.name + ">";
  }
  return text;
}

}  // namespace

void check(std::string_view input) {
  const Result<json::Value> document = aws::parse_xml(input);
  if (!document) {
    require(document.error().kind == Error::Kind::no_credential, "the other side is at fault");
    require(document.error().message.size() < 120, "a message without the text");
    return;
  }
  require(document->object() != nullptr && document->object()->size() == 1, "one root");
  const Result<json::Value> again = aws::parse_xml(written(*document, 0));
  require(again.has_value(), "what was written is taken");
  require(*again == *document, "and is the same");
}

}  // namespace execcred::fuzz
