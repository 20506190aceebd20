// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "growth.hpp"

#include <doctest/doctest.h>
#include <execcred/base/try.hpp>
#include <execcred/yaml/yaml.hpp>

namespace execcred::yaml {
namespace {

using Documents = std::vector<std::string>;  // each as compact JSON

Result<Documents> read(std::string_view text, const Limits& limits = {}) {
  Documents documents;
  TRY(for_each_document(text, limits, [&documents](json::Value document) -> Status {
    documents.push_back(to_text(document));
    return {};
  }));
  return documents;
}

void check_reads(std::string_view text, const Documents& wanted) {
  CAPTURE(text);
  const Result<Documents> documents = read(text);
  REQUIRE(documents);
  CHECK((*documents == wanted));
}

void check_refused(std::string_view text, std::string_view part) {
  CAPTURE(text);
  const Result<Documents> documents = read(text);
  test::check_fails(documents, Error::Kind::configuration, part);
  CHECK(test::contains(documents.error().message, "line "));
}

struct Scalar {
  std::string_view text;
  std::string_view json;
};

// The expected values are those of sigs.k8s.io/yaml v1.4.0 (its own go-yaml v2).
TEST_CASE("yaml: plain scalars are typed as Kubernetes tools type them") {
  for (const Scalar& c : {
           Scalar{"y", "true"},
           Scalar{"Y", "true"},
           Scalar{"yes", "true"},
           Scalar{"on", "true"},
           Scalar{"TRUE", "true"},
           Scalar{"n", "false"},
           Scalar{"No", "false"},
           Scalar{"Off", "false"},
           Scalar{"false", "false"},
           Scalar{"tRue", "\"tRue\""},
           Scalar{"", "null"},
           Scalar{"~", "null"},
           Scalar{"null", "null"},
           Scalar{"NULL", "null"},
           Scalar{"nULL", "\"nULL\""},
           Scalar{"none", "\"none\""},
           Scalar{"0", "0"},
           Scalar{"42", "42"},
           Scalar{"-7", "-7"},
           Scalar{"+5", "5"},
           Scalar{"0x1F", "31"},
           Scalar{"0X1F", "31"},
           Scalar{"-0x1F", "-31"},
           Scalar{"0b11", "3"},
           Scalar{"0B11", "3"},
           Scalar{"0o17", "15"},
           Scalar{"0O17", "15"},
           Scalar{"-0o17", "-15"},
           Scalar{"017", "15"},
           Scalar{"-017", "-15"},
           Scalar{"00", "0"},
           Scalar{"08", "8"},
           Scalar{"09.5", "9.5"},
           Scalar{"00.1", "0.1"},
           Scalar{"1_000", "1000"},
           Scalar{"1_000.5", "1000.5"},
           Scalar{"0x_1F", "31"},
           Scalar{"07_7", "63"},
           Scalar{"_1", "\"_1\""},
           Scalar{"0x", "\"0x\""},
           Scalar{"0b12", "\"0b12\""},
           Scalar{"0o18", "\"0o18\""},
           Scalar{"0x1G", "\"0x1G\""},
           Scalar{"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
           Scalar{"0xFFFFFFFFFFFFFFFFF", "\"0xFFFFFFFFFFFFFFFFF\""},
           Scalar{"-0xFFFFFFFFFFFFFFFF", "\"-0xFFFFFFFFFFFFFFFF\""},
           Scalar{"0.1", "0.1"},
           Scalar{".5", "0.5"},
           Scalar{"-.5", "-0.5"},
           Scalar{"+.5", "0.5"},
           Scalar{"+1.5", "1.5"},
           Scalar{"5.", "5"},
           Scalar{"1e3", "1e3"},
           Scalar{"1E-3", "1E-3"},
           Scalar{"5.e+3", "5e+3"},
           Scalar{".5e3", "0.5e3"},
           Scalar{"12e03", "12e03"},
           Scalar{".", "\".\""},
           Scalar{"-.", "\"-.\""},
           Scalar{"+.", "\"+.\""},
           Scalar{".e5", "\".e5\""},
           Scalar{"1e", "\"1e\""},
           Scalar{"1e+", "\"1e+\""},
           Scalar{"..", "\"..\""},
           Scalar{"./a", "\"./a\""},
           Scalar{"+", "\"+\""},
           Scalar{"--1", "\"--1\""},
           Scalar{"1-2", "\"1-2\""},
           Scalar{"1.2.3", "\"1.2.3\""},
           Scalar{"10.0.0.1", "\"10.0.0.1\""},
           Scalar{"0x1p-2", "\"0x1p-2\""},
           Scalar{"1e+999", "\"1e+999\""},
           Scalar{"-.nan", "\"-.nan\""},
           Scalar{"NaN", "\"NaN\""},
           Scalar{"Inf", "\"Inf\""},
           Scalar{"2001-12-14", "\"2001-12-14\""},
           Scalar{"2001-12-14t21:59:43.10-05:00", "\"2001-12-14t21:59:43.10-05:00\""},
           Scalar{"2026-07-01T12:00:00Z", "\"2026-07-01T12:00:00Z\""},
           Scalar{"1:30", "\"1:30\""},
           Scalar{"190:20:30", "\"190:20:30\""},
           Scalar{"=", "\"=\""},
           Scalar{"<<", "\"<<\""},
           Scalar{"https://a:443/b", "\"https://a:443/b\""},
           Scalar{"a b", "\"a b\""},
       }) {
    check_reads("a: " + std::string(c.text) + "\n", {"{\"a\":" + std::string(c.json) + "}"});
  }
}

TEST_CASE("yaml: big integers keep their digits") {
  for (const std::string_view text :
       {"9007199254740993", "9223372036854775808", "18446744073709551616", "-9223372036854775809",
        "123456789012345678901234567890"}) {
    check_reads("a: " + std::string(text), {"{\"a\":" + std::string(text) + "}"});
  }
}

TEST_CASE("yaml: quoted scalars and block scalars are strings") {
  for (const std::string_view text : {"yes", "1", "null", "0x1F", "1e3", "~", "", ".inf"}) {
    const std::string value(text);
    check_reads("a: \"" + value + "\"", {"{\"a\":\"" + value + "\"}"});
    check_reads("a: '" + value + "'", {"{\"a\":\"" + value + "\"}"});
  }
  check_reads("a: |-\n  yes\n", {R"({"a":"yes"})"});
  check_reads("a: >-\n  1\n", {R"({"a":"1"})"});
  check_reads("a: |\n  x\n  y\n", {R"({"a":"x\ny\n"})"});
  check_reads(R"(a: "\x41\u00e9\0")", {"{\"a\":\"A\u00e9\\u0000\"}"});
}

TEST_CASE("yaml: YAML's own tags are accepted if they fit the value, other tags are refused") {
  for (const Scalar& c :
       {Scalar{"!!str 5", "\"5\""}, Scalar{"!!str yes", "\"yes\""}, Scalar{"!!str", "\"\""},
        Scalar{"!!int \"5\"", "5"}, Scalar{"!!float 5", "5"}, Scalar{"!!bool \"yes\"", "true"},
        Scalar{"!!null \"\"", "null"}, Scalar{"!!map {}", "{}"}, Scalar{"!!seq []", "[]"},
        Scalar{"! \"5\"", "\"5\""}, Scalar{"!!binary aGk=", "\"hi\""},
        Scalar{"!!binary \"\"", "\"\""}}) {
    check_reads("a: " + std::string(c.text), {"{\"a\":" + std::string(c.json) + "}"});
  }
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a '!!binary' that is no base64", {"!!binary aGk", "!!binary <aGk=>"}},
           {"has a '!!binary' whose bytes are no UTF-8", {"!!binary /w=="}},
           {"has a scalar whose tag '!!int' is unknown or does not fit", {"!!int x", "!!int 1.5"}},
           {"has a scalar whose tag '!foo' is unknown or does not fit", {"!foo x"}},
           {"is unknown or does not fit",
            {"!!bool 1", "!!null x", "!!float yes", "!!python/object:x y",
             "!<tag:example.com,2000:x> y", "!!timestamp 2001-12-14"}},
           {"has the unknown tag '!",
            {"!foo {}", "!foo []", "!!set {}", "!!omap []", "!!map []", "!!seq {}", "!!str {}"}},
       }) {
    for (const std::string& text : texts) {
      check_refused("a: " + std::string(text), told);
    }
  }
  check_refused("%TAG !! tag:example.com,2000:\n---\na: !!str x\n",
                "has a scalar whose tag 'tag:example.com,2000:str' is unknown or does not fit");
  for (const std::string_view text :
       {"!foo a: 1", "!!binary aGk=: 1", "!!int 1: 1", "!!merge \"<<\": {}"}) {
    check_refused(text, "has a key whose tag is unknown or no string's");
  }
}

TEST_CASE("yaml: numbers that JSON cannot hold are refused") {
  for (const std::string_view text : {".inf", "-.inf", "+.Inf", ".nan", ".NaN", "!!float .INF"}) {
    check_refused("a: " + std::string(text), "which JSON cannot hold");
  }
}

TEST_CASE("yaml: nesting is limited, in blocks, flows and through aliases") {
  const auto flow = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(read(flow(32)));
  check_refused(flow(33), "is nested deeper than 32 levels");
  check_refused(std::string(60'000, '['), "is nested deeper than 32 levels");
  check_refused(std::string(60'000, '{'), "has a key that is no scalar");
  std::string block;
  for (std::size_t i = 0; i < 33; ++i) block += std::string(i, ' ') + "a:\n";
  check_refused(block, "is nested deeper than 32 levels");
  std::string dashes;
  for (int i = 0; i < 33; ++i) dashes += "- ";
  check_refused(dashes + "x", "is nested deeper than 32 levels");
  // An alias of 17 levels is accepted inside 15 levels, and refused inside 16.
  const std::string inner = "- &a " + flow(17) + "\n- ";
  CHECK(read(inner + std::string(14, '[') + "*a" + std::string(14, ']')));
  check_refused(inner + std::string(15, '[') + "*a" + std::string(15, ']'),
                "is nested deeper than 32 levels");
}

TEST_CASE("yaml: a text above the size limit is refused") {
  const Limits limits{.bytes = 1024};
  CHECK(read(std::string(1024, 'a'), limits));
  CHECK_FALSE(read(std::string(1025, 'a'), limits));
}

TEST_CASE("yaml: aliases stand for their anchors") {
  check_reads("a: &x [1, {b: c}]\nd: *x\n", {R"({"a":[1,{"b":"c"}],"d":[1,{"b":"c"}]})"});
  check_reads("a: &x 1\nb: &x 2\nc: *x\n", {R"({"a":1,"b":2,"c":2})"});
  // Some anchored nodes are in containers that are still open, others in containers that moved.
  check_reads("- - - &x [1]\n    - 2\n    - *x\n  - *x\n- {a: *x}\n- *x\n",
              {"[[[[1],2,[1]],[1]],{\"a\":[1]},[1]]"});
  check_reads(
      "a: &x {b: &y {c: &z 1}, d: *y}\ne: *x\nf: *y\ng: *z\n",
      {R"({"a":{"b":{"c":1},"d":{"c":1}},"e":{"b":{"c":1},"d":{"c":1}},"f":{"c":1},"g":1})"});
  check_reads("- &x [0]\n- [a, b, c, &x [1, *x], d, *x]\n- *x\n",
              {R"([[0],["a","b","c",[1,[0]],"d",[1,[0]]],[1,[0]]])"});
  check_reads("- &x [1]\n- &y [*x, *x]\n- *y\n", {"[[1],[[1],[1]],[[1],[1]]]"});
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has an alias without an anchor",
            {"a: *x", "a: &x [*x]", "a: &x {b: [{c: *x}]}", "a: *x\nb: &x 1", "*x : 1",
             "&x a: 1\nb: *x", "a: &x 1\n---\nb: *x"}},
           {"has an alias for a key", {"a: &x b\n*x : 1"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
}

TEST_CASE("yaml: aliases cannot make a small text large") {
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const std::string before = "*" + std::string(1, static_cast<char>(c - 1));
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) laughs += before + ", ";
    laughs += before + "]\n";
  }
  check_refused(laughs, "has aliases that stand for more than 10000 nodes");

  const auto many = [](int count) {
    std::string text = "- &x 1\n";
    for (int i = 0; i < count; ++i) text += "- *x\n";
    return text;
  };
  CHECK(read(many(10'000)));
  check_refused(many(10'001), "has aliases that stand for more than 10000 nodes");
  check_refused(many(6'000) + "---\n" + many(6'000),
                "has aliases that stand for more than 10000 nodes");  // in all documents together
}

TEST_CASE("yaml: aliases cannot repeat a large text") {
  for (const std::string& anchor :
       {"&x " + std::string(60'000, 'a'), "&x {" + std::string(1'000, 'k') + ": 1}",
        "&x 0." + std::string(2'000, '1')}) {
    std::string text = "- " + anchor + "\n";
    for (int i = 0; i < 1'000; ++i) text += "- *x\n";
    check_refused(text, "has aliases that stand for more than ");
  }
}

TEST_CASE("yaml: duplicate keys are refused at every level, however they are written" *
          doctest::description("promise 20")) {
  for (const std::string_view text :
       {"a: 1\na: 2\n", "a: 1\nb: 2\n\"a\": 3\n", "x:\n  a: 1\n  'a': 2\n", "{a: 1, a: 2}",
        "- {a: 1, ? a : 2}", R"({"a": 1, "\x61": 2})", "1: a\n\"1\": b\n", "? a\n? a\n"}) {
    check_refused(text, "more than once in the mapping that ends");
  }
  check_reads("a: {a: 1}\nb: {a: 1}\nA: 2\n", {R"({"a":{"a":1},"b":{"a":1},"A":2})"});
}

TEST_CASE("yaml: merge keys are refused, and a quoted << is an ordinary key") {
  check_refused("a: &x {b: 1}\nc:\n  <<: *x\n", "has a merge key");
  check_refused("<<: {a: 1}", "has a merge key");
  check_refused("<<: [{a: 1}]", "has a merge key");
  check_reads("\"<<\": 1", {R"({"<<":1})"});
}

TEST_CASE("yaml: keys must be scalars, and are read as strings") {
  check_reads("1: a\n1.5: b\n", {R"({"1":"a","1.5":"b"})"});
  for (const std::string_view text : {"? [a]\n: b", "? {a: b}\n: c", "{[a]: b}", "{{a: b}: c}"}) {
    check_refused(text, "has a key that is no scalar");
  }
}

TEST_CASE("yaml: several documents are read, and empty ones are ignored") {
  check_reads("", {});
  check_reads("\n# nothing\n", {});
  check_reads("---\n", {});
  check_reads("---\n---\n...\n---\nnull\n", {});
  check_reads("a: 1\n---\nb: 2\n", {R"({"a":1})", R"({"b":2})"});
  check_reads("---\na: 1\n...\n---\n# c\n---\n- b\n", {R"({"a":1})", R"(["b"])"});
  check_reads("%YAML 1.1\n---\na: 1\n", {R"({"a":1})"});
}

TEST_CASE("yaml: a receiver can stop, and its error is returned") {
  int count = 0;
  const auto receive = [&count](const json::Value& /*document*/) -> Status {
    if (++count < 2) return {};
    return Error{.kind = Error::Kind::unavailable, .message = "enough"};
  };
  const Status status = for_each_document("a\n---\nb\n---\nc\n", {}, receive);
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "enough");
  CHECK(status.error().kind == Error::Kind::unavailable);
  CHECK(count == 2);
}

TEST_CASE("yaml: JSON is YAML") {
  check_reads(R"({"a": [1, true, null, "x\u00e9\n"], "b": {"c": -1.5e-3}})",
              {"{\"a\":[1,true,null,\"x\u00e9\\n\"],\"b\":{\"c\":-1.5e-3}}"});
}

TEST_CASE("yaml: invalid YAML is refused with its position") {
  for (const std::string_view text :
       {"a: b: c", "a: [1", "a: {", "a: ]", "a:\n\t- b", "a: 'x", "a: \"\\q\"", "a: @x", "a: `x",
        "- a\nb: c", "a: 1\n b: 2", "%FOO\na", "a: |x\n", "{a: 1} x", "*", "a: \"\\ud800\""}) {
    check_refused(text, "is no valid YAML");
  }
  for (const std::string_view bytes : {"\x01", "\x1b", "\x7f", "\xff", "\xc3(", "\xed\xa0\x80"}) {
    check_refused("a: 1\nb: x" + std::string(bytes) + "\n", "is no valid YAML");
    const Result<Documents> documents = read("a: 1\nb: x" + std::string(bytes) + "\n");
    CHECK(documents.error().message.find("at line 2, column ") != std::string::npos);
  }
  check_refused(std::string_view("a: 1\0", 5), "is no valid YAML");
  const Result<Documents> place = read("a: 1\nb: [\n  x, y: *z ]\n");
  REQUIRE_FALSE(place);
  CHECK(place.error().message.find("line 3, column 9") != std::string::npos);
}

// 28 nested levels, with or without anchors, around enough scalars for `size` bytes.
std::string nested(std::size_t size, bool has_anchors) {
  std::string text;
  for (int i = 0; i < 28; ++i) {
    text += (has_anchors ? "&anchor" + std::to_string(i) + " [" : std::string("["));
  }
  return text + test::repeated("a,", size / 2) + "b" + std::string(28, ']');
}

TEST_CASE("yaml: anchors that no alias uses cost little time and memory") {
  constexpr std::size_t kSize = 128 * 1024;
  const Limits limits{.bytes = 2 * kSize};
  const auto parse = [&limits](const std::string& text) {
    CHECK(for_each_document(text, limits, [](const json::Value&) { return Status(); }));
  };
  const std::string with = nested(kSize, true);
  const std::string without = nested(kSize, false);
  const int memory = test::mebibytes_for([&] { parse(without); });
  CHECK(test::mebibytes_for([&] { parse(with); }) < memory + memory / 4 + 4);
  CHECK(test::least_time(with, parse) < 1.5 * test::least_time(without, parse));
}

TEST_CASE("yaml: at most 100 TAG directives are accepted, and only in UTF-8") {
  const auto with = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "%TAG !a" + std::to_string(i) + "! b\n";
    return text + "--- a\n";
  };
  check_reads(with(100), {"\"a\""});
  const Result<Documents> documents = read(with(101));
  REQUIRE_FALSE(documents);
  CHECK(documents.error().kind == Error::Kind::configuration);
  CHECK(documents.error().message == "has %TAG more than 100 times");
  // In another encoding the check would not see the directives.
  check_refused(std::string_view("\xff\xfe%\0T\0A\0G\0", 10),
                "is no valid YAML (invalid leading UTF-8 octet)");
  check_reads(
      "\xef\xbb\xbf"
      "a: 1\nb: 2\n",
      {R"({"a":1,"b":2})"});
}

TEST_CASE("yaml: the time is linear in the size of the text" * doctest::description("promise 30")) {
  const auto flow = [](std::string_view item) {
    return
        [item](std::size_t size) { return "[" + test::repeated(item, size / item.size()) + "]"; };
  };
  const auto many_keys = [](std::size_t size) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) text += "k" + std::to_string(i) + ": 1\n";
    return text;
  };
  const auto many_anchors = [](std::size_t size) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) text += "- &a" + std::to_string(i) + " 1\n";
    return text;
  };
  const auto nested_anchors = [](std::size_t size) { return nested(size, true); };
  const auto parse = [](const std::string& text) {
    static_cast<void>(for_each_document(text, {.bytes = 4 * 1024 * 1024},
                                        [](const json::Value&) { return Status(); }));
  };
  constexpr std::size_t kSize = 16 * 1024;
  for (const std::string_view item : {"a,", "&x a,", "[],", "{},", "{a: b},", "'a',"}) {
    CAPTURE(item);
    test::check_linear(kSize, flow(item), parse);
  }
  for (const std::string_view line : {"---\n", "- a\n", "# a\n", "%TAG !a! b\n", "[", "? ", "- ",
                                      "!a ", "&a ", "a: |\n", "\"", "a"}) {
    CAPTURE(line);
    test::check_linear(
        kSize, [line](std::size_t size) { return test::repeated(line, size / line.size()); },
        parse);
  }
  test::check_linear(kSize, many_keys, parse);
  test::check_linear(kSize, many_anchors, parse);
  test::check_linear(kSize, nested_anchors, parse);
  // Each directive has its own handle, because a repeated handle is an error.
  test::check_linear(
      kSize,
      [](std::size_t size) {
        std::string text;
        for (std::size_t i = 0; text.size() < size; ++i) {
          text += "%TAG !a" + std::to_string(i) + "! b\n";
        }
        return text + "--- a\n";
      },
      parse);
}

}  // namespace
}  // namespace execcred::yaml
