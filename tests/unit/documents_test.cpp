// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/documents.hpp>

#include <string>

namespace execcred {
namespace {

constexpr std::size_t kMax = 64 * 1024;

void check_reads(std::string_view text, const std::vector<std::string>& wanted) {
  CAPTURE(text);
  const Result<std::vector<json::Value>> documents = parse_documents(text, kMax);
  REQUIRE(documents);
  std::vector<std::string> found;
  for (const json::Value& document : *documents) found.push_back(to_text(document));
  CHECK((found == wanted));
}

void check_refused(std::string_view text, std::string_view part) {
  CAPTURE(text);
  CAPTURE(part);
  const Result<std::vector<json::Value>> documents = parse_documents(text, kMax);
  REQUIRE_FALSE(documents);
  CHECK(documents.error().kind == Error::Kind::configuration);
  CHECK(documents.error().message.starts_with("the document "));
  CHECK(documents.error().message.find(part) != std::string::npos);
}

TEST_CASE("parse_documents: JSON, one or many, with or without --- between them") {
  check_reads(R"({"a":1})", {R"({"a":1})"});
  check_reads("\n {\"a\":1}\n{\"b\":\"}\\\"{\"}\n", {R"({"a":1})", R"({"b":"}\"{"})"});
  check_reads("{}{}{\"a\":{}}", {"{}", "{}", R"({"a":{}})"});
  check_reads("{\"a\":1}\n---\n{\"b\":[{}]}\n---\n", {R"({"a":1})", R"({"b":[{}]})"});
  check_reads(R"({"a":123456789012345678901234567890,"b":1e3})",
              {R"({"a":123456789012345678901234567890,"b":1e3})"});
  check_reads(R"({"a":"\ud83d\ude00"})", {"{\"a\":\"\U0001f600\"}"});
}

TEST_CASE("parse_documents: YAML, one or many, flow style too") {
  check_reads("a: 1\n---\nb: yes\n", {R"({"a":1})", R"({"b":true})"});
  check_reads("{a: 1, b: 0x10}", {R"({"a":1,"b":16})"});
  check_reads("---\n{\"a\":1}\n", {R"({"a":1})"});
  check_reads("# comment\n{\"a\":1}\n", {R"({"a":1})"});
  check_reads("- 1\n", {"[1]"});
  check_reads("", {});
  check_reads(" \n---\n", {});
}

TEST_CASE("parse_documents: the error is about the form that was written, and says where") {
  check_refused("{\"a\":1,\n \"b\" 2}", "JSON at line 2, column 6");
  check_refused("{\"a\":1}\n{\"b\":x y,,}", "counted from line 2");
  check_refused("{\"a\":1} x", "line 1");
  check_refused("{\"a\":1", "line 1");
  check_refused("{\"a\":1}}", "line 1");
  check_refused("a: 1\nb: ]\n", "line 2, column 4");
  check_refused("a: b: c", "line 1");
}

TEST_CASE("parse_documents: what JSON limits refuse cannot come in as YAML") {
  check_refused(R"({"a":1,"a":2})", "more than once");
  check_refused(R"({"a":1}{"b":1,"b":2})", "more than once");
  check_refused("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}", "deeper");
  check_refused("{\"a\":\"" + std::string(kMax, 'x') + "\"}", "larger than 64 KiB");
  check_refused("a: " + std::string(kMax, 'x'), "larger than 64 KiB");
  check_refused(std::string_view("{}\0{\"a\":1}", 10), "");
  check_refused(std::string_view("{\"a\":1}\0", 8), "");
  check_refused("{\"a\":\"\xff\"}", "");
}

}  // namespace
}  // namespace execcred
