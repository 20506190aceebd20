// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/yaml/yaml.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <string>

namespace execcred {
namespace {

json::Value read_back(const std::string& text) {
  json::Value value;
  const Status status = yaml::for_each_document(text, {.bytes = 1024 * 1024},
                                                [&value](json::Value document) -> Status {
                                                  value = std::move(document);
                                                  return {};
                                                });
  CHECK(status);
  return value;
}

TEST_CASE("yaml::to_text: any character is read back unchanged, in a text and in a key") {
  for (const std::string_view character :
       {"\x01",       "\x1b",   "\x7f",   "\u0080", "\u0085",  "\u009b", "\u009f",
        "\u00a0",     "\u2028", "\u2029", "\ufeff", "\ufffe",  "\uffff", "\U0001f600",
        "\U0010ffff", "\t",     "\n",     "\"",     "\\",      "'",      "#",
        "%",          "<<",     "=",      "~",      "\xc3\xa9"}) {
    CAPTURE(character);
    const std::string text = "x" + std::string(character) + "y";
    for (const std::string& name : {std::string(character), text}) {
      json::Value value((json::Object()));
      value.add(name, json::Value(json::Array{json::Value(name)}));
      CHECK(read_back(yaml::to_text(value)) == value);
    }
  }
}

TEST_CASE("yaml::to_text: lines of visible ASCII are a literal block, and others are quoted") {
  const auto text_of = [](const std::string& text) {
    json::Value value((json::Object()));
    value.add("a", json::Value(text));
    value.add("b", json::Value(json::Array{json::Value(text)}));
    json::Value outer((json::Object()));
    outer.add("o", value);
    outer.add("z", json::Value(true));
    std::string written = yaml::to_text(outer);
    CHECK(read_back(written) == outer);
    return written;
  };
  CHECK(text_of("x: 1\n- y\n") ==
        "o:\n  a: |\n    x: 1\n    - y\n  b:\n  - |\n    x: 1\n    - y\nz: true\n");
  for (const std::string_view literal :
       {"a\n", "a\n\nb\n", "a\n  b\n   \nc \n", "---\n", "# c\n", "'\"\n", "a\n \n"}) {
    CAPTURE(literal);
    CHECK(text_of(std::string(literal)).find("a: |\n") != std::string::npos);
  }
  for (const std::string_view quoted : {"a", "\n", "a\nb", "a\n\n", " a\n", "\na\n", "a\tb\n",
                                        "a\r\n", "a\u2028b: c\n", "a\u0085b: c\n", "\xc3\xa9\n"}) {
    CAPTURE(quoted);
    CHECK(text_of(std::string(quoted)).find('|') == std::string::npos);
  }
}

TEST_CASE("yaml::to_text: a key longer than the look-ahead of parsers is read back unchanged") {
  for (const std::size_t size : {990U, 1000U, 1001U, 1023U, 1024U, 1025U, 5000U}) {
    CAPTURE(size);
    for (const char c : {'a', ' ', '\x01'}) {
      json::Value inner((json::Object()));
      inner.add(std::string(size, c), json::Value(json::Array{json::Value("item")}));
      inner.add("next", inner);
      json::Value value((json::Object()));
      value.add(std::string(size, c), inner);
      value.add("last", json::Value(json::Array{inner, json::Value(true)}));
      CHECK(read_back(yaml::to_text(value)) == value);
    }
  }
}

}  // namespace
}  // namespace execcred
