// SPDX-License-Identifier: Apache-2.0
// Compares execcred's parser with simdjson, on valid texts with random changes.
#include "support/json_judge.hpp"
#include "support/seed.hpp"

#include <doctest/doctest.h>
#include <execcred/json/json.hpp>

#include <array>
#include <random>
#include <string>

namespace execcred::json {
namespace {

constexpr std::array<std::string_view, 8> kSeeds = {
    R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://a:1","config":null},"interactive":false}})",
    R"([1,-0,0.5,1e3,-1.25E-2,12345678901234567890,true,false,null])",
    R"({"a":{"b":[{"c":"\u0041\ud83d\ude00\n\t\\\"\/"},[],{}]},"d":""})",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    " {\t\"a\" :\n[ ] , \"b\" : { } }\r\n",
    "0",
    "\"\"",
    "[[[[[[[[1]]]]]]]]"};

// Only execcred's parser refuses duplicate keys and deep nesting; simdjson keeps every key.
bool is_rule_of_ours(const Error& error) {
  return error.message.find("more than once") != std::string::npos ||
         error.message.find("nested deeper") != std::string::npos;
}

std::string mutate(std::string text, std::mt19937& random) {
  const auto pick = [&random](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  constexpr std::string_view kBytes = "{}[]\",:\\u0019.eE+-tfn \xff\xc3\x80\xf4";
  for (std::size_t edits = 1 + pick(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = pick(text.size());
    switch (pick(4)) {
      case 0:
        text.erase(at, 1 + pick(3));
        break;
      case 1:
        text.insert(at, 1, kBytes[pick(kBytes.size())]);
        break;
      case 2:
        text[at] = kBytes[pick(kBytes.size())];
        break;
      default:
        text.insert(at, text.substr(pick(text.size()), pick(8)));
    }
  }
  return text;
}

TEST_CASE("parse: agrees with simdjson on 200,000 altered texts, and on the values of valid ones") {
  test::JsonJudge judge;
  std::mt19937 random(test::seed());
  std::size_t accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string text =
        mutate(std::string(kSeeds[static_cast<std::size_t>(i) % kSeeds.size()]), random);
    const Result<Value> ours = parse(text);
    if (!ours && is_rule_of_ours(ours.error())) continue;
    // simdjson refuses numbers that fit neither 64 bits nor a double; execcred keeps their digits.
    if (ours && test::has_huge_number(*ours)) continue;
    CAPTURE(text);
    REQUIRE(ours.has_value() == judge.accepts(text));
    if (!ours) continue;
    ++accepted;
    REQUIRE(judge.means(text, *ours));
    REQUIRE(judge.means(to_text(*ours), *ours));
  }
  CHECK(accepted > 10'000);
}

TEST_CASE("JsonJudge: accepts the same value and no other value") {
  test::JsonJudge judge;
  const auto means = [&judge](const char* text, const char* other) {
    return judge.means(text, *parse(other));
  };
  CHECK(means(R"({"a":[1,-2,0.5,true,null,"x"]})", R"({"a":[1,-2,0.5,true,null,"x"]})"));
  for (const char* other :
       {"null", "{}", "[]", R"({"a":1})", R"({"a":[1,-2,0.5,true,null,"y"]})",
        R"({"a":[1,-2,0.5,false,null,"x"]})", R"({"a":[1,-2,0.25,true,null,"x"]})",
        R"({"a":[1,-3,0.5,true,null,"x"]})", R"({"b":[1,-2,0.5,true,null,"x"]})",
        R"({"a":[1,-2,0.5,true,null,"x",1]})", R"({"a":[1,-2,0.5,true,null]})"}) {
    CAPTURE(other);
    CHECK_FALSE(means(R"({"a":[1,-2,0.5,true,null,"x"]})", other));
  }
}

}  // namespace
}  // namespace execcred::json
