// SPDX-License-Identifier: Apache-2.0
// All known spellings of a server that --allow-server and the client could read differently.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

TEST_SUITE_BEGIN("token_file");

TEST_CASE("--allow-server: no spelling that another program reads differently matches" *
          doctest::description("promise 6")) {
  const TokenFile file;
  const std::vector<std::string> servers = {
      // user info and what ends an authority
      "https://good.example.com@evil.example",
      "https://good.example.com:443@evil.example",
      "https://good.example.com%40evil.example",
      "https://user:pass@good.example.com",
      "https://@good.example.com",
      "https://:@good.example.com",
      "https://evil.example\\good.example.com",
      "https://evil.example\\@good.example.com",
      "https://evil.example/\\good.example.com",
      "https:\\\\good.example.com",
      "https://evil.example#good.example.com",
      "https://good.example.com#evil",
      "https://evil.example?good.example.com",
      "https://good.example.com?x=y",
      "https://good.example.com?",
      "https://good.example.com/?a",
      // dots, labels and odd bytes
      "https://good.example.com.",
      "https://good.example.com..",
      "https://.good.example.com",
      "https://good..example.com",
      "https://good.example.com,evil.example",
      "https://good.example.com;evil.example",
      "https://good.example.com|evil",
      "https://good.example.com ",
      " https://good.example.com",
      "https:// good.example.com",
      "https://good.example.com<>",
      "https://good.example.com\"",
      "https://{good.example.com}",
      "https://*.example.com",
      "https://*",
      // percent-encoding and IDN
      "https://good%2eexample.com",
      "https://good.example.com%2f.evil.example",
      "https://%67ood.example.com",
      "https://good.example.com%00.evil.example",
      "https://g\xc3\xb6od.example.com",
      "https://good\u3002example.com",
      "https://\xef\xbd\x87ood.example.com",
      "https://good.ex\u00adample.com",
      // schemes
      "http://good.example.com",
      "http://good.example.com:443",
      "httpss://good.example.com",
      "ws://good.example.com",
      "https:good.example.com",
      "https:/good.example.com",
      "https:///good.example.com",
      "//good.example.com",
      "good.example.com",
      "good.example.com:443",
      "file:///good.example.com",
      "unix:///run/good.example.com",
      // ports
      "https://good.example.com:",
      "https://good.example.com:0",
      "https://good.example.com:0443",
      "https://good.example.com:65979",
      "https://good.example.com:+443",
      "https://good.example.com:-1",
      "https://good.example.com:443:443",
      "https://good.example.com:https",
      "https://good.example.com:4 43",
      // paths
      "https://good.example.com//evil.example/..",
      "https://good.example.com/..",
      "https://good.example.com/.",
      "https://good.example.com/%2e%2e",
  };
  for (const std::string& server : servers) {
    CAPTURE(server);
    CHECK_REFUSAL(file.run_for(server, {"--allow-server=https://good.example.com"}), 1,
                  "spec.cluster.server");
  }
}

TEST_CASE("--allow-server: numeric and IPv6 spellings of an allowed address do not match" *
          doctest::description("promise 6")) {
  const TokenFile file;
  for (const std::string server : {"https://0x0a.1.2.3",
                                   "https://0xa010203",
                                   "https://167838211",
                                   "https://10.66051",
                                   "https://10.1.515",
                                   "https://012.1.2.3",
                                   "https://010.1.2.3",
                                   "https://10.1.2.03",
                                   "https://10.1.2.3.",
                                   "https://10.1.2.3.4",
                                   "https://10.1.2",
                                   "https://10.1.2.256",
                                   "https://[10.1.2.3]",
                                   "https://10.1.2.0x3",
                                   "https://10.1.2.3%20",
                                   "https://[::ffff:a01:203]",
                                   "https://[::1%25lo]",
                                   "https://[::1%lo]",
                                   "https://[fe80::1%25eth0]",
                                   "https://[::1",
                                   "https://::1",
                                   "https://[::1]x",
                                   "https://[[::1]]",
                                   "https://[]",
                                   "https://[:::]",
                                   "https://\xef\xbc\x91\xef\xbc\x90.1.2.3"}) {
    CAPTURE(server);
    CHECK_REFUSAL(
        file.run_for(server,
                     {"--allow-server=https://10.1.2.3", "--allow-server=https://[::1]",
                      "--allow-server=https://[10.0.0.0/8]", "--allow-server=https://[fe80::/10]"}),
        1, "spec.cluster.server");
  }
}

TEST_CASE("--allow-server: no spelling of a path leaves the allowed path" *
          doctest::description("promise 6")) {
  const TokenFile file;
  for (const std::string path : {"/k8s/../evil",     "/k8s/./../evil",   "/k8s/%2e%2e/evil",
                                 "/k8s/%2E%2e/evil", "/k8s/..%2fevil",   "/k8s/..%5cevil",
                                 "/k8s/..;/evil",    "/k8s/..;a=b/evil", "/k8s/%252e%252e/evil",
                                 "/k8s/..",          "/k8s/%00",         "/k8s/%",
                                 "/k8s/%2",          "/k8s/%zz",         "/k8s%2fa",
                                 "/K8S/a",           "/k8s/a?b",         "/k8s/a#b",
                                 "/k8s/\\..\\evil",  "//k8s/a",          "/k8s/%0a"}) {
    CAPTURE(path);
    CHECK_REFUSAL(file.run_for("https://good.example.com" + path,
                               {"--allow-server=https://good.example.com/k8s/*"}),
                  1, "spec.cluster.server");
  }
}

TEST_CASE("--allow-server: a control character in the server is a configuration error" *
          doctest::description("promises 6, 20")) {
  const TokenFile file;
  for (const char c : {'\0', '\t', '\n', '\r', '\x1b', '\x7f'}) {
    std::string server = "https://good.example.com";
    server.insert(12, 1, c);
    CHECK_REFUSAL(file.run_for(server, {"--allow-server=https://good.example.com"}), 2,
                  "spec.cluster.server");
  }
}

TEST_SUITE_END();
