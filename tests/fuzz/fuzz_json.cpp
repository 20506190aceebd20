// SPDX-License-Identifier: Apache-2.0
// The JSON parser against nlohmann/json: the same texts are JSON, and mean the same.
#include "fuzz.hpp"
#include "json_tree.hpp"

#include <execcred/json/json.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

using json::Value;

constexpr std::size_t kDepth = 200;

struct Judgement {
  bool accepts = false;
  bool has_duplicate_key = false;
  std::size_t depth = 0;
  nlohmann::json value;
};

Judgement judge(const std::string& text) {
  using Event = nlohmann::json::parse_event_t;
  Judgement judgement;
  std::vector<std::set<std::string>> keys;
  judgement.value = nlohmann::json::parse(
      text,
      [&](int, Event event, nlohmann::json& value) {
        if (event == Event::object_start || event == Event::array_start) keys.emplace_back();
        if (event == Event::object_end || event == Event::array_end) keys.pop_back();
        if (event == Event::key && !keys.back().insert(value.get<std::string>()).second) {
          judgement.has_duplicate_key = true;
        }
        judgement.depth = std::max(judgement.depth, keys.size());
        return true;
      },
      false);
  judgement.accepts = !judgement.value.is_discarded();
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
  if (has_huge_number(value)) return;
  const Judgement theirs = judge(text);
  require(theirs.accepts, "ours takes only JSON");
  require(!theirs.has_duplicate_key, "ours takes no key twice");
  require(nlohmann::json::parse(json::to_text(value)) == theirs.value, "the same meaning");
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
    // The judge stops at a NUL and passes over a byte order mark.
    const bool is_readable =
        text.find('\0') == std::string::npos && !text.starts_with("\xef\xbb\xbf");
    const Judgement theirs = is_readable ? judge(text) : Judgement();
    require(!theirs.accepts || theirs.has_duplicate_key || theirs.depth > kDepth,
            "ours takes all that is JSON");
  }
  const Result<Value> folded =
      json::parse(text, {.depth = kDepth, .keys = json::Keys::ignore_case});
  require(!folded || (ours && *folded == *ours), "folding keys refuses more, and changes nothing");
}

}  // namespace execcred::fuzz
