// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/text.hpp>

namespace execcred {
namespace {

struct Case {
  std::string text;
  std::string wanted;
};

TEST_CASE("trim: removes ASCII white space from both ends, and nothing from the middle") {
  CHECK(trim(" \t\r\n\v\fa b\n") == "a b");
  CHECK(trim(" \n ").empty());
  CHECK(trim("").empty());
  CHECK(trim("\u00a0a") == "\u00a0a");
  CHECK(trim(std::string_view("\0a\0", 3)) == std::string_view("\0a\0", 3));
}

TEST_CASE("split and join: keep empty parts") {
  CHECK(split("", ',') == std::vector<std::string_view>{""});
  CHECK(split("a,", ',') == std::vector<std::string_view>{"a", ""});
  CHECK(split(",a,,b", ',') == std::vector<std::string_view>{"", "a", "", "b"});
  CHECK(join({}, ", ").empty());
  CHECK(join({"", "a", ""}, ", ") == ", a, ");
}

TEST_CASE("character classes and ascii_lower: only ASCII, for each of the 256 bytes") {
  for (int i = 0; i < 256; ++i) {
    CAPTURE(i);
    const char c = static_cast<char>(i);
    const bool upper = i >= 'A' && i <= 'Z';
    const bool lower = i >= 'a' && i <= 'z';
    const bool digit = i >= '0' && i <= '9';
    CHECK(is_digit(c) == digit);
    CHECK(is_alphanumeric(c) == (upper || lower || digit));
    CHECK(is_space(c) == (i == ' ' || (i >= 9 && i <= 13)));
    CHECK(ascii_lower(std::string(1, c)) == std::string(1, upper ? static_cast<char>(i + 32) : c));
    CHECK(has_control_character(std::string("a") + c) == (i < 0x20 || i == 0x7f));
  }
}

TEST_CASE("printable: shows no byte that a terminal acts on or hides") {
  const std::vector<Case> cases = {
      {"plain 'text' \u00e9\u4e2d\U0001f600", "plain 'text' \u00e9\u4e2d\U0001f600"},
      {"\x1b[31m", "\\x1b[31m"},
      {"a\r\nb\t", "a\\x0d\\x0ab\\x09"},
      {std::string("\0", 1), "\\x00"},
      {"\x7f", "\\x7f"},
      {"\u0085", "\\xc2\\x85"},
      {"\u009b31m", "\\xc2\\x9b31m"},
      {"\u200b\u200e\u200f", "\\xe2\\x80\\x8b\\xe2\\x80\\x8e\\xe2\\x80\\x8f"},
      {"\u061c", "\\xd8\\x9c"},
      {"\u202e", "\\xe2\\x80\\xae"},
      {"\u2028\u2029", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"},
      {"\u2066\u2069", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
      {"\ufeff", "\\xef\\xbb\\xbf"},
      {"\xff", "\\xff"},
      {"\x80", "\\x80"},
      {"\xc3", "\\xc3"},
      {"\xc3(", "\\xc3("},
      {"\xc0\xaf", "\\xc0\\xaf"},
      {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.wanted);
    CHECK(printable(c.text) == c.wanted);
  }
}

TEST_CASE("shown_text: a long text is cut, but not inside an escape") {
  CHECK(shown_text("abcd", 4) == "abcd");
  CHECK(shown_text("abcde", 4) == "abcd...");
  CHECK(shown_text("\x1b\x1b", 8) == "\\x1b\\x1b");
  CHECK(shown_text("\x1b\x1b", 7) == "\\x1b...");
  CHECK(shown_text("a\x1b", 4) == "a...");
  CHECK(shown_text("ab\u00e9", 3) == "ab...");
  CHECK(shown_text(std::string(1024, '\x01'), 1021).size() <= 1024);
}

TEST_CASE("in_quotes: one short printable line, cut between characters") {
  CHECK(in_quotes("a\nb") == "'a\\x0ab'");
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes(std::string(120, 'a')) == "'" + std::string(120, 'a') + "'");
  CHECK(in_quotes(std::string(121, 'a')) == "'" + std::string(120, 'a') + "...'");
  for (std::size_t lead = 116; lead < 121; ++lead) {
    CAPTURE(lead);
    const std::string quoted = in_quotes(std::string(lead, 'a') + "\U0001f600" + "tail");
    CHECK(quoted.find("\\x") == std::string::npos);
    CHECK(quoted.starts_with("'" + std::string(lead, 'a')));
  }
}

TEST_CASE("is_dns1123_label: accepts the labels that Kubernetes accepts") {
  for (const std::string& good : {std::string("a"), std::string("0"), std::string("a-b"),
                                  std::string("a--b"), std::string(63, 'a')}) {
    CAPTURE(good);
    CHECK(is_dns1123_label(good));
    CHECK(is_dns1123_subdomain(good));
  }
  for (const std::string& bad :
       {std::string(), std::string("-a"), std::string("a-"), std::string("A"), std::string("a_b"),
        std::string("a b"), std::string("a\n"), std::string("\u00e9"), std::string("a\0", 2),
        std::string("a/b"), std::string("..")}) {
    CAPTURE(bad);
    CHECK_FALSE(is_dns1123_label(bad));
    CHECK_FALSE(is_dns1123_subdomain(bad));
  }
  CHECK_FALSE(is_dns1123_label(std::string(64, 'a')));
  CHECK_FALSE(is_dns1123_label("a.b"));
}

TEST_CASE("is_dns1123_subdomain: labels with dots between them, at most 253 bytes") {
  CHECK(is_dns1123_subdomain("a.b-c.0"));
  CHECK(is_dns1123_subdomain(std::string(253, 'a')));
  for (const std::string& bad :
       {std::string("."), std::string("a."), std::string(".a"), std::string("a..b"),
        std::string("a.-b"), std::string("a-.b"), std::string("../a"), std::string(254, 'a')}) {
    CAPTURE(bad);
    CHECK_FALSE(is_dns1123_subdomain(bad));
  }
}

TEST_CASE("camel_case and environment_name: the other two spellings of a flag") {
  CHECK(camel_case("allow-server") == "allowServer");
  CHECK(camel_case("server-ca-file") == "serverCaFile");
  CHECK(camel_case("timeout") == "timeout");
  CHECK(environment_name("allow-server") == "EXECCRED_ALLOW_SERVER");
  CHECK(environment_name("timeout") == "EXECCRED_TIMEOUT");
}

}  // namespace
}  // namespace execcred
