// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>

namespace execcred::json {
namespace {

void check_refused(std::string_view text, std::string_view part, const Limits& limits = {}) {
  CAPTURE(text);
  test::check_fails(parse(text, limits), Error::Kind::configuration, part);
}

void check_unchanged(std::string_view text) {
  CAPTURE(text);
  const Result<Value> value = parse(text);
  REQUIRE(value);
  CHECK(to_text(*value) == text);
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("json: parsing and writing keep the order and the types of values") {
  for (const std::string_view text :
       {"null", "true", "false", "\"\"", "{}", "[]", R"({"z":1,"a":[],"m":{"b":null,"a":false}})",
        R"([1,"1",true,null,{},[[]]])", R"("\"\\/")", R"({"":{"":""}})"}) {
    check_unchanged(text);
  }
}

TEST_CASE("json: numbers keep their digits") {
  for (const std::string_view text :
       {"0",
        "-0",
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890123456789012345678901234567890",
        "0.1",
        "1.0",
        "-0.0",
        "1.10",
        "1e3",
        "1E3",
        "1e+3",
        "1e-3",
        "1.50e-07",
        "3.141592653589793238462643383279502884197"}) {
    check_unchanged(text);
    check_unchanged("{\"a\":[" + std::string(text) + "]}");
  }
}

TEST_CASE("json: refuses texts that RFC 8259 does not allow") {
  for (const std::string_view text : {
           "nul",       "True",
           "NaN",       "Infinity",
           "-Infinity", "01",
           "-01",       "+1",
           ".5",        "5.",
           "1e",        "1e+",
           "0x1",       "1_0",
           "-",         "--1",
           "'a'",       "a",
           "{a:1}",     "{'a':1}",
           "{\"a\"}",   "{\"a\":}",
           "{:1}",      "{\"a\":1,}",
           "[1,]",      "[,1]",
           "[1 2]",     "{\"a\":1 \"b\":2}",
           "{\"a\":1",  "[1",
           "[",         "{",
           "]",         "}",
           "[}",        "{]",
           "\"",        "\"a",
           "\"\\\"",    "\"\\x41\"",
           "\"\\u12\"", "\"\\u12g4\"",
           "{} {}",     "{}{}",
           "1 2",       "{}x",
           "// c\n{}",  "{}/* c */",
           "# c\n{}",   "{\"a\":1}\n---\n",
           "\xa0{}",    "\f{}",
           "\v{}",      "{1:2}",
           "{null:1}",  "undefined",
       }) {
    check_refused(text, "is no valid JSON at line ");
  }
}

TEST_CASE("json: refuses control characters in strings, and bytes that are not UTF-8" *
          doctest::description("promise 20")) {
  int accepted = 0;
  for (int i = 0; i < 0x20; ++i) {
    CAPTURE(i);
    const std::string text = std::string("\"a") + static_cast<char>(i) + "b\"";
    check_refused(text, "is no valid JSON at line ");
    accepted += parse(text) ? 1 : 0;
  }
  MESSAGE("control characters accepted in a string of JSON: " << accepted << " of 32");
  CHECK(accepted == 0);
  for (const std::string_view bytes :
       {"\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xff", "\xf0\x9f\x98", "\\ud800", "\\udc00", "\\udc00\\ud800", "\\ud800\\ud800",
        "\\ud800x"}) {
    check_refused("\"" + std::string(bytes) + "\"", "is no valid JSON at line ");
    check_refused("{\"" + std::string(bytes) + "\":1}", "is no valid JSON at line ");
  }
}

TEST_CASE("json: raw NUL bytes, and byte order marks outside strings, are refused") {
  check_refused(std::string_view("{}\0", 3), "is no valid JSON at line ");
  check_refused(std::string_view("{}\0{\"a\":1}", 10), "is no valid JSON at line ");
  check_refused(std::string_view("{\0}", 3), "is no valid JSON at line ");
  check_refused(std::string_view("\0{}", 3), "is no valid JSON at line ");
  check_refused(std::string_view("\"a\0\"", 4), "is no valid JSON at line ");
  check_refused(std::string_view("[1\0,2]", 6), "is no valid JSON at line ");
  check_refused("\ufeff{}", "starts with a byte order mark");
  check_refused("{}\ufeff", "is no valid JSON at line ");
  check_refused("\ufeff", "starts with a byte order mark");
  CHECK(parse("\"\ufeff\\u0000\"")->string()->size() == 4);
}

TEST_CASE("json: white space around one document is allowed, an empty text is refused") {
  CHECK(parse(" \t\r\n{ \"a\" : [ 1 , 2 ] }\n ")->find("a")->array()->size() == 2);
  for (const std::string_view text : {"", " ", "\n\t\r "}) {
    check_refused(text, "is empty");
  }
}

TEST_CASE("json: every text above the size limit is refused") {
  const Limits limits{.bytes = 1024};
  CHECK(parse("\"" + std::string(1022, 'a') + "\"", limits));
  check_refused("\"" + std::string(1023, 'a') + "\"", "is larger than 1 KiB", limits);
  check_refused(std::string(1025, ' '), "is larger than 1 KiB", limits);
  CHECK(parse("\"" + std::string(128 * 1024 - 2, 'a') + "\""));
  check_refused("\"" + std::string(128 * 1024 - 1, 'a') + "\"", "is larger than 128 KiB");
}

TEST_CASE("json: arrays and objects that are nested above the depth limit are refused") {
  CHECK(parse(nested(32)));
  check_refused(nested(33), "is nested deeper than 32 levels");
  std::string objects = "1";
  for (int i = 0; i < 32; ++i) objects = "{\"a\":" + objects + "}";
  CHECK(parse(objects));
  check_refused("[" + objects + "]", "is nested deeper than 32 levels");
  check_refused("{\"a\":" + objects + "}", "is nested deeper than 32 levels");
  CHECK(parse("[" + nested(31) + "," + nested(31) + "]"));
  CHECK(parse("1", {.depth = 0}));
  check_refused("[]", "is nested deeper than 0 levels", {.depth = 0});
  // The parser does not recurse for levels above the limit.
  check_refused(std::string(65'000, '['), "is nested deeper than 32 levels");
}

TEST_CASE("json: duplicate keys are refused at every level, also with other keys between them" *
          doctest::description("promise 20")) {
  for (const std::string_view text : {
           R"({"a":1,"a":1})",
           R"({"a":1,"b":2,"a":3})",
           R"({"x":{"a":1,"a":2}})",
           R"([[{"a":1,"a":2}]])",
           R"({"a":1,"\u0061":2})",
           R"({"":1,"":2})",
           R"({"a":null,"a":null})",
       }) {
    check_refused(text, "more than once in the object that ends at line 1");
  }
  CHECK(parse(R"({"a":{"a":1},"b":{"a":1},"A":1})"));
}

TEST_CASE("json: a duplicate key of a document with a secret is not quoted") {
  constexpr std::string_view kText = R"({"s3cret":1,"s3cret":2})";
  check_refused(kText, "has the key 's3cret' more than once in the object that ends at line 1");
  const Result<SecretValue> value = parse_secret(kText);
  REQUIRE_FALSE(value);
  CHECK(value.error().message ==
        "has a key more than once in the object that ends at line 1, column 23");
}

TEST_CASE("json: with ignore_case, keys that Go stores in one field are duplicates") {
  const Limits limits{.keys = Keys::ignore_case};
  for (const std::string_view text :
       {R"({"command":1,"Command":2})", R"({"ARGS":1,"args":2})", R"({"x":[{"a":1,"A":2}]})",
        "{\"args\":1,\"arg\u017f\":2}", "{\"k\":1,\"\u212a\":2}", R"({"k":1,"\u212A":2})",
        "{\"ss\":1,\"\u017fS\":2}", R"({"a":1,"a":2})"}) {
    check_refused(text, "more than once in the object that ends at line 1", limits);
    if (std::string_view(text) != R"({"a":1,"a":2})") CHECK(parse(text));
  }
  CHECK(parse("{\"a\":1,\"\u00e9\":2,\"\u00c9\":3,\"i\":4,\"\u0131\":5,\"\u0130\":6}", limits));
}

TEST_CASE("fold_key: folds ASCII letters, and the two letters that Unicode folds to ASCII") {
  CHECK(fold_key("profileSourcedCLIArgsPolicy") == "profilesourcedcliargspolicy");
  CHECK(fold_key("a\u017fb\u212ac") == "asbkc");
  CHECK(fold_key("\u0130\u00c9") == "\u0130\u00c9");
  CHECK(fold_key("\xc5") == "\xc5");
  CHECK(fold_key("\xe2\x84") == "\xe2\x84");
}

TEST_CASE("json: an error shows the position, and never the text") {
  struct Place {
    std::string_view text;
    std::string_view place;
  };
  for (const Place& c :
       {Place{R"({"canary":x})", "line 1, column 11"},
        Place{"{\n  \"canary\": x\n}", "line 2, column 13"}, Place{"canary", "line 1, column 1"},
        Place{"{\"a\":\"canary\"}\n\n  x", "line 3, column 3"}}) {
    CAPTURE(c.text);
    const Result<Value> value = parse(c.text);
    REQUIRE_FALSE(value);
    CHECK(value.error().message.find(c.place) != std::string::npos);
    CHECK(value.error().message.find("canary") == std::string::npos);
  }
  const Result<Value> nul = parse(std::string_view("{}\n \0", 5));
  CHECK(nul.error().message.find("line 2, column 2") != std::string::npos);
}

TEST_CASE("json: a number beyond the range of a double keeps its digits") {
  for (const std::string_view text : {"1e999", "-1e999", "[1e400]"}) {
    CAPTURE(text);
    const Result<Value> value = parse(text);
    REQUIRE(value);
    CHECK(to_text(*value) == text);
  }
}

TEST_CASE("Value: kinds, members, and building") {
  const Result<Value> value = parse(R"({"n":null,"b":true,"i":1,"s":"x","a":[1],"o":{}})");
  REQUIRE(value);
  CHECK(value->kind() == "an object");
  CHECK(value->find("n")->kind() == "null");
  CHECK(value->find("b")->kind() == "a boolean");
  CHECK(value->find("i")->kind() == "a number");
  CHECK(value->find("s")->kind() == "a string");
  CHECK(value->find("a")->kind() == "an array");
  CHECK(value->find("x") == nullptr);
  CHECK(value->find("s")->find("x") == nullptr);
  CHECK(value->find("i")->number()->text == "1");
  CHECK(value->find("i")->string() == nullptr);

  Value built;
  built.add("b", Value("x"));
  built.add("n", Value()).add("d", Value(true));
  built.add("c", Value(Number{"1"}));
  CHECK(to_text(built) == R"({"b":"x","n":{"d":true},"c":1})");
}

TEST_CASE("write: with Escape::html, writes byte for byte what Go's json.Marshal writes") {
  Value value(std::string("\u2028\u2029<>&\x7f\b\f\n\r\t\v\0\x1f\"\\/\u00e9\u0080", 25));
  CHECK(to_text(value, Escape::html) ==
        "\"\\u2028\\u2029\\u003c\\u003e\\u0026\x7f\\b\\f\\n\\r\\t\\u000b\\u0000\\u001f\\\"\\\\/"
        "\u00e9\u0080\"");
  const Result<Value> object = parse(R"({"a&b":["<x>"]})");
  CHECK(to_text(*object, Escape::html) == R"({"a\u0026b":["\u003cx\u003e"]})");
  CHECK(to_text(*object) == R"({"a&b":["<x>"]})");
}

TEST_CASE("write: every control character is escaped, and is read back unchanged" *
          doctest::description("promise 20")) {
  for (int i = 0; i < 0x80; ++i) {
    CAPTURE(i);
    const std::string text = std::string("a") + static_cast<char>(i) + "b";
    for (const Escape escape : {Escape::minimal, Escape::html}) {
      const std::string written = to_text(Value(text), escape);
      for (const char c : written) REQUIRE(static_cast<unsigned char>(c) >= 0x20);
      const Result<Value> read = parse(written);
      REQUIRE(read);
      CHECK(*read->string() == text);
    }
  }
}

TEST_CASE("to_indented_text: two spaces per level, short empty values, and a final newline") {
  const Result<Value> value = parse(R"({"a":[1,{"b":[]}],"c":{},"d":"x"})");
  CHECK(to_indented_text(*value) ==
        "{\n"
        "  \"a\": [\n"
        "    1,\n"
        "    {\n"
        "      \"b\": []\n"
        "    }\n"
        "  ],\n"
        "  \"c\": {},\n"
        "  \"d\": \"x\"\n"
        "}\n");
  CHECK(to_indented_text(Value()) == "null\n");
}

TEST_CASE("to_indented_text: what YAML's readers refuse or take for a line break is escaped") {
  CHECK(to_indented_text(
            Value(std::string("a\x7f\u0080\u0085\u009f\u2028\u2029\ufeff\ufffe\uffff"))) ==
        R"("a\u007f\u0080\u0085\u009f\u2028\u2029\ufeff\ufffe\uffff")"
        "\n");
  const std::string plain = "\u00a0\u00e4\u2027\u202a\ufefe\uff00\ufffd\U0001fffe";
  CHECK(to_indented_text(Value(Object{{plain, Value(plain)}})) ==
        "{\n  \"" + plain + "\": \"" + plain + "\"\n}\n");
}

}  // namespace
}  // namespace execcred::json
