// SPDX-License-Identifier: Apache-2.0
// --allow-server: the servers that it allows, and those that it refuses.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

namespace {

struct Pair {
  std::string pattern;
  std::string server;
};

std::string allow(const std::string& pattern) { return "--allow-server=" + pattern; }

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("--allow-server: a server that matches gets the credential" *
          doctest::description("promise 6")) {
  const TokenFile file;
  const std::vector<Pair> pairs = {
      {"https://good.example.com", "https://good.example.com"},
      {"https://good.example.com", "https://good.example.com/"},
      {"https://good.example.com", "https://good.example.com:443"},
      {"https://good.example.com:443", "https://good.example.com"},
      {"https://good.example.com", "HTTPS://Good.Example.COM"},
      {"https://Good.Example.Com:6443", "https://good.example.com:6443"},
      {"https://good.example.com:*", "https://good.example.com"},
      {"https://good.example.com:*", "https://good.example.com:1"},
      {"https://good.example.com:*", "https://good.example.com:65535"},
      {"https://*.example.com", "https://a.example.com"},
      {"https://*.example.com", "https://a.b.c.example.com"},
      {"https://*.example.com:6443", "https://a.EXAMPLE.com:6443"},
      {"https://localhost:6443", "https://localhost:6443"},
      {"https://xn--bcher-kva.example", "https://xn--bcher-kva.example"},
      {"https://10.1.2.3:6443", "https://10.1.2.3:6443"},
      {"https://[10.0.0.0/8]:6443", "https://10.255.0.1:6443"},
      {"https://[10.1.2.3/32]", "https://10.1.2.3"},
      {"https://[0.0.0.0/0]:*", "https://192.0.2.1:6443"},
      {"https://[2001:db8::1]:6443", "https://[2001:DB8:0:0::0:1]:6443"},
      {"https://[2001:db8::/32]", "https://[2001:db8:ffff::1]"},
      {"https://[::/0]:*", "https://[::1]:6443"},
      {"https://good.example.com/k8s/clusters/c-1", "https://good.example.com/k8s/clusters/c-1"},
      {"https://good.example.com/k8s/*", "https://good.example.com/k8s/clusters/c-1"},
      {"https://good.example.com/*", "https://good.example.com"},
      {"https://good.example.com/*", "https://good.example.com/any/where"},
  };
  for (const Pair& pair : pairs) {
    CAPTURE(pair.pattern);
    CAPTURE(pair.server);
    CHECK_SUCCESS(file.run_for(pair.server, {allow(pair.pattern)}));
  }
}

TEST_CASE("--allow-server: a server that does not match is refused, and the error names patterns" *
          doctest::description("promise 6")) {
  const TokenFile file;
  const std::vector<Pair> pairs = {
      {"https://good.example.com", "https://evil.example.com"},
      {"https://good.example.com", "https://good.example.com:6443"},
      {"https://good.example.com:6443", "https://good.example.com"},
      {"https://good.example.com:6443", "https://good.example.com:64430"},
      {"https://good.example.com", "https://good.example.com.evil.example"},
      {"https://good.example.com", "https://evilgood.example.com"},
      {"https://good.example.com", "https://a.good.example.com"},
      {"https://good.example.com", "https://good.example"},
      {"https://good.example.com", "https://good-example.com"},
      {"https://good.example.com", "https://goodXexample.com"},
      {"https://*.example.com", "https://example.com"},
      {"https://*.example.com", "https://evilexample.com"},
      {"https://*.example.com", "https://a.example.com.evil.example"},
      {"https://*.example.com", "https://a.example.com:6443"},
      {"https://*.0.0.1.example.com", "https://10.0.0.1"},
      {"https://10.1.2.3", "https://10.1.2.30"},
      {"https://[10.0.0.0/8]", "https://11.0.0.1"},
      {"https://[10.0.0.0/8]", "https://10.example.com"},
      {"https://[10.0.0.0/9]", "https://10.128.0.0"},
      {"https://[10.0.0.0/8]:*", "https://[::ffff:10.1.2.3]"},
      {"https://[10.0.0.0/8]:*", "https://[::10.1.2.3]"},
      {"https://[0.0.0.0/0]:*", "https://[::1]"},
      {"https://[0.0.0.0/0]:*", "https://good.example.com"},
      {"https://[2001:db8::/32]", "https://[2001:db9::1]"},
      {"https://[::/0]", "https://10.0.0.1"},
      {"https://good.example.com", "https://good.example.com/path"},
      {"https://good.example.com/k8s", "https://good.example.com"},
      {"https://good.example.com/k8s", "https://good.example.com/K8S"},
      {"https://good.example.com/k8s", "https://good.example.com/k8s/x"},
      {"https://good.example.com/k8s/*", "https://good.example.com/k8s"},
      {"https://good.example.com/k8s/*", "https://good.example.com/k8sx"},
      {"https://good.example.com/k8s/*", "https://good.example.com/other/k8s/x"},
  };
  for (const Pair& pair : pairs) {
    CAPTURE(pair.pattern);
    CAPTURE(pair.server);
    const Outcome outcome = file.run_for(pair.server, {allow(pair.pattern)});
    CHECK_REFUSAL(outcome, 1, "spec.cluster.server");
    CHECK(says(outcome, "--allow-server"));
    CHECK(says(outcome, "'" + pair.pattern + "'"));
  }
}

TEST_CASE("--allow-server: one of several patterns is enough, from flags or the environment" *
          doctest::description("promise 6")) {
  const TokenFile file;
  const std::string variable = "EXECCRED_ALLOW_SERVER=https://a.example.com,https://b.example.com";
  for (const std::string server : {"https://a.example.com", "https://b.example.com"}) {
    CHECK_SUCCESS(file.run_for(server, {"--allow-server=https://a.example.com", "--allow-server",
                                        "https://b.example.com"}));
    CHECK_SUCCESS(file.run_for(server, {}, "", {variable}));
    // A flag replaces the environment's value.
    CHECK_REFUSAL(file.run_for(server, {"--allow-server=https://c.example.com"}, "", {variable}), 1,
                  "https://c.example.com");
  }
  CHECK_REFUSAL(file.run_for("https://c.example.com", {}, "", {variable}), 1,
                "matches no --allow-server");
  CHECK_SUCCESS(file.run_for("https://c.example.com", {}, "", {"EXECCRED_ALLOW_SERVER="}));
}

TEST_CASE("--allow-server: a malformed pattern is a usage error that names it" *
          doctest::description("promise 6")) {
  const TokenFile file;
  for (const std::string pattern : {"good.example.com",
                                    "http://good.example.com",
                                    "https://",
                                    "https:///path",
                                    "https://*",
                                    "https://*.",
                                    "https://*good.example.com",
                                    "https://a.*.example.com",
                                    "https://*.10.0.0.1",
                                    "https://*.*.example.com",
                                    "https://good.example.com:0",
                                    "https://good.example.com:65536",
                                    "https://good.example.com:",
                                    "https://good.example.com:44*",
                                    "https://good.example.com/k*",
                                    "https://good.example.com/*/x",
                                    "https://good.example.com/../x",
                                    "https://good.example.com/%2e",
                                    "https://good.example.com?x=y",
                                    "https://good.example.com#x",
                                    "https://user@good.example.com",
                                    "https://[10.0.0.0/33]",
                                    "https://[10.0.0/8]",
                                    "https://[::/129]",
                                    "https://[::/]",
                                    "https://[/8]",
                                    "https://[10.0.0.0/-1]",
                                    "https://[10.0.0.0]",
                                    "https://[::1%25lo]",
                                    "https://10.0.0.0/8",
                                    "https://g\xc3\xb6od.example.com",
                                    "https://good.example.com.",
                                    "https://0x7f.1",
                                    "any",
                                    "server",
                                    "*"}) {
    CAPTURE(pattern);
    CHECK_REFUSAL(file.run_for(kServer, {allow(pattern)}), 2, "--allow-server");
    CHECK_REFUSAL(file.run_for(kServer, {}, "", {"EXECCRED_ALLOW_SERVER=" + pattern}), 2,
                  "EXECCRED_ALLOW_SERVER");
  }
  CHECK(says(file.run_for(kServer, {allow("https://10.0.0.0/8")}), "https://[10.0.0.0/8]"));
}

TEST_CASE("--allow-server needs the cluster's information") {
  const TokenFile file;
  CHECK_REFUSAL(file.run({"--allow-server=https://good.example.com"}), 2,
                "provideClusterInfo: true");
  CHECK_REFUSAL(file.run({"--allow-server=https://good.example.com"},
                         {"KUBERNETES_EXEC_INFO=" + exec_info(kV1)}),
                2, "provideClusterInfo: true");
}

TEST_CASE("without --allow-server any https server gets the credential, and no other") {
  const TokenFile file;
  for (const std::string server :
       {"https://h", "https://h:6443", "https://10.1.2.3", "https://[::1]:6443",
        "https://h.example.com/k8s/clusters/c-1", "HTTPS://h.example.com", "https://my_host",
        // A server that no pattern can match is still a server.
        "https://h.example.com.:6443", "https://[fe80::1%25eth0]:6443"}) {
    CAPTURE(server);
    CHECK_SUCCESS(file.run_for(server));
  }
  for (const std::string server : {"http://h", "http://127.0.0.1:8001", "ftp://h:443"}) {
    CAPTURE(server);
    CHECK_REFUSAL(file.run_for(server), 1, "spec.cluster.server");
  }
}

TEST_SUITE_END();
