// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/json/json_scan.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {
namespace {

using json::element_texts;
using json::member_text;

TEST_CASE("json scan: the text of a member, whatever stands before it") {
  struct Case {
    std::string text;
    std::optional<std::string_view> member;
  };
  for (const Case& c :
       {Case{R"({"a":1})", "1"}, Case{R"( { "b" : [1, {"a": 2}] , "a" : "x" } )", R"("x")"},
        Case{R"({"b":"\"a\":1,\\","a":true})", "true"},
        Case{R"({"b":"}{][","a":{"c":"}"}})", R"({"c":"}"})"},
        Case{R"({"b":{"a":1}})", std::nullopt}, Case{R"({"\u0061":1})", std::nullopt},
        Case{R"({"a":1,"a":2})", "1"},
        // Cut off.
        Case{R"({"a":[1,)", "[1,"}, Case{R"({"a":"x\)", R"("x\)"}, Case{R"({"a":)", std::nullopt},
        Case{R"({"b":[)", std::nullopt}, Case{R"({")", std::nullopt},
        // No object.
        Case{"", std::nullopt}, Case{"[1]", std::nullopt}, Case{"{}", std::nullopt},
        Case{"{,}", std::nullopt}, Case{R"({"a"})", std::nullopt}, Case{"{a:1}", std::nullopt}}) {
    CAPTURE(c.text);
    CHECK(member_text(c.text, "a") == c.member);
  }
}

TEST_CASE("json scan: the texts of the elements") {
  using Texts = std::optional<std::vector<std::string_view>>;
  CHECK(element_texts("[]") == Texts(std::vector<std::string_view>()));
  CHECK(element_texts(R"([ 1 , "a,]" , [2,3] ,{"b":4} ])") ==
        Texts({"1", R"("a,]")", "[2,3]", R"({"b":4})"}));
  for (const char* const text :
       {"", "{}", "[", "[1", "[1,", "[1,]", "[,]", "[1 2]", "[1]]", "]", "[[1]", R"(["a])"}) {
    CAPTURE(text);
    CHECK(element_texts(text) == std::nullopt);
  }
}

TEST_CASE("json scan: the size of an object or array that has an end") {
  using json::container_size;
  CHECK(container_size(R"({"a":"}\"]"} {)") == 12);
  CHECK(container_size("[{}]]") == 4);
  for (const char* const text :
       {"", "1", "\"a\"", "}", " {}", "{", "[{}", R"({"a":"})", R"({"a\)"}) {
    CAPTURE(text);
    CHECK(container_size(text) == 0);
  }
}

TEST_CASE("json scan: depth and length cost no stack and no more than linear time") {
  constexpr std::size_t kDepth = 4'000'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  CHECK(member_text(R"({"b":)" + deep + R"(,"a":7})", "a") == "7");
  const auto elements = element_texts("[" + deep + "," + deep + "]");
  REQUIRE(elements);
  CHECK(elements->size() == 2);
  CHECK(member_text(R"({"b":)" + std::string(kDepth, '{'), "a") == std::nullopt);
}

}  // namespace
}  // namespace execcred::test
