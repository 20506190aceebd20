// SPDX-License-Identifier: Apache-2.0
// Tokens of a service account.
#include "bootstrap.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("token: one TokenRequest with the bootstrap credential, for the API server's audience") {
  const Bootstrap rig;
  const Outcome outcome = rig.run();
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome).starts_with("eyJ"));
  CHECK(is_about(claimed_seconds(outcome), claim_for(3600)));
  REQUIRE(rig.api.server.requests().size() == 1);
  const Received sent = rig.api.server.last(kTokenPath);
  CHECK(sent.method == "POST");
  CHECK(sent.header("Authorization") == "Bearer " + rig.token);
  CHECK(sent.header("Content-Type") == "application/json");
  CHECK(sent.body == R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
                     R"("spec":{"expirationSeconds":3600}})");
}

TEST_CASE("token: audiences and lifetime are requested, and the client's API version is used") {
  const Bootstrap rig;
  rig.set_inner_output(exec_credential(R"({"token":"t0ken"})", blackbox::kV1Beta1));
  const Outcome outcome = rig.run({.arguments = {"--audience=a", "--audience=b", "--lifetime=24h"},
                                   .version = blackbox::kV1Beta1});
  CHECK_SUCCESS(outcome, blackbox::kV1Beta1);
  CHECK(is_about(claimed_seconds(outcome), claim_for(86400)));
  const Received sent = rig.api.server.last(kTokenPath);
  CHECK(blackbox::json_at(sent.body, "spec.audiences") == R"(["a","b"])");
  CHECK(blackbox::json_at(sent.body, "spec.expirationSeconds") == "86400");
}

TEST_CASE("token: the lifetime that the server grants applies, shorter or longer") {
  Bootstrap rig;
  for (const std::int64_t granted : {600, 1800, 40000}) {
    CAPTURE(granted);
    rig.api.token.seconds = granted;
    CHECK(is_about(claimed_seconds(rig.run_cold()), claim_for(granted)));
  }
}

TEST_CASE("token: it ends at the earlier of status.expirationTimestamp and exp") {
  Bootstrap rig;
  rig.api.token = {.seconds = 3600, .exp_seconds = 1200};
  CHECK(is_about(claimed_seconds(rig.run_cold()), claim_for(1200)));
  rig.api.token = {.seconds = 1200, .exp_seconds = 3600};
  CHECK(is_about(claimed_seconds(rig.run_cold()), claim_for(1200)));
}

TEST_CASE("token: one of another account, for another audience, expired or opaque is refused") {
  Bootstrap rig;
  struct Case {
    TokenWish wish;
    std::string_view part;
  };
  for (const Case& c : {
           Case{{.subject = "system:serviceaccount:fleet:admin"},
                "is of 'system:serviceaccount:fleet:admin', not of "
                "'system:serviceaccount:fleet:controller'"},
           Case{{.subject = "system:serviceaccount:kube-system:controller"}, "is of '"},
           Case{{.subject = ""}, "is of nobody"},
           Case{{.audiences = R"(["a"])"}, "is not for the audience 'b', but for 'a'"},
           Case{{.audiences = "[]"}, "is not for the audience 'a', but for none"},
           Case{{.seconds = -5, .exp_seconds = 60}, "has ended"},
           Case{{.seconds = 60, .exp_seconds = -5}, "expired"},
           Case{{.more_claims = R"(,"nbf":99999999999)"}, "valid"},
           Case{{.is_opaque = true}, "is no JWT"},
       }) {
    CAPTURE(c.part);
    rig.api.token = c.wish;
    const Outcome outcome = rig.run_cold({.arguments = {"--audience=a", "--audience=b"}});
    CHECK_FAILURE(outcome, 1, c.part);
    CHECK_FALSE(says(outcome, "eyJ"));
  }
}

TEST_CASE("token: a 403 names the RBAC rule that is missing") {
  Bootstrap rig;
  rig.api.forbid("POST");
  const Outcome outcome = rig.run();
  CHECK_REFUSAL(outcome, 1,
                "verbs [create] on resources [serviceaccounts/token], resourceNames [controller], "
                "bound in namespace 'fleet'");
  CHECK(says(outcome, "the cluster answered 403 Forbidden"));
}

TEST_CASE("token: invalid replies exit with 1, and a cluster that is down exits with 3") {
  Bootstrap rig;
  rig.api.server.on(kTokenPath, status_reply(401, "Unauthorized", "Unauthorized"));
  CHECK_REFUSAL(rig.run_cold(), 1, "the cluster does not know this identity");
  for (const std::string& bytes :
       {reply(201, "{}"), reply(201, "<html>"), reply(201, R"({"kind":"TokenRequest"})"),
        reply(201, R"({"kind":"TokenRequest","status":{"token":"a","token":"a"}})"),
        reply(404, "{}"), reply(422, "{}")}) {
    CAPTURE(bytes);
    rig.api.server.on(kTokenPath, bytes);
    CHECK_FAILURE(rig.run_cold(), 1, "'fleet/controller'");
  }
  for (const int status : {429, 500, 503}) {
    CAPTURE(status);
    rig.api.server.on(kTokenPath, reply(status, "{}"));
    CHECK_FAILURE(rig.run_cold({.arguments = {"--timeout=1s"}}), 3,
                  "the cluster answered " + std::to_string(status));
  }
  rig.api.server.on(kTokenPath, [](Stream& stream, const Received&) { stream.cut(); });
  CHECK_FAILURE(rig.run_cold({.arguments = {"--timeout=1s"}}), 3, "on the cluster 'https://");
  rig.api.server.on(kTokenPath, [](Stream& stream, const Received&) { stream.wait_for_close(); });
  CHECK_FAILURE(rig.run_cold({.arguments = {"--timeout=1s"}}), 3, "on the cluster 'https://");
}

}  // namespace execcred::test
