// SPDX-License-Identifier: Apache-2.0
#include "growth.hpp"

#include <doctest/doctest.h>
#include <execcred/yaml/documents.hpp>

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

TEST_CASE("parse_documents: one or more JSON documents, with or without --- between them") {
  check_reads(R"({"a":1})", {R"({"a":1})"});
  check_reads("\n {\"a\":1}\n{\"b\":\"}\\\"{\"}\n", {R"({"a":1})", R"({"b":"}\"{"})"});
  check_reads("{}{}{\"a\":{}}", {"{}", "{}", R"({"a":{}})"});
  check_reads("{\"a\":1}\n---\n{\"b\":[{}]}\n---\n", {R"({"a":1})", R"({"b":[{}]})"});
  check_reads(R"({"a":123456789012345678901234567890,"b":1e3})",
              {R"({"a":123456789012345678901234567890,"b":1e3})"});
  check_reads(R"({"a":"\ud83d\ude00"})", {"{\"a\":\"\U0001f600\"}"});
}

TEST_CASE("parse_documents: one or more YAML documents, also in flow style") {
  check_reads("a: 1\n---\nb: yes\n", {R"({"a":1})", R"({"b":true})"});
  check_reads("{a: 1, b: 0x10}", {R"({"a":1,"b":16})"});
  check_reads("---\n{\"a\":1}\n", {R"({"a":1})"});
  check_reads("# comment\n{\"a\":1}\n", {R"({"a":1})"});
  check_reads("- 1\n", {"[1]"});
  check_reads("", {});
  check_reads(" \n---\n", {});
}

TEST_CASE("parse_documents: an error is about JSON or YAML, as written, and shows the position") {
  check_refused("{\"a\":1,\n \"b\" 2}", "JSON at line 2, column 6");
  check_refused("{\"a\":1}\n{\"b\":x y,,}", "counted from line 2");
  check_refused("{\"a\":1} x", "line 1");
  check_refused("{\"a\":1", "line 1");
  check_refused("{\"a\":1}}", "line 1");
  check_refused("a: 1\nb: ]\n", "line 2, column 4");
  check_refused("a: b: c", "line 1");
}

TEST_CASE("parse_documents: a text that the JSON limits refuse is not accepted as YAML") {
  check_refused(R"({"a":1,"a":2})", "more than once");
  check_refused(R"({"a":1}{"b":1,"b":2})", "more than once");
  check_refused("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}", "deeper");
  check_refused("{\"a\":\"" + std::string(kMax, 'x') + "\"}", "larger than 64 KiB");
  check_refused("a: " + std::string(kMax, 'x'), "larger than 64 KiB");
  check_refused(std::string_view("{}\0{\"a\":1}", 10), "");
  check_refused(std::string_view("{\"a\":1}\0", 8), "");
  check_refused("{\"a\":\"\xff\"}", "");
}

// Each document as JSON, or "line N" of the error for a document that cannot be read.
std::vector<std::string> each(std::string_view text) {
  std::vector<std::string> found;
  for (const Result<Document>& document : parse_each_document(text, kMax)) {
    if (document) {
      found.push_back(to_text(document->value));
      continue;
    }
    const std::string& message = document.error().message;
    const std::size_t at = message.find("line ");
    found.push_back(at == std::string::npos ? message
                                            : message.substr(at, message.find(',', at) - at));
  }
  return found;
}

TEST_CASE(
    "parse_each_document: an invalid document is an error with its line, others are read too") {
  using Texts = std::vector<std::string>;
  CHECK(each("a: 1\n---\nb: 2\n") == Texts{R"({"a":1})", R"({"b":2})"});
  CHECK(each("") == Texts{});
  CHECK(each("a: [\n") == Texts{"line 2"});
  CHECK(each("a: 1\n---\nb: [\n---\nc: 3\n---\n'\n") ==
        Texts{R"({"a":1})", "line 4", R"({"c":3})", "line 8"});
  // A marker is at the start of a line, alone or before a space; "..." is a marker too.
  CHECK(each("a: [\n--- {b: 2}\n---c: x\n...\n%YAML 1.1\n---\nd: 4\n").back() == R"({"d":4})");
  CHECK(each("a: |\n  ---\n  x\nb: [\n---\nc: 3\n") == Texts{"line 5", R"({"c":3})"});
  CHECK(each("x: \xff\n---\r\nc: 3\r\n") == Texts{"line 1", R"({"c":3})"});
  // Numbers in JSON keep their digits.
  CHECK(each("{\"a\":1}\n---\n{\"b\" 2}\n---\n{\"c\":1.50}\n") ==
        Texts{R"({"a":1})", "line 1", R"({"c":1.50})"});
  CHECK(each("{\"a\":1}}") == Texts{"line 1"});
  CHECK(each(std::string(kMax + 1, '\n')) == Texts{"the document is larger than 64 KiB"});
}

TEST_CASE(
    "parse_each_document: an item of a JSON list that cannot be read is a problem of its own") {
  const auto item = [](const std::string& name, const std::string& spec) {
    return R"({"kind":"A","metadata":{"namespace":"n","name":")" + name + R"("},"spec":)" + spec +
           "}";
  };
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  const std::string head = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const auto& [bad, problem] : std::vector<std::pair<std::string, std::string>>{
           {deep, "the object is nested deeper than 32 levels, counted from line 3"},
           {R"({"a":1,"a":2})", "has the key 'a' more than once"}}) {
    const std::string text = "{}\n---\n" + head + item("a", "1") + ",\n " + item("b", bad) +
                             ",\n " + item("c", bad) + "," + item("d", "1") +
                             R"(],"metadata":{"x":1.50}})" + "\n---\n{}";
    CAPTURE(text);
    const auto documents = parse_each_document(text, kMax);
    REQUIRE(documents.size() == 3);
    REQUIRE(documents[1].has_value());
    const Document& list = *documents[1];
    CHECK(to_text(list.value) == head + item("a", "1") +
                                     R"(,{"kind":"A","metadata":{"name":"b","namespace":"n"}})"
                                     R"(,{"kind":"A","metadata":{"name":"c","namespace":"n"}},)" +
                                     item("d", "1") + R"(],"metadata":{"x":1.50}})");
    REQUIRE(list.item_problems.size() == 2);
    const std::string& first = list.item_problems.at(1).message;
    const std::string& second = list.item_problems.at(2).message;
    CHECK_MESSAGE(first.find(problem.substr(0, problem.find(','))) != std::string::npos, first);
    CHECK_MESSAGE(first.ends_with(", counted from line 4"), first);
    CHECK_MESSAGE(second.ends_with(", counted from line 5"), second);
  }
  // The list itself must be valid: otherwise its items may be others than they seem.
  for (const std::string& text :
       {head + item("a", deep), head + item("a", deep) + R"(],"items":[]})",
        head + item("a", deep) + "],\"x\":" + deep + "}", head + item("a", deep) + "]}]",
        R"({"kind":"A","items":[)" + item("a", deep) + "]}"}) {
    CAPTURE(text);
    const auto documents = parse_each_document(text, kMax);
    REQUIRE(documents.size() == 1);
    CHECK_FALSE(documents.front().has_value());
  }
}

TEST_CASE("parse_each_document: so is an item of a YAML list whose syntax is right") {
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  const std::string head = "apiVersion: v1\nkind: List\nitems:\n";
  const auto item = [](const std::string& name, const std::string& spec) {
    return "- kind: A\n  metadata:\n    name: " + name + "\n  spec: " + spec + "\n";
  };
  struct Bad {
    std::string spec;
    std::string problem;
  };
  for (const Bad& bad : std::vector<Bad>{{deep, "is nested deeper than 32 levels at line 13"},
                                         {"{a: 1, a: 2}", "has the key 'a' more than once"},
                                         {"1\n  spec: 2", "has the key 'spec' more than once"},
                                         {"{b: [.nan, {c: 1}], d: 2}", "at line 13"},
                                         {"!x {y: 1}", "has the unknown tag"},
                                         {"{? [a] : b}", "has a key that is no scalar"},
                                         {"{<<: {a: 1}}", "has a merge key"},
                                         {"*nothing", "has an alias without an anchor"}}) {
    CAPTURE(bad.spec);
    const std::string text = "x: 1\n---\n" + head + item("a", "&s {t: 1}") + item("b", bad.spec) +
                             item("c", "*s") + "- .nan\n- !x {y: [1]}\n" + item("d", "1") +
                             "---\ny: 2\n";
    const auto documents = parse_each_document(text, kMax);
    REQUIRE(documents.size() == 3);
    REQUIRE(documents[1].has_value());
    const Document& list = *documents[1];
    CHECK(to_text(*list.value.find("items")) ==
          R"([{"kind":"A","metadata":{"name":"a"},"spec":{"t":1}},)"
          R"({"kind":"A","metadata":{"name":"b"}},)"
          R"({"kind":"A","metadata":{"name":"c"},"spec":{"t":1}},null,null,)"
          R"({"kind":"A","metadata":{"name":"d"},"spec":1}])");
    REQUIRE(list.item_problems.size() == 3);
    const std::string& problem = list.item_problems.at(1).message;
    CHECK_MESSAGE(problem.starts_with("the object "), problem);
    CHECK_MESSAGE(problem.find(bad.problem) != std::string::npos, problem);
  }
  // An anchor of an item that cannot be read is none for the others.
  const auto anchored = parse_each_document(
      head + item("a", "{k: &x {y: 1}, z: .nan}") + item("b", "*x") + item("c", "1"), kMax);
  REQUIRE(anchored.size() == 1);
  REQUIRE(anchored.front().has_value());
  CHECK(anchored.front()->item_problems.size() == 2);
  // Nothing of a name that is not known.
  const auto nameless =
      parse_each_document(head + "- metadata: {labels: {a: .nan}, name: n}\n", kMax);
  REQUIRE(nameless.front().has_value());
  CHECK(to_text(*nameless.front()->value.find("items")) == "[null]");
  // What is no list, and what is no YAML, is not divided.
  for (const std::string& text : std::vector<std::string>{
           "kind: A\nitems:\n" + item("a", deep), head + item("a", deep) + "x: [\n",
           head + item("a", deep) + "items: []\n", head + item("a", deep) + "x: .nan\n",
           "kind: List\nitems: {a: .nan}\n", "- items:\n  - .nan\n", "[.nan]"}) {
    CAPTURE(text);
    const auto documents = parse_each_document(text, kMax);
    REQUIRE(documents.size() == 1);
    CHECK_FALSE(documents.front().has_value());
  }
}

TEST_CASE("parse_each_document: aliases of all documents together have one limit") {
  std::string list = "x";
  for (int i = 1; i < 999; ++i) list += ",x";
  std::string text = "[\n";
  for (int i = 0; i < 20; ++i) text += "---\na: &a [" + list + "]\nb: *a\n";
  std::size_t read = 0;
  std::size_t refused = 0;
  for (const Result<Document>& document : parse_each_document(text, kMax)) {
    if (document) {
      ++read;
    } else if (document.error().message.find("aliases that stand for more") != std::string::npos) {
      ++refused;
    }
  }
  CHECK(read == 10);
  CHECK(refused == 10);
}

TEST_CASE("from_utf16: converts both byte orders, and nothing without a byte order mark") {
  const std::string little(
      "\xff\xfe"
      "a\0\xe9\0\x3d\xd8\0\xde",
      10);
  const std::string big("\xfe\xff\0a\0\xe9\xd8\x3d\xde\0", 10);
  for (const std::string& text : {little, big}) {
    const std::optional<SecretString> converted = from_utf16(text);
    REQUIRE(converted);
    CHECK(converted->reveal() == "a\u00e9\U0001f600");
  }
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("\xff"),
        std::string("\xff\xfe"
                    "a",
                    3),
        std::string("\xff\xfe\x3d\xd8", 4), std::string("\xff\xfe\0\xde", 4),
        std::string("\xff\xfe\x3d\xd8"
                    "a\0",
                    6)}) {
    CHECK_FALSE(from_utf16(text));
  }
}

}  // namespace
}  // namespace execcred
