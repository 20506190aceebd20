// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/url.hpp>

#include <vector>

namespace execcred {
namespace {

struct Case {
  std::string_view text;
  std::string_view scheme;
  std::string_view host;
  int port;
  std::string_view path = {};
  std::string_view query = {};
};

TEST_CASE("parse_url: splits a URL into normalized parts") {
  const std::vector<Case> cases = {
      {"https://api.example.com", "https", "api.example.com", 443},
      {"https://api.example.com/", "https", "api.example.com", 443},
      {"HTTPS://API.Example.COM:6443/Path", "https", "api.example.com", 6443, "/Path"},
      {"https://a:443", "https", "a", 443},
      {"http://a", "http", "a", 80},
      {"socks5://a", "socks5", "a", 1080},
      {"ftp://a:21/x", "ftp", "a", 21, "/x"},
      {"https://a:1", "https", "a", 1},
      {"https://a:65535", "https", "a", 65535},
      {"https://10.0.0.1:6443", "https", "10.0.0.1", 6443},
      {"https://[FD00::1]:6443/a", "https", "fd00::1", 6443, "/a"},
      {"https://[::1]", "https", "::1", 443},
      {"https://xn--bcher-kva.example", "https", "xn--bcher-kva.example", 443},
      {"https://a_b.example", "https", "a_b.example", 443},
      {"https://1a.example", "https", "1a.example", 443},
      {"https://a/k8s/clusters/c-1", "https", "a", 443, "/k8s/clusters/c-1"},
      {"https://a/b/", "https", "a", 443, "/b/"},
      {"https://a/b%20c", "https", "a", 443, "/b%20c"},
      {"https://a/b...c/.d", "https", "a", 443, "/b...c/.d"},
      {"https://a/b?c=d", "https", "a", 443, "/b", "c=d"},
      {"https://a?c=d/e", "https", "a", 443, "", "c=d/e"},
      {"https://a/?c", "https", "a", 443, "", "c"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Result<Url> url = parse_url(c.text);
    REQUIRE(url);
    CHECK(url->scheme == c.scheme);
    CHECK(url->host.name == c.host);
    CHECK(url->port == c.port);
    CHECK(url->path == c.path);
    CHECK(url->query == c.query);
  }
}

void check_refused(std::string_view text, std::string_view part) {
  CAPTURE(text);
  test::check_fails(parse_url(text), Error::Kind::configuration, part);
}

TEST_CASE("parse_url: refuses a text that is not an absolute URL with a host") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has no scheme://",
            {"", "a", "example.com", "example.com:443", "//example.com", "https:", "https:/a",
             "https:a", "://a"}},
           {"has no host", {"https://", "https:///a", "https://:443", "https://?x"}},
           {"has a fragment", {"https://#x"}},
           {"has a character that no URL may hold", {"http s://a"}},
           {"has a malformed scheme", {"ht-tp://a:1", "https:evil://a"}},
           {"needs a port", {"ftp://a", "unknown://a", "socks5h://a"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
}

TEST_CASE("parse_url: refuses user info, and everything that can hide the real host") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has user info",
            {"https://user@a", "https://user:password@a", "https://@a", "https://a@b@c",
             "https://good.example:443@evil.example"}},
           {"has a path with a bracket or an at sign", {"https://good.example:443/@evil.example"}},
           {"has a backslash",
            {"https://evil.example\\@good.example", "https://good.example\\.evil.example",
             "https:\\\\good.example"}},
           {"has a fragment",
            {"https://good.example#@evil.example", "https://good.example#",
             "https://evil.example/#good.example"}},
           {"has an empty query", {"https://good.example?", "https://good.example/?"}},
           {"has a host that is no DNS name",
            {"https://good.example%2eevil.example", "https://good.example%00.evil.example",
             "https://good%2eexample", "https://good.example%40evil.example"}},
           {"has a character that no URL may hold",
            {"https://good.example /", "https:// good.example", " https://good.example",
             "https://good.example ", "https://good.example\n",
             "https://good.example\r\nHost: evil", "https://good.ex\tample",
             "https://good.example/\x7f", "https://good.example/\"", "https://good.example/<",
             "https://good.example/{x}", "https://good.example/a|b", "https://good.example/^",
             "https://good.example/`"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
  check_refused(std::string_view("https://good.example\0.evil.example", 34),
                "has a character that no URL may hold");
  check_refused(std::string_view("https://10.0.0.1\0.evil.example", 30),
                "has a character that no URL may hold");
}

TEST_CASE("parse_url: a port is a plain number from 1 to 65535") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a ':' without a port", {"https://a:", "https://a:/x"}},
           {"has a port that is no number from 1 to 65535",
            {"https://a:0", "https://a:65536", "https://a:99999999999999999999", "https://a:-1",
             "https://a:+443", "https://a:0443", "https://a:00443", "https://a:0x1bb",
             "https://a:443x", "https://a:https", "https://a:*", "https://a:4.43", "https://a:4e2",
             "https://a:%34"}},
           {"has a character that no URL may hold", {"https://a:4 43"}},
           {"has a host that is no DNS name", {"https://a:443:443", "https://a::443"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
}

TEST_CASE("parse_url: refuses dot segments and percent-encoded separators in a path") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has a '.' or '..' in its path",
            {"https://a/.", "https://a/..", "https://a/b/../c", "https://a/b/./c", "https://a/../",
             "https://a/b/..", "https://a/b/..;/c", "https://a/b/..;x=1/", "https://a/.;/c",
             "https://a/..;"}},
           {"has a percent-encoded dot, slash, percent sign or control character",
            {"https://a/%2e%2e/c", "https://a/%2E./c", "https://a/.%2e/c", "https://a/b%2fc",
             "https://a/b%2Fc", "https://a/b%5cc", "https://a/b%5Cc", "https://a/b%252fc",
             "https://a/%00", "https://a/%0a", "https://a/%0D%0A", "https://a/%1f", "https://a/%7f",
             "https://a/%7F"}},
           {"has a '%' that starts no percent-encoding",
            {"https://a/%", "https://a/%2", "https://a/%zz", "https://a/%2g", "https://a/b%",
             "https://a/%%32%65"}},
           {"has a path with a bracket or an at sign", {"https://a/[b]", "https://a/b@c"}},
           {"has a backslash", {"https://a/b\\..\\c"}},
           {"has a character outside ASCII; write the host in its xn-- form", {"https://a/\u00e9"}},
       }) {
    for (const std::string_view text : texts) {
      check_refused(text, told);
    }
  }
  for (const std::string_view text : {"https://a/b;c/d", "https://a/...", "https://a/..b/.c/d..",
                                      "https://a/%c3%a9", "https://a/b//c", "https://a/~b:c"}) {
    CAPTURE(text);
    CHECK(parse_url(text));
  }
}

TEST_CASE("parse_url: accepts at most 2048 bytes") {
  const std::string start = "https://a/";
  CHECK(parse_url(start + std::string(2048 - start.size(), 'b')));
  check_refused(start + std::string(2049 - start.size(), 'b'), "is longer than 2048 bytes");
}

TEST_CASE("parse_url: the message does not quote the URL") {
  for (const std::string_view text :
       {"https://user:canary@a", "canary", "https://canary\\", "https://a/canary/../b",
        "https://a:canary", "https://[canary]", "https://canary..b", "https://a/%2fcanary"}) {
    CAPTURE(text);
    const Result<Url> url = parse_url(text);
    REQUIRE_FALSE(url);
    CHECK(url.error().message.find("canary") == std::string::npos);
    CHECK(url.error().hint.find("canary") == std::string::npos);
  }
}

TEST_CASE("default_port: is known for https, http and socks5") {
  CHECK(default_port("https") == 443);
  CHECK(default_port("http") == 80);
  CHECK(default_port("socks5") == 1080);
  CHECK(default_port("ftp") == 0);
  CHECK(default_port("") == 0);
}

TEST_CASE("parse_proxy: user info is percent-encoded, and ends where Go ends it") {
  struct Accepted {
    std::string_view text, user, password, origin;
  };
  for (const Accepted& c :
       {Accepted{"http://h:1", "", "", "http://h:1"},
        Accepted{"https://u@h", "u", "", "https://h:443"},
        Accepted{"socks5://:p@h", "", "p", "socks5://h:1080"},
        Accepted{"http://@h", "", "", "http://h:80"},
        Accepted{"http://u:p@x@h/a", "u", "p@x", "http://h:80"},
        Accepted{"http://u%40x:p%3A%23@h:1/path", "u@x", "p:#", "http://h:1"},
        Accepted{"http://-._~!$&'()*+,;=:::@h", "-._~!$&'()*+,;=", "::", "http://h:80"}}) {
    CAPTURE(c.text);
    const Result<Proxy> proxy = parse_proxy(c.text);
    REQUIRE(proxy);
    CHECK(proxy->user == c.user);
    CHECK(proxy->password.reveal() == c.password);
    CHECK(origin_of(proxy->url) == c.origin);
  }
}

TEST_CASE("parse_proxy: what clients refuse or read differently is refused") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"has malformed user info",
            {"http://u:%zz@h", "http://%@h", "http://u:%0a@h", "http://u%3Ax@h"}},
           {"has a fragment", {"http://u:pa#ss@h", "http://u#@h", "http://h#"}},
           {"has a query", {"http://h?a", "http://u?a@h", "http://h/?a"}},
           {"has an empty query", {"http://h?"}},
           {"has no host", {"http://", "http://u@", "http://u:p@:1"}},
           {"has no scheme://", {"h", "h:80", "u:p@h"}},
           {"starts with none of", {"ftp://h:1", "socks5h://h:1", "socks4://u@h:1"}},
       }) {
    for (const std::string_view text : texts) {
      CAPTURE(text);
      test::check_fails(parse_proxy(text), Error::Kind::configuration, told);
    }
  }
  for (const std::string_view c :
       {" ", "^", "|", "{", "}", "[", "]", "\"", "<", ">", "\\", "`", "\u00e9", "\t"}) {
    CAPTURE(c);
    for (const std::string_view info : {"u:p", "u"}) {
      test::check_fails(parse_proxy("http://" + std::string(info) + std::string(c) + "@h:1"),
                        Error::Kind::configuration, "has malformed user info");
    }
  }
}

TEST_CASE("redacted_url: removes everything that may be user info, and the query") {
  struct Redaction {
    std::string_view text;
    std::string_view wanted;
  };
  for (const Redaction& c : {
           Redaction{"https://a.example/b", "'https://a.example/b'"},
           Redaction{"https://user:canary@a.example/b", "'https://\u2026@a.example/b'"},
           Redaction{"https://canary@a", "'https://\u2026@a'"},
           Redaction{"https://u:can/ary@a", "'https://\u2026@a'"},
           Redaction{"https://u:can@ary@a", "'https://\u2026@a'"},
           Redaction{"https://u:canary://@a", "'https://\u2026@a'"},
           Redaction{"https:/u:canary//x@a", "'\u2026@a'"},
           Redaction{"user:canary//x@a", "'\u2026@a'"},
           Redaction{"user:canary://x@a", "'\u2026@a'"},
           Redaction{"//u:canary@a", "'\u2026@a'"},
           Redaction{"u:canary@a", "'\u2026@a'"},
           Redaction{"https://a/b?key=canary", "'https://a/b?\u2026'"},
           Redaction{"https://a?canary#canary", "'https://a?\u2026'"},
           Redaction{"https://u:canary@a/b?key=canary", "'https://\u2026@a/b?\u2026'"},
           Redaction{"https://u:can?ary@a", "'https://\u2026'"},
           Redaction{"https://a?key=can@ary", "'https://\u2026'"},
           Redaction{"https://a/b#can@ary", "'https://\u2026'"},
           Redaction{"https://a/b#token=canary", "'https://a/b#\u2026'"},
           Redaction{"https://u:canary@a#canary?canary", "'https://\u2026@a#\u2026'"},
           Redaction{"", "''"},
           Redaction{"a\nb", "'a\\x0ab'"},
       }) {
    CAPTURE(c.text);
    CHECK(redacted_url(c.text) == c.wanted);
  }
}

}  // namespace
}  // namespace execcred
