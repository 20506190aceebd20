// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <string>
#include <string_view>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::string_literals;

TEST_CASE("parse_workload_endpoint: a Unix domain socket by its absolute path") {
  struct Case {
    std::string text;
    std::string path;
  };
  const std::string longest = "/" + std::string(106, 'a');
  for (const Case& c : {
           Case{"unix:///run/spire/agent.sock", "/run/spire/agent.sock"},
           Case{"unix:/run/spire/agent.sock", "/run/spire/agent.sock"},
           Case{"unix:///a", "/a"},
           Case{"unix:///run/a:b,c+d", "/run/a:b,c+d"},
           Case{"unix://" + longest, longest},
           Case{"unix:" + longest, longest},
       }) {
    CAPTURE(c.text);
    const Result<WorkloadEndpoint> endpoint = parse_workload_endpoint(c.text);
    if (!endpoint) FAIL(full_text(endpoint.error()));
    CHECK(endpoint->path == c.path);
    CHECK(endpoint->text == c.text);
    CHECK(endpoint->port == 0);
  }
}

TEST_CASE("parse_workload_endpoint: an @ after the first slash belongs to the path") {
  const Result<WorkloadEndpoint> endpoint = parse_workload_endpoint("unix:///run/a@b.sock");
  REQUIRE(endpoint);
  CHECK(endpoint->path == "/run/a@b.sock");
}

TEST_CASE("parse_workload_endpoint: TCP by address and port") {
  struct Case {
    std::string text;
    std::string address;
    std::uint16_t port;
  };
  for (const Case& c : {
           Case{"tcp://127.0.0.1:8081", "127.0.0.1", 8081},
           Case{"tcp://1.2.3.4:1", "1.2.3.4", 1},
           Case{"tcp://1.2.3.4:65535", "1.2.3.4", 65535},
           Case{"tcp://[::1]:8081", "::1", 8081},
           Case{"tcp://[2001:db8::1]:443", "2001:db8::1", 443},
       }) {
    CAPTURE(c.text);
    const Result<WorkloadEndpoint> endpoint = parse_workload_endpoint(c.text);
    if (!endpoint) FAIL(full_text(endpoint.error()));
    CHECK(endpoint->path.empty());
    CHECK(endpoint->text == c.text);
    CHECK(endpoint->port == c.port);
    IpAddress wanted;
    REQUIRE(parse_ip_address(c.address, wanted));
    CHECK(endpoint->address.v6 == wanted.v6);
    CHECK(endpoint->address.bytes == wanted.bytes);
  }
}

struct Refused {
  std::string text;
  std::string problem;
};

void check_refused(const Refused& refused) {
  CAPTURE(refused.text);
  const Result<WorkloadEndpoint> endpoint = parse_workload_endpoint(refused.text);
  check_fails(endpoint, Error::Kind::configuration, refused.problem);
  CHECK(contains(endpoint.error().message, "the Workload API's address"));
  CHECK_FALSE(endpoint.error().hint.empty());
  CHECK_FALSE(contains(endpoint.error().message, "\n"));
}

TEST_CASE("parse_workload_endpoint: what is neither a unix nor a tcp URI is refused") {
  for (const Refused& refused : {
           Refused{"", "is no URI"},
           Refused{"agent.sock", "is no URI"},
           Refused{"unix", "is no URI"},
           Refused{"\t", "is no URI"},
           Refused{":", "is neither a unix nor a tcp URI"},
           Refused{"://a", "is neither a unix nor a tcp URI"},
           Refused{"blah://foo", "is neither a unix nor a tcp URI"},
           Refused{"http://127.0.0.1:80", "is neither a unix nor a tcp URI"},
           Refused{"npipe:name", "is neither a unix nor a tcp URI"},
           Refused{" unix:///run/a", "is neither a unix nor a tcp URI"},
           Refused{"unixx:///run/a", "is neither a unix nor a tcp URI"},
           Refused{"/run/spire/agent.sock", "hint: write unix:///run/spire/agent.sock"},
       }) {
    check_refused(refused);
  }
}

TEST_CASE("parse_workload_endpoint: a unix URI has an absolute path and no more") {
  for (const Refused& refused : {
           Refused{"unix:", "has no path"},
           Refused{"unix://", "has no path"},
           Refused{"unix:/", "has no path"},
           Refused{"unix:///", "has no path"},
           Refused{"unix:agent.sock", "hint: write three slashes: unix:///agent.sock"},
           Refused{"unix://foo", "hint: write three slashes: unix:///foo"},
           Refused{"unix://foo/agent.sock", "has a path that is not absolute"},
           Refused{"unix:////run/a", "has more slashes"},
           Refused{"unix:///run/a?whatever", "has a query"},
           Refused{"unix:///run/a?", "has a query"},
           Refused{"unix:///run/a#whatever", "has a fragment"},
           Refused{"unix:///run/a#", "has a fragment"},
           Refused{"unix:///run/%61", "has percent-encoding"},
           Refused{"unix://john:doe@foo/path", "has user information"},
           Refused{"unix://john@/path", "has user information"},
           Refused{"unix:///run/a b", "has white space"},
           Refused{"unix:///run/a\n", "has white space"},
           Refused{"unix:///run/a\0b"s, "has white space"},
           Refused{"unix:///run/\u00e9", "has white space or other characters than ASCII"},
           Refused{"unix:///" + std::string(107, 'a'), "has a path of more than 107 bytes"},
       }) {
    check_refused(refused);
  }
}

TEST_CASE("parse_workload_endpoint: a tcp URI has an address, a port and no more") {
  for (const Refused& refused : {
           Refused{"tcp:", "has no '//' behind its scheme"},
           Refused{"tcp:127.0.0.1:80", "has no '//' behind its scheme"},
           Refused{"tcp:/127.0.0.1:80", "has no '//' behind its scheme"},
           Refused{"tcp://", "has no port"},
           Refused{"tcp://127.0.0.1", "has no port"},
           Refused{"tcp://[::1]", "has no port"},
           Refused{"tcp://127.0.0.1:", "has no port between 1 and 65535"},
           Refused{"tcp://127.0.0.1:0", "has no port between 1 and 65535"},
           Refused{"tcp://127.0.0.1:65536", "has no port between 1 and 65535"},
           Refused{"tcp://127.0.0.1:-1", "has no port between 1 and 65535"},
           Refused{"tcp://127.0.0.1:+1", "has no port between 1 and 65535"},
           Refused{"tcp://127.0.0.1:8x", "has no port between 1 and 65535"},
           Refused{"tcp://:80", "has a host that is no IP address"},
           Refused{"tcp://localhost:80", "has a host that is no IP address"},
           Refused{"tcp://agent.example.org:80", "has a host that is no IP address"},
           Refused{"tcp://::1:80", "has a host that is no IP address"},
           Refused{"tcp://[127.0.0.1]:80", "has a host that is no IP address"},
           Refused{"tcp://[]:80", "has a host that is no IP address"},
           Refused{"tcp://[::1:80", "has a host that is no IP address"},
           Refused{"tcp://127.1:80", "has a host that is no IP address"},
           Refused{"tcp://127.0.0.256:80", "has a host that is no IP address"},
           Refused{"tcp://[::1%25lo]:80", "has percent-encoding"},
           Refused{"tcp://127.0.0.1:80/", "has a path"},
           Refused{"tcp://127.0.0.1:80/path", "has a path"},
           Refused{"tcp://127.0.0.1:80?q", "has a query"},
           Refused{"tcp://127.0.0.1:80#f", "has a fragment"},
           Refused{"tcp://john@127.0.0.1:80", "has user information"},
           Refused{"tcp://127.0.0.1: 80", "has white space"},
       }) {
    check_refused(refused);
  }
}

TEST_CASE("parse_workload_endpoint: a password in the URI is not shown") {
  for (const std::string_view text :
       {"tcp://john:QanaryQ@127.0.0.1:80", "unix://john:QanaryQ@foo/path", "x://u:QanaryQ@h",
        "tcp://john:Qana?QanaryQ@127.0.0.1:80"}) {
    const Result<WorkloadEndpoint> endpoint = parse_workload_endpoint(text);
    REQUIRE_FALSE(endpoint);
    CHECK_FALSE(contains(full_text(endpoint.error()), "QanaryQ"));
  }
}

}  // namespace
}  // namespace execcred
