// SPDX-License-Identifier: Apache-2.0
// The mapping decides where the controller's identity is sent; a ClusterProfile cannot change it.
#include "federation.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

// Every option that changes which server is called, what is requested, or what is sent.
const Texts kOptions = {"issuer-url",
                        "token-url",
                        "ca-file",
                        "subject-token-url",
                        "subject-token-header",
                        "subject-token-field",
                        "subject-ca-file",
                        "subject-token-file",
                        "subject-token-env",
                        "subject-token-command",
                        "subject",
                        "service-account",
                        "kubeconfig",
                        "subject-audience",
                        "flow",
                        "client-auth",
                        "client-secret-file",
                        "private-key-file",
                        "key-id",
                        "signing-alg",
                        "client-certificate",
                        "client-key",
                        "client-assertion-type",
                        "client-assertion-audience",
                        "resource",
                        "scope",
                        "subject-token-type",
                        "requested-token-type",
                        "actor-token-file",
                        "actor-token-type",
                        "param",
                        "token",
                        "expect-audience",
                        "concierge-endpoint",
                        "concierge-ca-file",
                        "concierge-authenticator-type",
                        "concierge-authenticator-name",
                        "concierge-api-group-suffix",
                        "cache-dir",
                        "no-cache",
                        "refresh-before",
                        "allow-audience",
                        "allow-server",
                        "timeout",
                        "max-age",
                        "api-version",
                        "server-ca-file",
                        "allow-proxy",
                        "exec-info"};

std::string camel_case(std::string_view option) {
  std::string field;
  for (std::size_t i = 0; i < option.size(); ++i) {
    field.push_back(option[i] == '-' ? static_cast<char>(std::toupper(option[++i])) : option[i]);
  }
  return field;
}

}  // namespace

TEST_CASE(
    "every option but --audience and --client-id is refused as a field and after --from-profile") {
  Federation fed;
  const Idp thief;
  int refused = 0;
  for (const std::string& option : kOptions) {
    CAPTURE(option);
    for (const std::string& value : {thief.token_url(), std::string("x")}) {
      const std::string config =
          "{\"" + camel_case(option) + "\":" + blackbox::json_string(value) + "}";
      CHECK_REFUSAL(fed.run({.config = config}), 2, camel_case(option));
      CHECK_FAILURE(fed.run({.arguments = {"--from-profile", "--" + option + "=" + value}}), 2,
                    "stands behind --from-profile, and may not come from a");
      refused += 2;
    }
  }
  MESSAGE(refused << " attempts of a ClusterProfile to choose something: all refused");
  CHECK(fed.idp.connections() == 0);
  CHECK(thief.connections() == 0);
}

TEST_CASE("canary: no URL of a ClusterProfile is ever called" *
          doctest::description("promises 5, 16")) {
  Federation fed;
  const Idp thief;
  const std::string evil = blackbox::json_string(thief.url());
  const std::string ca =
      ",\"certificate-authority-data\":" + blackbox::json_string(blackbox::base64(thief.ca_pem()));
  for (const Ask& ask :
       {Ask{.server = thief.url()}, Ask{.server = thief.url(), .more_of_cluster = ca},
        Ask{.more_of_cluster = ",\"proxy-url\":" + evil},
        Ask{.server = thief.url(), .more_of_cluster = ca + ",\"proxy-url\":" + evil},
        Ask{.flow = "client-credentials", .server = thief.url(), .more_of_cluster = ca},
        Ask{.config = R"({"server":)" + evil + R"(,"issuer":)" + evil + R"(,"tokenEndpoint":)" +
                      evil + "}"},
        Ask{.more_of_cluster = ",\"insecure-skip-tls-verify\":true"}}) {
    CHECK_SUCCESS(fed.run_cold(ask));
    CHECK_SUCCESS(fed.run_cold({.flow = ask.flow,
                                .server = ask.server,
                                .config = ask.config,
                                .more_of_cluster = ask.more_of_cluster,
                                .by_issuer = true}));
  }
  CHECK(thief.connections() == 0);
  CHECK(fed.idp.calls() == 14);
  MESSAGE("connections to URLs of a ClusterProfile: " << thief.connections() << " in "
                                                      << fed.idp.calls() << " runs");
}

TEST_CASE("--allow-server: another cluster, a proxy or unverified TLS gets no token" *
          doctest::description("promise 6")) {
  Federation fed;
  const Texts allowed = {"--allow-server=https://spoke-1.example.com:6443"};
  CHECK_SUCCESS(fed.run_cold({.arguments = allowed}));
  fed.idp.forget();
  CHECK_FAILURE(fed.run({.arguments = allowed, .server = "https://evil.example:6443"}), 1,
                "matches no --allow-server");
  CHECK_FAILURE(fed.run({.arguments = allowed,
                         .more_of_cluster = ",\"proxy-url\":\"http://proxy.example:3128\""}),
                1, "matches no --allow-proxy");
  CHECK_FAILURE(
      fed.run({.arguments = allowed, .more_of_cluster = ",\"insecure-skip-tls-verify\":true"}), 1,
      "spec.cluster.insecure-skip-tls-verify is set");
  CHECK_REFUSAL(fed.run({.arguments = allowed, .server = ""}), 2, "provideClusterInfo");
  CHECK(fed.idp.requests().empty());
}

TEST_CASE("fields of other plugins in spec.cluster.config are ignored") {
  Federation fed;
  CHECK_SUCCESS(
      fed.run({.config = R"({"tenantId":"t","workloadIdentityProvider":"w","x":{"y":1}})"}));
  CHECK_SUCCESS(fed.run({.config = "null"}));
  CHECK_SUCCESS(fed.run({.config = "[1]"}));
}

}  // namespace execcred::test
