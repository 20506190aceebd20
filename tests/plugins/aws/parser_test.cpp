// SPDX-License-Identifier: Apache-2.0
// The parsers of two formats: INI of the shared files, XML of STS.
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <aws/config_file.hpp>
#include <aws/xml.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <vector>

namespace execcred::test {
namespace {

std::string shown(const std::string& text) {
  const auto sections = aws::parse_config_file(text);
  if (!sections) return sections.error().message;
  std::string all;
  for (const aws::ConfigSection& section : *sections) {
    all += "[" + section.name + "]";
    for (const aws::ConfigSetting& setting : section.settings) {
      all += setting.name + "=<" + std::string(setting.value.reveal()) + ">";
    }
  }
  return all;
}

std::string xml(const std::string& text) {
  const auto document = aws::parse_xml(text);
  return document ? json::to_text(*document) : document.error().message;
}

}  // namespace

TEST_CASE("config file: sections, settings, comments, and nested settings") {
  CHECK(shown("") == "");
  CHECK(shown("\n# c\n ; c\n[a]\n") == "[a]");
  CHECK(shown("[ a b ]\r\nK = v\r\n") == "[a b]k=<v>");
  CHECK(shown("[a]\nk=v=w\nl: x : y\nm =\n n = 1\nempty=") ==
        "[a]k=<v=w>l=<x : y>m=<\nn = 1>empty=<>");
  CHECK(shown("[a]\ns3 =\n  one = 1\n  two = 2\nk = v") == "[a]s3=<\none = 1\ntwo = 2>k=<v>");
  CHECK(shown("[a]\nk = v\n  more\n\n  still\n") == "[a]k=<v\nmore\nstill>");
  CHECK(shown("[a]\nk=1\n[b]\nk=2") == "[a]k=<1>[b]k=<2>");
  // A file in which every line is indented.
  CHECK(shown("  [a]\n  k = 1\n  l = 2\n") == "[a]k=<1>l=<2>");
}

TEST_CASE("config file: comments behind a section's bracket, with or without white space") {
  for (const std::string comment :
       {" # x", "#x", "# [b]", " ; x", ";x", ";", "\t# x", "  #", " # ]"}) {
    CAPTURE(comment);
    CHECK(shown("[default]" + comment + "\nk = 1\n") == "[default]k=<1>");
    CHECK(shown("[ profile\tfoo\t]" + comment + "\r\nk = 1\r\n") == "[profile\tfoo]k=<1>");
  }
  CHECK(shown("[profile \"foo bar\"] # x\nk=1") == "[profile \"foo bar\"]k=<1>");
}

TEST_CASE("config file: comments behind a value begin after white space") {
  CHECK(shown("[a]\nk = v # c\nl = v ; c # d\nm = v\t# c\nn = v #\n") == "[a]k=<v>l=<v>m=<v>n=<v>");
  CHECK(shown("[a]\nk = v# c\nl = v;c\nm = a#b;c\n") == "[a]k=<v# c>l=<v;c>m=<a#b;c>");
  CHECK(shown("[a]\nk = # c\nl =# c\nm =") == "[a]k=<>l=<# c>m=<>");
  // Continuation lines and nested settings keep such text.
  CHECK(shown("[a]\nk = v # c\n  more # kept\n") == "[a]k=<v\nmore # kept>");
  CHECK(shown("[a]\ns3 = # c\n  one = 1 ; kept\n") == "[a]s3=<\none = 1 ; kept>");
  check_fails(aws::parse_config_file("[a]\nk # = v\n"), Error::Kind::configuration,
              "line 2 is no section, setting or comment");
}

TEST_CASE("config file: ambiguous, malformed and too large files are refused") {
  struct Case {
    std::string text;
    std::string line;
  };
  for (const Case& c :
       std::vector<Case>{{"k = v\n", "line 1"},
                         {"[a]\nk\n", "line 2"},
                         {"[a]\n= v\n", "line 2"},
                         {"[a]\nk=1\nK=2\n", "line 3"},
                         {"[a]\n[b]\n[a]\n", "line 3"},
                         {"[a\n", "line 1"},
                         {"[a] x\n", "line 1 has more than a comment behind the section's bracket"},
                         {"[a] x # y\n", "line 1 has more than a comment"},
                         {"[a # b\n", "line 1 does not end with the section's bracket"},
                         {"[a]]\n", "line 1"},
                         {"[[a]\n", "line 1"},
                         {"[]\n", "line 1"},
                         {"[ ]\n", "line 1"},
                         {"[DEFAULT]\n", "line 1"},
                         {std::string("[a]\nk = a\0b\n", 12), "line 2"},
                         {"[a]\nk = a\x7f\n", "line 2"},
                         {"[a]\nk = a\rb\n", "line 2"},
                         {"\xef\xbb\xbf[a]\n", "line 1 begins with a byte order mark"}}) {
    CAPTURE(c.text);
    const auto sections = aws::parse_config_file(c.text);
    check_fails(sections, Error::Kind::configuration, c.line);
  }
  CHECK_FALSE(aws::parse_config_file("[a]\n" + std::string(60'000, '\n')));
}

TEST_CASE("XML: elements contain elements or text") {
  CHECK(xml("<a/>") == R"({"a":""})");
  CHECK(xml("<a></a>") == R"({"a":""})");
  CHECK(xml("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x=\"1\" xmlns:y='2' > t\n</a >\n") ==
        R"({"a":" t\n"})");
  CHECK(xml("<a> <b>1</b>\n <c><d/></c> </a>") == R"({"a":{"b":"1","c":{"d":""}}})");
  CHECK(xml("<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x42;&#xe9;&#x20ac;&#x1f600;</a>") ==
        "{\"a\":\"&<>\\\"'AB\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}");
  CHECK(xml("<a>\xc3\xa9</a>") == "{\"a\":\"\xc3\xa9\"}");
  CHECK(xml("<ns:a>1</ns:a>") == R"({"ns:a":"1"})");
}

TEST_CASE("XML: malformed and unsupported documents are refused") {
  for (const std::string& text :
       std::vector<std::string>{"",
                                " ",
                                "a",
                                "<",
                                "<a",
                                "<a>",
                                "<a",
                                "<a></b>",
                                "<a></a",
                                "<a/><b/>",
                                "<a/>x",
                                "x<a/>",
                                "< a/>",
                                "<1/>",
                                "<a><b></a></b>",
                                "<a>x<b/></a>",
                                "<a><b/>x</a>",
                                "<a><b/><b/></a>",
                                "<a x/>",
                                "<a x=/>",
                                "<a x=1/>",
                                "<a x=\"1/>",
                                "<a x=\"1\"y/>",
                                "<a x=\"1\" x=\"2\"/>",
                                "<a x=\"<\"/>",
                                "<?xml version=\"1.0\"?><!DOCTYPE a SYSTEM \"file:///x\"><a/>",
                                "<?xml version=\"1.0\"?><?x y?><a/>",
                                "<a/><!-- x -->",
                                "<!DOCTYPE a><a/>",
                                "<?xml ?><!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
                                "<a><![CDATA[x]]></a>",
                                "<a><!-- x --></a>",
                                "<!-- x --><a/>",
                                "<a><?x y?></a>",
                                "<?xml",
                                "<a>&b;</a>",
                                "<a>&amp</a>",
                                "<a>&;</a>",
                                "<a>&#;</a>",
                                "<a>&#0;</a>",
                                "<a>&#x1;</a>",
                                "<a>&#xd800;</a>",
                                "<a>&#x110000;</a>",
                                "<a>&#99999999999;</a>",
                                "<a>&#-1;</a>",
                                "<a>&#x;</a>",
                                "<a>\x01</a>",
                                std::string("<a>\0</a>", 8),
                                "<a>\xff</a>",
                                "<a>\xc3</a>",
                                std::string(200'000, ' ') + "<a/>"}) {
    CAPTURE(text.substr(0, 60));
    check_fails(aws::parse_xml(text), Error::Kind::no_credential, "the XML");
  }
}

TEST_CASE("XML: a document type is refused before its entities are expanded") {
  std::string text = "<!DOCTYPE a [<!ENTITY e0 \"xxxxxxxxxx\">";
  for (int i = 1; i < 10; ++i) {
    const std::string former = "&e" + std::to_string(i - 1) + ";";
    text += "<!ENTITY e" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) text += former;
    text += "\">";
  }
  check_fails(aws::parse_xml(text + "]><a>&e9;</a>"), Error::Kind::no_credential,
              "the XML has a document type");
}

TEST_CASE("XML: the text is read as UTF-8, even if its declaration names another encoding") {
  CHECK(xml("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xc3\xa9</a>") ==
        "{\"a\":\"\xc3\xa9\"}");
  check_fails(aws::parse_xml("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>"),
              Error::Kind::no_credential, "the XML is not valid");
  for (const std::string& utf16 :
       {std::string("\xff\xfe<\0a\0/\0>\0", 10), std::string("<\0a\0/\0>\0", 8),
        std::string("\0<\0a\0/\0>", 8)}) {
    check_fails(aws::parse_xml(utf16), Error::Kind::no_credential, "the XML has a NUL");
  }
}

TEST_CASE("XML: depth and number of elements are bounded") {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<a>";
    for (int i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  CHECK(aws::parse_xml(nested(16)));
  check_fails(aws::parse_xml(nested(17)), Error::Kind::no_credential, "nested");
  check_fails(aws::parse_xml(nested(10'000)), Error::Kind::no_credential, "nested");
  std::string many = "<r>";
  for (int i = 0; i < 1001; ++i) many += "<e" + std::to_string(i) + "/>";
  check_fails(aws::parse_xml(many + "</r>"), Error::Kind::no_credential, "too many");
}

}  // namespace execcred::test
