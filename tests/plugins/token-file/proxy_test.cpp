// SPDX-License-Identifier: Apache-2.0
// --allow-server also checks the way to the server: its proxy, and verified certificates.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

namespace {

constexpr const char* kAllowed = "--allow-server=https://10.1.2.3:6443";

std::string proxy(const std::string& url) { return ",\"proxy-url\":" + json_string(url); }

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("--allow-server refuses every proxy-url that no --allow-proxy matches" *
          doctest::description("promise 6")) {
  const TokenFile file;
  struct Case {
    std::string pattern;
    std::string proxy;
    bool is_allowed = false;
  };
  const std::vector<Case> cases = {
      {"", "http://proxy.example.com"},
      {"", "socks5://127.0.0.1:1080"},
      {"http://proxy.example.com:3128", "http://proxy.example.com:3128", true},
      {"http://proxy.example.com:3128", "http://PROXY.example.com:3128/", true},
      {"http://proxy.example.com", "http://proxy.example.com:80", true},
      {"http://proxy.example.com:80", "http://proxy.example.com", true},
      {"https://proxy.example.com", "https://proxy.example.com:443", true},
      {"socks5://proxy.example.com", "socks5://proxy.example.com:1080", true},
      {"socks5://*.example.com:*", "socks5://a.example.com:9", true},
      {"http://[10.0.0.0/8]:*", "http://10.9.9.9:3128", true},
      {"http://proxy.example.com:3128", "https://proxy.example.com:3128"},
      {"https://proxy.example.com:3128", "http://proxy.example.com:3128"},
      {"socks5://proxy.example.com", "socks5h://proxy.example.com:1080"},
      {"http://proxy.example.com:1080", "socks5://proxy.example.com:1080"},
      {"http://proxy.example.com", "http://proxy.example.com:3128"},
      {"http://proxy.example.com", "http://proxy.example.com.evil.example"},
      {"http://proxy.example.com", "http://proxy.example.com@evil.example"},
      {"http://proxy.example.com", "http://evil.example\\@proxy.example.com"},
      {"http://proxy.example.com", "http://proxy.example.com/path"},
      {"http://proxy.example.com", "http://proxy.example.com?x"},
      {"http://proxy.example.com", "http://proxy.example.com."},
      {"http://proxy.example.com", "//proxy.example.com"},
      {"http://proxy.example.com", "proxy.example.com:80"},
      {"http://[10.0.0.0/8]", "http://0xa.0.0.1"},
  };
  for (const Case& row : cases) {
    CAPTURE(row.pattern);
    CAPTURE(row.proxy);
    std::vector<std::string> arguments = {kAllowed};
    if (!row.pattern.empty()) arguments.push_back("--allow-proxy=" + row.pattern);
    const Outcome outcome = file.run_for(kServer, arguments, proxy(row.proxy));
    if (row.is_allowed) {
      CHECK_SUCCESS(outcome);
    } else {
      CHECK_REFUSAL(outcome, 1, "spec.cluster.proxy-url");
      CHECK(says(outcome, "--allow-"));
    }
  }
}

TEST_CASE("a proxy's password is refused with --allow-server, and is never shown") {
  const TokenFile file;
  remember_secret("Pr0xyPassw0rdCanary");
  for (const std::string url :
       {"http://user:Pr0xyPassw0rdCanary@proxy.example.com:3128",
        "http://user:Pr0xyPassw0rdCanary@@proxy.example.com:3128",
        "http://user:Pr0xyPassw0rdCanary//@proxy.example.com:3128",
        "http://Pr0xyPassw0rdCanary@proxy.example.com", "user:Pr0xyPassw0rdCanary@proxy:1"}) {
    CAPTURE(url);
    CHECK_REFUSAL(file.run_for(kServer, {kAllowed, "--allow-proxy=http://proxy.example.com:3128"},
                               proxy(url)),
                  1, "spec.cluster.proxy-url");
    const Outcome outcome = file.run_for(kServer, {"--debug"}, proxy(url));
    CHECK(outcome.exit_code == 0);
    CHECK(secret_in(outcome.error_output) == "");
  }
}

TEST_CASE("without --allow-server a proxy-url is not checked") {
  const TokenFile file;
  CHECK_SUCCESS(file.run_for(kServer, {}, proxy("http://proxy.example.com:3128")));
  CHECK_SUCCESS(file.run_for(kServer, {"--allow-proxy=http://other.example.com"},
                             proxy("http://proxy.example.com:3128")));
  CHECK_SUCCESS(file.run_for(kServer, {kAllowed}, proxy("")));
}

TEST_CASE("--allow-proxy has no environment form" * doctest::description("promise 6")) {
  const TokenFile file;
  CHECK_REFUSAL(file.run_for(kServer, {kAllowed}, proxy("http://proxy.example.com"),
                             {"EXECCRED_ALLOW_PROXY=http://proxy.example.com"}),
                1, "spec.cluster.proxy-url");
}

TEST_CASE("--allow-proxy: a malformed pattern is a usage error" *
          doctest::description("promise 6")) {
  const TokenFile file;
  for (const std::string pattern :
       {"proxy.example.com", "socks4://proxy.example.com", "socks5h://proxy.example.com",
        "ftp://proxy.example.com", "http://", "http://*", "http://proxy:0", "any",
        "http://u:p@proxy.example.com"}) {
    CAPTURE(pattern);
    CHECK_REFUSAL(file.run_for(kServer, {kAllowed, "--allow-proxy=" + pattern}), 2,
                  "--allow-proxy");
  }
}

TEST_CASE("--allow-server refuses a server whose certificate is not verified") {
  const TokenFile file;
  const std::string insecure = ",\"insecure-skip-tls-verify\":true";
  CHECK_REFUSAL(file.run_for(kServer, {kAllowed}, insecure), 1,
                "spec.cluster.insecure-skip-tls-verify");
  CHECK_REFUSAL(file.run_for(kServer, {kAllowed, "--allow-proxy=http://p:1"}, insecure), 1,
                "spec.cluster.insecure-skip-tls-verify");
  CHECK_SUCCESS(file.run_for(kServer, {kAllowed}, ",\"insecure-skip-tls-verify\":false"));
  CHECK_SUCCESS(file.run_for(kServer, {}, insecure));
  CHECK_SUCCESS(file.run_for(kServer, {kAllowed}, ",\"tls-server-name\":\"other.example.com\""));
}

TEST_SUITE_END();
