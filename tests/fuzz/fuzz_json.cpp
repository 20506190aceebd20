// SPDX-License-Identifier: Apache-2.0
// The JSON parser, compared with simdjson: both accept the same texts, with the same values.
#include "fuzz.hpp"
#include "support/json_judge.hpp"

#include <execcred/json/json.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace execcred::fuzz {
namespace {

using json::Value;

constexpr std::size_t kDepth = 200;

struct Judgement {
  bool accepts = false;
  bool has_duplicate_key = false;
  std::size_t depth = 0;
};

void look_at(simdjson::dom::element element, std::size_t depth, Judgement& judgement) {
  simdjson::dom::array items;
  simdjson::dom::object members;
  if (element.get(items) == simdjson::SUCCESS) {
    judgement.depth = std::max(judgement.depth, depth + 1);
    for (const simdjson::dom::element item : items) look_at(item, depth + 1, judgement);
  } else if (element.get(members) == simdjson::SUCCESS) {
    judgement.depth = std::max(judgement.depth, depth + 1);
    std::set<std::string_view> names;
    for (const auto member : members) {
      if (!names.insert(member.key).second) judgement.has_duplicate_key = true;
      look_at(member.value, depth + 1, judgement);
    }
  }
}

Judgement judge(std::string_view text) {
  test::JsonJudge judge;
  Judgement judgement;
  const std::optional<simdjson::dom::element> theirs = judge.read(text);
  judgement.accepts = theirs.has_value();
  if (theirs) look_at(*theirs, 0, judgement);
  return judgement;
}

void check_written(const Value& value, const std::string& written) {
  const Result<Value> again = json::parse(written, {.depth = kDepth});
  require(again.has_value() && *again == value, "what is written reads back");
}

void check_value(const Value& value, const std::string& text) {
  check_written(value, json::to_text(value));
  check_written(value, json::to_text(value, json::Escape::html));
  check_written(value, json::to_indented_text(value));
  const std::string html = json::to_text(value, json::Escape::html);
  require(html.find_first_of("<>&") == std::string::npos, "nothing that HTML would read");
  if (test::has_huge_number(value)) return;
  const Judgement theirs = judge(text);
  require(theirs.accepts, "ours takes only JSON");
  require(!theirs.has_duplicate_key, "ours takes no key twice");
  require(test::JsonJudge().means(text, value), "the same meaning");
  require(test::JsonJudge().means(json::to_text(value), value), "and once it is written");
  require(json::parse(text).has_value() == (theirs.depth <= json::Limits().depth),
          "the limit is the depth of the tree");
}

}  // namespace

void check(std::string_view input) {
  const std::string text(input);
  const Result<Value> ours = json::parse(text, {.depth = kDepth});
  if (ours) {
    check_value(*ours, text);
  } else {
    require(!json::parse(text), "a lower depth takes no more");
    // Newer versions of simdjson ignore a byte order mark.
    const Judgement theirs = text.starts_with("\ufeff") ? Judgement() : judge(text);
    require(!theirs.accepts || theirs.has_duplicate_key || theirs.depth > kDepth,
            "ours takes all that is JSON");
  }
  const Result<Value> folded =
      json::parse(text, {.depth = kDepth, .keys = json::Keys::ignore_case});
  require(!folded || (ours && *folded == *ours), "folding keys refuses more, and changes nothing");
}

}  // namespace execcred::fuzz
