// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/spiffe/spiffe_id.hpp>

#include <string>
#include <string_view>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::string_literals;

std::string filled(std::size_t size) { return std::string(size, 'a'); }

TEST_CASE("SpiffeId: every ID that the standard allows is accepted unchanged") {
  struct Case {
    std::string text;
    std::string trust_domain;
  };
  for (const Case& c : {
           Case{"spiffe://trustdomain", "trustdomain"},
           Case{"spiffe://trustdomain/path", "trustdomain"},
           Case{"spiffe://trustdomain/path/to/it", "trustdomain"},
           Case{"spiffe://trustdomain/.path", "trustdomain"},
           Case{"spiffe://trustdomain/..path", "trustdomain"},
           Case{"spiffe://trustdomain/...", "trustdomain"},
           Case{"spiffe://trustdomain/a./b..", "trustdomain"},
           Case{"spiffe://trustdomain/-/_/.a", "trustdomain"},
           Case{"spiffe://trustdomain/ABCXYZabcxyz0189._-", "trustdomain"},
           Case{"spiffe://a", "a"},
           Case{"spiffe://0az9._-", "0az9._-"},
           Case{"spiffe://10.0.0.1/x", "10.0.0.1"},
           Case{"spiffe://..", ".."},
           Case{"spiffe://-/x", "-"},
           Case{"spiffe://" + filled(255), filled(255)},
           Case{"spiffe://" + filled(255) + "/x", filled(255)},
           Case{"spiffe://td/" + filled(2048 - 12), "td"},
       }) {
    CAPTURE(c.text);
    const Result<SpiffeId> id = SpiffeId::parse(c.text);
    if (!id) FAIL(full_text(id.error()));
    CHECK(id->text() == c.text);
    CHECK(id->trust_domain() == c.trust_domain);
  }
}

TEST_CASE("SpiffeId: all other texts are refused, with the text and the problem") {
  struct Case {
    std::string text;
    std::string problem;
  };
  for (const Case& c : {
           Case{"", "does not begin with spiffe://"},
           Case{"s", "does not begin with spiffe://"},
           Case{"spiffe", "does not begin with spiffe://"},
           Case{"spiffe:", "does not begin with spiffe://"},
           Case{"spiffe:/", "does not begin with spiffe://"},
           Case{"spiffe:/td", "does not begin with spiffe://"},
           Case{"Spiffe://trustdomain", "does not begin with spiffe://"},
           Case{"SPIFFE://trustdomain", "does not begin with spiffe://"},
           Case{"https://trustdomain/path", "does not begin with spiffe://"},
           Case{"trustdomain/path", "does not begin with spiffe://"},
           Case{" spiffe://trustdomain", "does not begin with spiffe://"},
           Case{"spiffe://", "has no trust domain"},
           Case{"spiffe:///", "has no trust domain"},
           Case{"spiffe:///path", "has no trust domain"},
           Case{"spiffe://td/", "a slash at the end"},
           Case{"spiffe://td//", "has an empty path segment"},
           Case{"spiffe://td//path", "has an empty path segment"},
           Case{"spiffe://td/path/", "a slash at the end"},
           Case{"spiffe://td/path//other", "has an empty path segment"},
           Case{"spiffe://td/.", "that is '.' or '..'"},
           Case{"spiffe://td/./path", "that is '.' or '..'"},
           Case{"spiffe://td/path/./other", "that is '.' or '..'"},
           Case{"spiffe://td/path/.", "that is '.' or '..'"},
           Case{"spiffe://td/path/..", "that is '.' or '..'"},
           Case{"spiffe://td/..", "that is '.' or '..'"},
           Case{"spiffe://td/../path", "that is '.' or '..'"},
           Case{"spiffe://td/a%62", "has a path with other characters"},
           Case{"spiffe://td/%2e", "has a path with other characters"},
           Case{"spiffe://td/a b", "has a path with other characters"},
           Case{"spiffe://td/a~b", "has a path with other characters"},
           Case{"spiffe://td/a:b", "has a path with other characters"},
           Case{"spiffe://td/a@b", "has a path with other characters"},
           Case{"spiffe://td/a,b", "has a path with other characters"},
           Case{"spiffe://td/[a", "has a path with other characters"},
           Case{"spiffe://td/`a", "has a path with other characters"},
           Case{"spiffe://td/{a", "has a path with other characters"},
           Case{"spiffe://td/path?query", "has a path with other characters"},
           Case{"spiffe://td/path#fragment", "has a path with other characters"},
           Case{"spiffe://td/p\u00e4th", "has a path with other characters"},
           Case{"spiffe://td/path\n", "has a path with other characters"},
           Case{"spiffe://td/path\0"s, "has a path with other characters"},
           Case{"spiffe://td\\path", "has a trust domain with other characters"},
           Case{"spiffe://Td/path", "has a trust domain with other characters"},
           Case{"spiffe://tdZ", "has a trust domain with other characters"},
           Case{"spiffe://t%64/path", "has a trust domain with other characters"},
           Case{"spiffe://td?query", "has a trust domain with other characters"},
           Case{"spiffe://td#fragment", "has a trust domain with other characters"},
           Case{"spiffe://td:8080/path", "has a trust domain with other characters"},
           Case{"spiffe://user@td/path", "has a trust domain with other characters"},
           Case{"spiffe://[::1]/path", "has a trust domain with other characters"},
           Case{"spiffe://t\u00e4", "has a trust domain with other characters"},
           Case{"spiffe://td ", "has a trust domain with other characters"},
           Case{"spiffe://td\0/path"s, "has a trust domain with other characters"},
           Case{"spiffe://" + filled(256), "has a trust domain of more than 255 bytes"},
           Case{"spiffe://td/" + filled(2048 - 11), "has more than 2048 bytes"},
       }) {
    CAPTURE(c.text);
    const Result<SpiffeId> id = SpiffeId::parse(c.text);
    check_fails(id, Error::Kind::configuration, c.problem);
    if (c.text == "spiffe://Td/path") {
      CHECK(contains(id.error().message, "the SPIFFE ID 'spiffe://Td/path' has"));
    }
    CHECK_FALSE(contains(id.error().message, "\n"));
  }
}

TEST_CASE("SpiffeId: two IDs are equal if their texts are equal") {
  const Result<SpiffeId> one = SpiffeId::parse("spiffe://td/a");
  CHECK(*one == *SpiffeId::parse("spiffe://td/a"));
  CHECK_FALSE(*one == *SpiffeId::parse("spiffe://td/A"));
  CHECK_FALSE(*one == *SpiffeId::parse("spiffe://td"));
}

TEST_CASE("parse_trust_domain: a name, or its ID") {
  for (const std::string& text :
       {"example.org"s, "spiffe://example.org"s, "0-a_b.c"s, filled(255)}) {
    CAPTURE(text);
    const Result<std::string> name = parse_trust_domain(text);
    REQUIRE(name);
    CHECK(*name == (text.starts_with("spiffe://") ? "example.org" : text));
  }
  for (const std::string& text :
       {""s, "spiffe://"s, "Example.org"s, "example.org/path"s, "spiffe://example.org/path"s,
        "spiffe://example.org/"s, "https://example.org"s, "spiffe://spiffe://a"s, "a b"s, "a\0"s,
        "example.org:443"s, "user@example.org"s, "\u00e9"s, filled(256),
        "spiffe://" + filled(256)}) {
    CAPTURE(text);
    check_fails(parse_trust_domain(text), Error::Kind::configuration, "trust domain");
  }
}

}  // namespace
}  // namespace execcred
