// SPDX-License-Identifier: Apache-2.0
// The hosts in docs/options.md to which plain http is allowed.
#include <doctest/doctest.h>
#include <execcred/base/url.hpp>
#include <execcred/oauth/local_url.hpp>

#include <string>

namespace execcred {
namespace {

bool is_local(const std::string& authority) {
  const Result<Url> url = parse_url("http://" + authority + "/t");
  REQUIRE(url);
  return is_local_host(url->host);
}

TEST_CASE("is_local_host: only loopback, link-local and cloud metadata addresses") {
  for (const std::string authority :
       {"127.0.0.1:8080", "127.9.9.9", "[::1]", "localhost", "169.254.169.254", "169.254.1.2",
        "[fe80::1]", "metadata.google.internal", "[fd00:ec2::254]", "[fd00:ec2::23]",
        "[fd20:ce::254]", "100.100.100.200"}) {
    CAPTURE(authority);
    CHECK(is_local(authority));
  }
  for (const std::string authority : {"10.0.0.1", "192.0.2.1", "100.100.100.201", "168.254.169.254",
                                      "[fd00:ec2::24]", "[2001:db8::1]", "localhost.example.com",
                                      "metadata.google.internal.example.com", "example.com"}) {
    CAPTURE(authority);
    CHECK_FALSE(is_local(authority));
  }
}

}  // namespace
}  // namespace execcred
