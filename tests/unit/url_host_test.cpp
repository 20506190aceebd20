// SPDX-License-Identifier: Apache-2.0
// The host of a URL: which names and addresses are valid, and which are equal.
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/url.hpp>

namespace execcred {
namespace {

void check_refused(std::string_view text, std::string_view part) {
  CAPTURE(text);
  test::check_fails(parse_url(text), Error::Kind::configuration, part);
}

TEST_CASE("parse_url: a host name may contain only letters, digits, '-', '_' and '.'") {
  for (int i = 0; i < 256; ++i) {
    CAPTURE(i);
    const char c = static_cast<char>(i);
    const bool is_name = (i >= '0' && i <= '9') || (i >= 'A' && i <= 'Z') ||
                         (i >= 'a' && i <= 'z') || i == '-' || i == '_' || i == '.';
    const Result<Host> host = parse_host(std::string("x") + c + "y");
    CHECK(host.has_value() == is_name);
    // '/' and '?' end the host there, and ':' begins a port.
    const Result<Url> url = parse_url(std::string("https://x") + c + "y");
    const bool is_whole = url.has_value() && url->host.name.size() == 3;
    CHECK(is_whole == is_name);
    CHECK((is_whole || !url.has_value() || i == '/' || i == '?'));
  }
}

TEST_CASE("parse_url: refuses names that resolvers read differently") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a host name with an empty label",
            {"https://good.example..", "https://.good.example", "https://good..example",
             "https://.", "https://.."}},
           {"has a host that is no DNS name",
            {"https://-a.example", "https://a-.example", "https://*.example.com"}},
           {"has a character outside ASCII; write the host in its xn-- form",
            {"https://b\u00fccher.example",
             "https://g\u043e\u043ed.example",  // Cyrillic letters
             "https://good\u3002example",       // an ideographic full stop
             "https://good\uff0eexample",       // a full-width full stop
             "https://\uff11\uff10.0.0.1",      // full-width digits
             "https://\u2460.0.0.1", "https://good.example\u2044path",
             "https://good.example\uff0fpath", "https://good.example\u200b",
             "https://\xff.example"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
  check_refused("https://" + std::string(64, 'a') + ".example",
                "has a host name with a label of more than 63 bytes");
  CHECK(parse_url("https://" + std::string(63, 'a') + ".example"));
  std::string long_name = "a";
  while (long_name.size() < 253) long_name += ".a";
  CHECK(long_name.size() == 253);
  CHECK(parse_url("https://" + long_name));
  check_refused("https://b." + long_name, "has a host name of more than 253 bytes");
}

TEST_CASE("parse_url: a numeric host must be a dotted quad") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a numeric host that is no dotted quad",
            {"https://127.1",       "https://127.0.1",        "https://2130706433",
             "https://0x7f000001",  "https://0x7f.0.0.1",     "https://0X7F.1",
             "https://0177.0.0.1",  "https://010.0.0.1",      "https://10.0.0.01",
             "https://127.0.0.0x1", "https://127.0.0.0x",     "https://0x",
             "https://10.0.0.1.",   "https://10.0.0.256",     "https://10.0.0",
             "https://10.0.0.1.1",  "https://1.2.3.4.5",      "https://a.1",
             "https://a.0x1f",      "https://00000010.0.0.1", "https://4294967296",
             "https://0",           "https://0.0.0.0.",       "https://017700000001"}},
           {"has a host that is no DNS name", {"https://10.0.0.-1", "https://10.0.0.1%20"}},
           {"has a host name with an empty label", {"https://10..0.0.1"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
  const Result<Url> url = parse_url("https://10.0.0.1");
  REQUIRE(url);
  CHECK(url->host.kind == Host::Kind::address);
  CHECK_FALSE(url->host.address.v6);
  CHECK(parse_url("https://0x7g")->host.kind == Host::Kind::name);
}

TEST_CASE("parse_url: a host with a trailing dot or an IPv6 zone differs from one without") {
  const Result<Url> rooted = parse_url("https://good.example.");
  const Result<Url> zoned = parse_url("https://[fe80::1%25eth0]:6443");
  REQUIRE(rooted);
  REQUIRE(zoned);
  CHECK_FALSE(rooted->host == parse_url("https://good.example")->host);
  CHECK_FALSE(zoned->host == parse_url("https://[fe80::1]:6443")->host);
  CHECK(zoned->host.kind == Host::Kind::name);
  CHECK(zoned->port == 6443);
}

TEST_CASE("parse_url: an IPv6 address must be in brackets") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a malformed IPv6 zone",
            {"https://[fe80::1%25]", "https://[fe80::1%2fx]", "https://[good.example%25eth0]",
             "https://[fe80::1%eth0]", "https://[::1%25]"}},
           {"has a '[' without a ']'",
            {"https://[::1", "https://[", "https://[::1]443", "https://[::1]x",
             "https://[::1].evil.example", "https://[::1]:443:443"}},
           {"has a host that is no DNS name",
            {"https://::1]", "https://::1", "https://fd00::1:6443", "https://x[::1]"}},
           {"has brackets around what is no IPv6 address",
            {"https://[]", "https://[]:443", "https://[10.0.0.1]", "https://[a]",
             "https://[good.example]", "https://[[::1]]", "https://[::1]]", "https://[1::2::3]",
             "https://[12345::]", "https://[:::]", "https://[::ffff:10.0.0.256]"}},
           {"has a ':' without a port", {"https://[::1]:"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
}

TEST_CASE("Host: names are compared by text, addresses by value") {
  struct Pair {
    std::string_view a;
    std::string_view b;
    bool equal;
  };
  for (const Pair& pair :
       {Pair{"api.example.com", "API.EXAMPLE.COM", true}, Pair{"[::1]", "[0:0:0:0:0:0:0:1]", true},
        Pair{"[::1]", "[0::0001]", true}, Pair{"[FD00::A]", "[fd00:0::a]", true},
        Pair{"[::ffff:10.0.0.1]", "[::ffff:a00:1]", true},
        Pair{"[::ffff:10.0.0.1]", "10.0.0.1", false}, Pair{"[::10.0.0.1]", "10.0.0.1", false},
        Pair{"[a00:1::]", "10.0.0.1", false}, Pair{"10.0.0.1", "10.0.0.2", false},
        Pair{"a", "b", false}, Pair{"a", "a.b", false}}) {
    CAPTURE(pair.a);
    CAPTURE(pair.b);
    const Result<Host> a = parse_host(pair.a);
    const Result<Host> b = parse_host(pair.b);
    REQUIRE(a);
    REQUIRE(b);
    CHECK((*a == *b) == pair.equal);
  }
}

TEST_CASE("parse_ip_address: accepts dotted quads and IPv6, without anything around them") {
  IpAddress address;
  REQUIRE(parse_ip_address("192.0.2.255", address));
  CHECK_FALSE(address.v6);
  CHECK(address.bytes == std::array<std::uint8_t, 16>{192, 0, 2, 255});
  REQUIRE(parse_ip_address("2001:db8::ff", address));
  CHECK(address.v6);
  CHECK(address.bytes ==
        std::array<std::uint8_t, 16>{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255});
  REQUIRE(parse_ip_address("::ffff:192.0.2.1", address));
  CHECK(address.v6);
  for (const std::string_view text :
       {std::string_view(""), std::string_view("10.0.0"), std::string_view("010.0.0.1"),
        std::string_view("0x0a.0.0.1"), std::string_view(" 10.0.0.1"),
        std::string_view("10.0.0.1 "), std::string_view("10.0.0.1/8"), std::string_view("[::1]"),
        std::string_view("::1%eth0"), std::string_view("fe80::1%1"), std::string_view("::1/128"),
        std::string_view("localhost"), std::string_view("10.0.0.1\0", 9),
        std::string_view("10.0.0.1\0.evil", 14), std::string_view("::1\0", 4)}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ip_address(text, address));
  }
}

TEST_CASE("parse_ip_network: contains the addresses of its family with the same first bits") {
  struct Case {
    std::string_view network, inside, outside;
  };
  for (const Case& c :
       {Case{"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
        Case{"10.1.2.3/8", "10.0.0.0", "9.255.255.255"},
        Case{"192.0.2.128/25", "192.0.2.129", "192.0.2.127"},
        Case{"192.0.2.7/32", "192.0.2.7", "192.0.2.6"}, Case{"0.0.0.0/0", "255.255.255.255", "::"},
        Case{"2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"}, Case{"::1/128", "::1", "::"},
        Case{"::/0", "ffff::", "0.0.0.0"}}) {
    CAPTURE(c.network);
    const std::optional<IpNetwork> network = parse_ip_network(c.network);
    REQUIRE(network);
    IpAddress address;
    REQUIRE(parse_ip_address(c.inside, address));
    CHECK(network->contains(address));
    REQUIRE(parse_ip_address(c.outside, address));
    CHECK_FALSE(network->contains(address));
  }
  for (const std::string_view text :
       {"", "/", "10.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/-1",
        "10.0.0.0/+8", "10.0.0.0/8 ", "10.0.0.0/8/8", "10/8", "[::]/8", "a/8", "10.0.0.0/0x8"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ip_network(text));
  }
}

}  // namespace
}  // namespace execcred
