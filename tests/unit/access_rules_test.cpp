// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/exec/access_rules.hpp>

#include <array>
#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;
using test::TempDir;
using test::write_file;

constexpr auto kRefused = Error::Kind::no_credential;
constexpr auto kConfiguration = Error::Kind::configuration;

AccessRules rules(const std::vector<std::string>& servers,
                  const std::vector<std::string>& proxies = {}) {
  AccessRules rules;
  for (const std::string& text : servers) {
    rules.allow_server.push_back(*UrlPattern::parse(text, UrlPattern::Use::server));
  }
  for (const std::string& text : proxies) {
    rules.allow_proxy.push_back(*UrlPattern::parse(text, UrlPattern::Use::proxy));
  }
  return rules;
}

ExecInfo info(Cluster cluster) { return ExecInfo{.cluster = std::move(cluster)}; }

// The certificates are not parsed, so any bytes work.
std::string certificate(std::string_view der) {
  return "-----BEGIN CERTIFICATE-----\n" + encode_base64(der) + "\n-----END CERTIFICATE-----\n";
}

TEST_CASE("check_cluster: without rules, any https server is allowed") {
  for (const std::string_view server :
       {"https://h", "https://10.0.0.1:6443", "https://[fd00::1]:6443/p", "HTTPS://H.example"}) {
    CAPTURE(server);
    CHECK(check_cluster({}, info({.server = std::string(server)})));
  }
  CHECK(check_cluster({}, ExecInfo()));
  CHECK(check_cluster({}, info({.server = "https://h",
                                .insecure_skip_tls_verify = true,
                                .proxy_url = "http://u:p@anywhere"})));
}

TEST_CASE("check_cluster: a server that is not https, or is ambiguous, is refused") {
  struct Case {
    std::string_view server;
    Error::Kind kind;
  };
  for (const Case& c : std::array<Case, 10>{{{"http://h", kRefused},
                                             {"http://127.0.0.1:8080", kRefused},
                                             {"ftp://h:21", kRefused},
                                             {"ftp://h", kRefused},
                                             {"git+ssh://h", kConfiguration},
                                             {"h:6443", kConfiguration},
                                             {"https://", kConfiguration},
                                             {"https://good@evil", kConfiguration},
                                             {"https://good\\@evil", kConfiguration},
                                             {"https://h/#f", kConfiguration}}}) {
    CAPTURE(c.server);
    const ExecInfo asked = info({.server = std::string(c.server)});
    const Status alone = check_cluster({}, asked);
    check_fails(alone, c.kind, "spec.cluster.server");
    CHECK(alone.error().is_by_rule == (c.kind == kRefused));
    // With --allow-server, a server that cannot be identified for certain is not allowed.
    const Status bound = check_cluster(rules({"https://good", "https://*.h:*"}), asked);
    check_fails(bound, kRefused, "spec.cluster.server");
    CHECK(bound.error().is_by_rule);
    // The field may be of a kubeconfig.
    const Status of_any = check_server_is_https(c.server, "the.field");
    check_fails(of_any, c.kind, "the.field");
    CHECK_FALSE(of_any.error().is_by_rule);
  }
  CHECK(check_server_is_https("https://h", "the.field"));
}

TEST_CASE("check_cluster: a URL's password is not shown") {
  const Status checked = check_cluster({}, info({.server = "https://u:s3cret@h"}));
  check_fails(checked, kConfiguration, "spec.cluster.server");
  CHECK_FALSE(test::contains(test::full_text(checked.error()), "s3cret"));
}

TEST_CASE("check_cluster: --allow-server allows only servers that match one of the patterns") {
  const AccessRules two = rules({"https://*.example.com:6443", "https://[10.0.0.0/8]:*/k/*"});
  for (const std::string_view server :
       {"https://a.example.com:6443", "https://A.B.EXAMPLE.com:6443/", "https://10.1.2.3/k/x",
        "https://10.1.2.3:8443/k/"}) {
    CAPTURE(server);
    CHECK(check_cluster(two, info({.server = std::string(server)})));
  }
  for (const std::string_view server :
       {"https://example.com:6443", "https://a.example.com", "https://a.example.com.evil:6443",
        "https://evil-example.com:6443", "https://a.example.com:6443/p",
        "https://a.example.com:6443/?q", "https://11.0.0.1/k/", "https://10.0.0.1/kk",
        "https://10.0.0.1.nip.io/k/x"}) {
    CAPTURE(server);
    const Status checked = check_cluster(two, info({.server = std::string(server)}));
    check_fails(checked, kRefused, "matches no --allow-server");
    check_fails(checked, kRefused, "https://*.example.com:6443");
  }
}

TEST_CASE("check_cluster: rules need cluster information, and the hint says how to provide it") {
  AccessRules pinned;
  pinned.server_ca_file = "/nope";
  check_fails(check_cluster(rules({"https://h"}), ExecInfo()), kConfiguration,
              "hint: set provideClusterInfo: true");
  check_fails(check_cluster(pinned, ExecInfo()), kConfiguration,
              "hint: set provideClusterInfo: true");
  check_fails(Status(missing_cluster_info("--x")), kConfiguration, "provideClusterInfo: true");
}

TEST_CASE("check_cluster: --allow-server requires TLS verification, and no proxy") {
  const AccessRules bound = rules({"https://h"});
  CHECK(check_cluster(bound, info({.server = "https://h", .tls_server_name = "other"})));
  check_fails(check_cluster(bound, info({.server = "https://h", .insecure_skip_tls_verify = true})),
              kRefused, "spec.cluster.insecure-skip-tls-verify");
  for (const std::string_view proxy :
       {"http://proxy", "https://proxy", "socks5://proxy", "https://h", "nonsense"}) {
    CAPTURE(proxy);
    check_fails(
        check_cluster(bound, info({.server = "https://h", .proxy_url = std::string(proxy)})),
        kRefused, "spec.cluster.proxy-url");
  }
}

TEST_CASE("check_cluster: a name alone requires the same, and the message says what names it") {
  const ExecInfo proxied = info({.server = "https://h", .proxy_url = "http://proxy"});
  const ExecInfo insecure = info({.server = "https://h", .insecure_skip_tls_verify = true});
  const auto check = [](const AccessRules& rules, const ExecInfo& asked) {
    return check_cluster(rules, asked, "{server.host} in --x");
  };
  for (const ExecInfo& asked : {proxied, insecure}) {
    CHECK(check_cluster({}, asked));
    const Status checked = check({}, asked);
    check_fails(checked, kRefused, "{server.host} in --x");
    CHECK(checked.error().cause == cause::kServerNotAllowed);
    CHECK(checked.error().is_by_rule);
  }
  CHECK(check(rules({}, {"http://proxy"}), proxied));
  check_fails(check(rules({}, {"http://proxy"}), insecure), kRefused, "insecure-skip-tls-verify");
  CHECK(check({}, info({.server = "https://h"})));
  CHECK(check({}, ExecInfo()));
}

TEST_CASE("check_cluster: --allow-proxy allows only a matching proxy" *
          doctest::description("promise 6")) {
  const AccessRules bound = rules({"https://h"}, {"http://proxy.example:3128", "socks5://*.p"});
  for (const std::string_view proxy : {"http://proxy.example:3128", "http://PROXY.example:3128/",
                                       "socks5://a.p", "socks5://a.p:1080"}) {
    CAPTURE(proxy);
    CHECK(check_cluster(bound, info({.server = "https://h", .proxy_url = std::string(proxy)})));
  }
  for (const std::string_view proxy :
       {"https://proxy.example:3128", "http://proxy.example", "http://evil:3128", "socks5://p",
        "http://s3cret@proxy.example:3128", "http://proxy.example:3128?x", "socks4://a.p:1080",
        "//proxy.example:3128", "proxy.example:3128"}) {
    CAPTURE(proxy);
    const Status checked =
        check_cluster(bound, info({.server = "https://h", .proxy_url = std::string(proxy)}));
    check_fails(checked, kRefused, "spec.cluster.proxy-url");
    CHECK_FALSE(test::contains(test::full_text(checked.error()), "s3cret"));
  }
  // A proxy pattern never allows a server, and a server pattern never allows a proxy.
  check_fails(check_cluster(bound, info({.server = "https://proxy.example:3128"})), kRefused,
              "matches no --allow-server");
}

TEST_CASE("check_cluster: --server-ca-file pins every certificate that the client would trust") {
  const TempDir dir;
  const std::string one = certificate("one");
  const std::string two = certificate("two");
  const std::string evil = certificate("evil");
  AccessRules pinned;
  pinned.server_ca_file = write_file(dir / "ca.crt", "comment\n" + one + two);
  const auto check = [&pinned](const std::string& pem, bool is_insecure = false) {
    return check_cluster(pinned, info({.server = "https://h",
                                       .insecure_skip_tls_verify = is_insecure,
                                       .certificate_authority_data = encode_base64(pem)}));
  };
  for (const std::string& pem : {one, two, one + two, two + one + one, "text\n" + one}) {
    CHECK(check(pem));
  }
  std::string crlf = one;
  crlf.insert(crlf.find('\n'), "\r");
  CHECK(check(crlf));
  for (const std::string& pem :
       {evil, one + evil, evil + two, std::string("no PEM"), std::string(),
        one + "-----BEGIN TRUSTED CERTIFICATE-----\nAAEC\n-----END TRUSTED CERTIFICATE-----\n",
        one.substr(0, one.size() - 8), certificate("one\n"), certificate(""), "x" + one}) {
    CAPTURE(pem);
    check_fails(check(pem), kRefused, "spec.cluster.certificate-authority-data");
  }
  check_fails(check(one, true), kRefused, "spec.cluster.insecure-skip-tls-verify");
  ExecInfo no_base64 = info({.server = "https://h", .certificate_authority_data = "?"});
  check_fails(check_cluster(pinned, no_base64), kRefused, "is no base64");
}

TEST_CASE(
    "check_cluster: with --server-ca-file, the certificate must be for the server's own host") {
  const TempDir dir;
  AccessRules pinned;
  pinned.server_ca_file = write_file(dir / "ca.crt", certificate("one"));
  const auto check = [&pinned](const std::string& server, const std::string& name) {
    return check_cluster(pinned,
                         info({.server = server,
                               .tls_server_name = name,
                               .certificate_authority_data = encode_base64(certificate("one"))}));
  };
  CHECK(check("https://h.example:6443", ""));
  CHECK(check("https://h.example:6443", "H.example"));
  CHECK(check("https://[fd00::1]:6443", "fd00:0::1"));
  for (const std::string name :
       {"other.example", "h.example.", "example", "fd00::1", "h.example:1"}) {
    CAPTURE(name);
    check_fails(check("https://h.example:6443", name), kRefused, "spec.cluster.tls-server-name");
  }
}

TEST_CASE(
    "check_cluster: a pin that cannot be read or is not a certificate is a configuration error") {
  const TempDir dir;
  const ExecInfo asked = info(
      {.server = "https://h", .certificate_authority_data = encode_base64(certificate("one"))});
  AccessRules pinned;
  for (const std::filesystem::path& path :
       {dir / "nope", write_file(dir / "empty", ""), write_file(dir / "text", "text"),
        write_file(dir / "key", "-----BEGIN PRIVATE KEY-----\nAAEC\n-----END PRIVATE KEY-----\n"),
        write_file(dir / "open", certificate("one"), 0666)}) {
    CAPTURE(path.native());
    pinned.server_ca_file = path;
    const Status checked = check_cluster(pinned, asked);
    check_fails(checked, kConfiguration, path.native());
    CHECK_FALSE(checked.error().is_by_rule);
  }
}

TEST_CASE("check_audience: a profile's audience needs a matching pattern") {
  const ExecInfo asked = info({.server = "https://h:6443"});
  const auto check = [](const std::vector<std::string>& patterns, std::string_view audience,
                        const ExecInfo& about) {
    AccessRules rules;
    for (const std::string& text : patterns) {
      rules.allow_audience.push_back(*AudiencePattern::parse(text));
    }
    return check_audience(rules, audience, about);
  };
  check_fails(check({}, "a", asked), kConfiguration, "--allow-audience");
  CHECK(check({"a"}, "a", asked));
  CHECK(check({"x", "api://*"}, "api://a", asked));
  CHECK(check({"any"}, "whatever", ExecInfo()));
  CHECK(check({"server"}, "https://h:6443", asked));
  check_fails(check({"a"}, "ab", asked), kRefused, "matches no --allow-audience");
  check_fails(check({"a"}, "A", asked), kRefused, "'A' matches no --allow-audience");
  check_fails(check({"api://*"}, "api:/", asked), kRefused, "'api:/' matches no --allow-audience");
  check_fails(check({"server"}, "https://h", asked), kRefused, "matches no --allow-audience");
  check_fails(check({"server"}, "server", asked), kRefused, "matches no --allow-audience");
  check_fails(check({"server"}, "a", ExecInfo()), kConfiguration, "--allow-audience=server");
  check_fails(check({"a"}, "any", asked), kRefused, "'any' matches no --allow-audience");
}

}  // namespace
}  // namespace execcred
