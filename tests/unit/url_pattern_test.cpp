// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/url_pattern.hpp>

#include <vector>

namespace execcred {
namespace {

using Use = UrlPattern::Use;

struct Case {
  std::string_view pattern;
  std::vector<std::string_view> matching;
  std::vector<std::string_view> others;
};

void check_matches(const std::vector<Case>& cases, Use use) {
  for (const Case& c : cases) {
    CAPTURE(c.pattern);
    const Result<UrlPattern> pattern = UrlPattern::parse(c.pattern, use);
    REQUIRE(pattern);
    CHECK(pattern->text() == c.pattern);
    for (const bool wanted : {true, false}) {
      for (const std::string_view text : wanted ? c.matching : c.others) {
        CAPTURE(text);
        const Result<Url> url = parse_url(text);
        REQUIRE(url);
        CHECK(pattern->matches(*url) == wanted);
      }
    }
  }
}

TEST_CASE("UrlPattern: an exact host matches only that host") {
  check_matches(
      {{"https://api.example.com",
        {"https://api.example.com", "https://API.EXAMPLE.com/", "https://api.example.com:443"},
        {"https://api.example.com.evil.example", "https://evil-api.example.com",
         "https://x.api.example.com", "https://example.com", "https://api.example.co",
         "https://apiXexample.com", "https://api.example.com:444", "http://api.example.com:443",
         "https://api.example.com/x", "https://api.example.com?x", "https://10.0.0.1"}},
       {"HTTPS://API.Example.Com:6443",
        {"https://api.example.com:6443"},
        {"https://api.example.com", "https://api.example.com:64430"}}},
      Use::server);
}

TEST_CASE("UrlPattern: *. stands for one or more whole labels") {
  check_matches({{"https://*.example.com",
                  {"https://a.example.com", "https://a.b.example.com", "https://A.EXAMPLE.COM",
                   "https://example.com.example.com"},
                  {"https://example.com", "https://evilexample.com", "https://a.example.com.evil",
                   "https://example.com.evil.example", "https://a-example.com",
                   "https://a.example.comx", "https://a.example.com:6443", "https://10.0.0.1"}},
                 {"https://*.com", {"https://a.com", "https://a.b.com"}, {"https://com"}}},
                Use::server);
}

TEST_CASE("UrlPattern: an address is compared by value, never as a name") {
  check_matches({{"https://10.0.0.1",
                  {"https://10.0.0.1"},
                  {"https://10.0.0.10", "https://10.0.0.2", "https://[::ffff:10.0.0.1]",
                   "https://10.0.0.1.example.com", "https://10-0-0-1.example.com"}},
                 {"https://[fd00::1]:6443",
                  {"https://[fd00::1]:6443", "https://[FD00:0:0::0001]:6443"},
                  {"https://[fd00::1]", "https://[fd00::2]:6443", "https://10.0.0.1:6443"}}},
                Use::server);
}

TEST_CASE("UrlPattern: a network matches its first and last address and not their neighbours") {
  check_matches(
      {{"https://[10.0.0.0/8]",
        {"https://10.0.0.0", "https://10.255.255.255", "https://10.1.2.3"},
        {"https://9.255.255.255", "https://11.0.0.0", "https://10.example.com",
         "https://[::ffff:10.0.0.1]", "https://[a00::1]", "https://10.0.0.1:6443"}},
       {"https://[10.1.2.3/8]", {"https://10.9.9.9"}, {"https://11.1.2.3"}},
       {"https://[192.168.4.0/22]:*",
        {"https://192.168.4.0", "https://192.168.7.255:6443"},
        {"https://192.168.3.255", "https://192.168.8.0"}},
       {"https://[10.0.0.128/25]",
        {"https://10.0.0.128", "https://10.0.0.255"},
        {"https://10.0.0.127", "https://10.0.1.128"}},
       {"https://[10.0.0.1/32]", {"https://10.0.0.1"}, {"https://10.0.0.0", "https://10.0.0.2"}},
       {"https://[0.0.0.0/0]",
        {"https://0.0.0.0", "https://255.255.255.255"},
        {"https://[::1]", "https://a.example"}},
       {"https://[fd00::/8]:6443",
        {"https://[fd00::]:6443", "https://[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:6443"},
        {"https://[fc00::1]:6443", "https://[fe00::1]:6443", "https://253.0.0.1:6443"}},
       {"https://[2001:db8::8/125]",
        {"https://[2001:db8::8]", "https://[2001:db8::f]"},
        {"https://[2001:db8::7]", "https://[2001:db8::10]"}},
       {"https://[::1/128]", {"https://[::1]"}, {"https://[::]", "https://[::2]"}},
       {"https://[::/0]", {"https://[::]", "https://[ff::1]"}, {"https://10.0.0.1"}}},
      Use::server);
}

TEST_CASE("UrlPattern: the port is the default, that number, or any with :*") {
  check_matches(
      {{"https://a:*", {"https://a", "https://a:1", "https://a:65535"}, {"https://b:1"}},
       {"https://a:443", {"https://a"}, {"https://a:4430"}},
       {"https://[::1]:*", {"https://[::1]:9"}, {"https://[::2]:9"}},
       {"https://*.a.b:*/c", {"https://x.a.b:9/c"}, {"https://x.a.b:9", "https://a.b:9/c"}}},
      Use::server);
}

TEST_CASE("UrlPattern: the path is absent, exact, or a prefix of whole segments") {
  check_matches({{"https://a", {"https://a", "https://a/"}, {"https://a/b", "https://a//"}},
                 {"https://a/", {"https://a", "https://a/"}, {"https://a/b"}},
                 {"https://a/b",
                  {"https://a/b"},
                  {"https://a", "https://a/b/", "https://a/bc", "https://a/B"}},
                 {"https://a/b/*",
                  {"https://a/b/", "https://a/b/c", "https://a/b/c/d"},
                  {"https://a", "https://a/bc", "https://a/c/b/d", "https://a//b/c",
                   "https://a/B/c", "https://a/b/c?d"}},
                 {"https://a/*",
                  {"https://a", "https://a/", "https://a/b/c"},
                  {"https://a/b?c", "https://b/"}},
                 {"https://10.0.0.1/k8s/*", {"https://10.0.0.1/k8s/c"}, {"https://10.0.0.1"}},
                 {"https://[10.0.0.0/8]/c-1", {"https://10.2.3.4/c-1"}, {"https://10.2.3.4"}}},
                Use::server);
}

TEST_CASE("UrlPattern: a proxy's scheme must be equal, and gives the default port") {
  check_matches(
      {{"http://proxy.example",
        {"http://proxy.example", "http://proxy.example:80"},
        {"https://proxy.example", "http://proxy.example:443", "socks5://proxy.example"}},
       {"https://proxy.example", {"https://proxy.example:443"}, {"http://proxy.example:443"}},
       {"socks5://*.example",
        {"socks5://p.example", "socks5://p.example:1080"},
        {"socks5://p.example:1081", "http://p.example:1080"}}},
      Use::proxy);
}

TEST_CASE("UrlPattern: no pattern matches a URL with a query") {
  for (const std::string_view text : {"https://a", "https://a:*/*", "https://a/b"}) {
    const Result<UrlPattern> pattern = UrlPattern::parse(text, Use::server);
    REQUIRE(pattern);
    CHECK_FALSE(pattern->matches(*parse_url("https://a/b?c")));
    CHECK_FALSE(pattern->matches(*parse_url("https://a?c")));
  }
}

void check_refused(std::string_view text, Use use, std::string_view part) {
  CAPTURE(text);
  const Result<UrlPattern> pattern = UrlPattern::parse(text, use);
  test::check_fails(pattern, Error::Kind::configuration, part);
  CHECK_FALSE(pattern.error().hint.empty());
}

TEST_CASE("UrlPattern: the hint fits the mistake") {
  struct Mistake {
    std::string text, hint;
  };
  for (const Mistake& c :
       {Mistake{"https://a,https://b", "once for each"}, Mistake{"https://fd00::1", "in brackets"},
        Mistake{"https://u:p@h:443", "https://HOST[:PORT]"}}) {
    CAPTURE(c.text);
    const Result<UrlPattern> pattern = UrlPattern::parse(c.text, Use::server);
    REQUIRE_FALSE(pattern);
    CHECK(pattern.error().hint.find(c.hint) != std::string::npos);
  }
}

TEST_CASE("UrlPattern: refuses ambiguous and malformed patterns") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"is no pattern: it does not start with https://",
            {"", "any", "*", "a", "a.example.com", "//a", "https:/a", "http://a", "socks5://a",
             "ftp://a", "*://a", "https*://a", " https://a"}},
           {"is no pattern: it has no host", {"https://", "https://*."}},
           {"is no pattern: it has a host that is no DNS name",
            {"https://*", "https://a*", "https://a.*", "https://a.*.b", "https://*a.b",
             "https://*.*.a", "https://**.a", "https://x.*.a", "https://10.0.0.*", "https://user@a",
             "https://a#b", "https://a?b", "https://a\\b", "https://a b", "https://a ",
             "https://a\n", "https://b\u00fccher.example", "https://a%2eb", "https://a*/b"}},
           {"is no pattern: it has a host name with an empty label",
            {"https://.a", "https://a..b"}},
           {"is no pattern: it has a host with the root's dot or an IPv6 zone",
            {"https://a.", "https://[fd00::1%25eth0]"}},
           {"is no pattern: it has a * before an address", {"https://*.10.0.0.1"}},
           {"is no pattern: it has a numeric host that is no dotted quad",
            {"https://*.1", "https://10.0.0", "https://010.0.0.1"}},
           {"is no pattern: it has a port that is neither a number from 1 to 65535 nor *",
            {"https://*.[::1]", "https://u:p@a", "https://a:", "https://a:0", "https://a:65536",
             "https://a:0443", "https://a:+1", "https://a:**", "https://a:4*", "https://a:443:443",
             "https://fd00::1", "https://[fd00::1"}},
           {"is no pattern: it has a query", {"https://a/b?c", "https://a/?c/*"}},
           {"is no pattern: it has a fragment", {"https://a/b#c"}},
           {"is no pattern: it has a '[' without a ']'", {"https://[fd00::1]x"}},
           {"is no pattern: it has a * in its path that is not a last segment",
            {"https://a/*/b", "https://a/b*", "https://a/**", "https://a/*/*"}},
           {"is no pattern: it has a '.' or '..' in its path",
            {"https://a/../b", "https://a/../*", "https://a/./*"}},
           {"is no pattern: it has a percent-encoded dot, slash, percent sign or control character",
            {"https://a/%2e%2e/*", "https://a/b%2fc"}},
           {"is no pattern: it has a path with a bracket or an at sign", {"https://a/b@c"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, Use::server, told);
    }
  }
  check_refused("ftp://a", Use::proxy,
                "is no pattern: it does not start with http://, https:// or socks5://");
  check_refused("socks5h://a", Use::proxy,
                "is no pattern: it does not start with http://, https:// or socks5://");
  check_refused(std::string_view("https://10.0.0.1\0", 17), Use::server,
                "is no pattern: it has a host that is no DNS name");
  check_refused(std::string_view("https://a\0.b", 12), Use::server,
                "is no pattern: it has a host that is no DNS name");
}

TEST_CASE("UrlPattern: refuses malformed networks") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"is no pattern: it has a malformed network in brackets",
            {"https://[10.0.0.0/33]", "https://[10.0.0.0/-1]", "https://[10.0.0.0/+8]",
             "https://[10.0.0.0/]", "https://[10.0.0/8]", "https://[10.0.0.0/8/8]",
             "https://[10.0.0.0/8 ]", "https://[10.0.0.0/255.0.0.0]",
             "https://[10.0.0.0/4294967304]", "https://[fd00::/129]", "https://[fd00::%25x/8]",
             "https://[a.example/8]", "https://[/8]", "https://[*/8]", "https://[[10.0.0.0/8]]"}},
           {"is no pattern: it has a '[' without a ']'",
            {"https://[10.0.0.0/8", "https://[10.0.0.0/8]x", "https://*.[10.0.0.0/8]"}},
           {"is no pattern: it has a path with a bracket or an at sign", {"https://10.0.0.0/8]"}},
           {"is no pattern: it has brackets around what is no IPv6 address", {"https://[]"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, Use::server, told);
    }
  }
}

TEST_CASE("UrlPattern: a network without brackets is refused, and the hint shows the brackets") {
  for (const std::string_view text : {"https://10.0.0.0/8", "https://[fd00::]/8"}) {
    CAPTURE(text);
    const Result<UrlPattern> pattern = UrlPattern::parse(text, Use::server);
    REQUIRE_FALSE(pattern);
    CHECK(pattern.error().hint.find("https://[10.0.0.0/8]") != std::string::npos);
  }
}

TEST_CASE("UrlPattern: an error does not show the password of a pattern") {
  for (const std::string_view text : {"http://u:canary@proxy.example:3128", "ftp://u:canary@a"}) {
    const Result<UrlPattern> pattern = UrlPattern::parse(text, Use::proxy);
    REQUIRE_FALSE(pattern);
    CHECK(pattern.error().message.find("canary") == std::string::npos);
  }
}

TEST_CASE("AudiencePattern: exact, a prefix, the server's URL, or any") {
  struct Match {
    std::string_view pattern;
    std::string_view audience;
    std::string_view server;
    bool wanted;
  };
  for (const Match& m : {
           Match{"vault", "vault", "https://s", true},
           Match{"vault", "Vault", "https://s", false},
           Match{"vault", "vault2", "https://s", false},
           Match{"vault", "", "https://s", false},
           Match{"https://a/*", "https://a/b", "https://s", true},
           Match{"https://a/*", "https://a/", "https://s", true},
           Match{"https://a/*", "https://a", "https://s", false},
           Match{"https://a/*", "https://ab/", "https://s", false},
           Match{"team-*", "team-1", "", true},
           Match{"team-*", "xteam-1", "", false},
           Match{"server", "https://s", "https://s", true},
           Match{"server", "https://s/", "https://s", false},
           Match{"server", "https://S", "https://s", false},
           Match{"server", "server", "https://s", false},
           Match{"server", "", "", false},
           Match{"server", "https://s", "", false},
           Match{"any", "whatever", "", true},
           Match{"any*", "whatever", "", false},
           Match{"server*", "https://s", "https://s", false},
       }) {
    CAPTURE(m.pattern);
    CAPTURE(m.audience);
    const Result<AudiencePattern> pattern = AudiencePattern::parse(m.pattern);
    REQUIRE(pattern);
    CHECK(pattern->text() == m.pattern);
    CHECK(pattern->matches(m.audience, m.server) == m.wanted);
  }
}

TEST_CASE("AudiencePattern: refuses a bare *, a * before the end, and control characters" *
          doctest::description("promise 20")) {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"is no audience pattern: it has nothing before its *", {"*"}},
           {"is no audience pattern: it has a * before its end", {"**", "a*b", "*a", "a**"}},
           {"is no audience pattern: it has a control character", {"a\nb", "a\x7f"}},
       }) {
    for (const std::string_view text : texts) {
      CAPTURE(text);
      test::check_fails(AudiencePattern::parse(text), Error::Kind::configuration, told);
    }
  }
}

}  // namespace
}  // namespace execcred
