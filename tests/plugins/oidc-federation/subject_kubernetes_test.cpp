// SPDX-License-Identifier: Apache-2.0
// Subject tokens from TokenRequests to the hub.
#include "entry_file.hpp"
#include "federation.hpp"
#include "support/claim_changes.hpp"

#include <doctest/doctest.h>

#include <set>

namespace execcred::test {
namespace {

constexpr const char* kPath = "/api/v1/namespaces/fleet/serviceaccounts/spoke-1/token";

// A hub whose TokenRequests give the subject's token, and a kubeconfig for it.
struct Hub {
  ScriptedServer server;
  Federation fed;
  std::string own_token = blackbox::make_jwt(
      R"({"iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:fleet:spoke-1",)"
      R"("aud":["https://kubernetes.default.svc"],"exp":)" +
      std::to_string(blackbox::seconds_since_epoch() + 3600) + "}");
  std::string made = new_subject();

  Hub() {
    blackbox::remember_secret(own_token);
    give(made);
  }

  void give(const std::string& token) {
    server.on(kPath, reply(201, R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
                                R"("status":{"token":")" +
                                    token + R"(","expirationTimestamp":"2036-01-01T00:00:00Z"}})"));
  }

  std::string kubeconfig(const std::string& token) const {
    return fed.sandbox.write(
        "hub.kubeconfig",
        "clusters: [{name: h, cluster: {server: '" + server.url() +
            "', certificate-authority-data: " + blackbox::base64(server.ca_pem()) +
            "}}]\nusers: [{name: u, user: {token: " + token +
            "}}]\ncontexts: [{name: c, context: {cluster: h, user: u}}]\ncurrent-context: c\n",
        0600);
  }

  Ask ask(Texts more = {}) const {
    return {
        .arguments = Texts{"--subject=kubernetes", "--kubeconfig=" + kubeconfig(own_token)} + more,
        .has_subject = false};
  }
};

}  // namespace

TEST_CASE("kubernetes: a TokenRequest with the audience, for the account that is named") {
  Hub hub;
  CHECK_SUCCESS(
      hub.fed.run(hub.ask({"--service-account=fleet/spoke-1", "--subject-audience=server"})));
  CHECK(hub.fed.idp.last(kToken).field("subject_token") == hub.made);
  const Received asked = hub.server.last(kPath);
  CHECK(asked.method == "POST");
  CHECK(asked.header("Authorization") == "Bearer " + hub.own_token);
  CHECK(asked.header("Content-Type") == "application/json");
  CHECK(blackbox::json_at(asked.body, "apiVersion") == "authentication.k8s.io/v1");
  CHECK(blackbox::json_at(asked.body, "kind") == "TokenRequest");
  CHECK(blackbox::json_at(asked.body, "spec.audiences") == R"(["server"])");
}

TEST_CASE("kubernetes: without --service-account, the identity's own account is used") {
  Hub hub;
  CHECK_SUCCESS(hub.fed.run(hub.ask({"--subject-audience=server"})));
  CHECK(hub.server.count(kPath) == 1);
  const std::string nobody = new_secret();
  Ask ask = hub.ask({"--subject-audience=server"});
  hub.kubeconfig(nobody);
  CHECK_REFUSAL(hub.fed.run_cold(ask), 2, "--service-account");
}

TEST_CASE("kubernetes: a 403 shows the RBAC rule that is missing") {
  Hub hub;
  hub.server.on(kPath, reply(403, R"({"kind":"Status","status":"Failure","reason":"Forbidden",)"
                                  R"("message":"serviceaccounts \"spoke-1\" is forbidden"})"));
  CHECK_REFUSAL(hub.fed.run(hub.ask({"--subject-audience=server"})), 1,
                "verbs [create] on resources [serviceaccounts/token], resourceNames [spoke-1], "
                "bound in namespace 'fleet'");
  CHECK(hub.fed.idp.connections() == 0);
}

TEST_CASE("kubernetes: a token that is invalid, expired or for another audience is not sent") {
  Hub hub;
  const Ask ask = hub.ask({"--subject-audience=server"});
  for (const std::string& token :
       {new_subject(-60), std::string("opaque"), std::string(), std::string("two words"),
        blackbox::make_jwt(R"({"iss":"a","sub":"b","aud":["other"],"exp":9999999999})")}) {
    CAPTURE(token);
    hub.give(token);
    CHECK_FAILURE(hub.fed.run_cold(ask), 1, "the subject token");
  }
  hub.server.on(kPath, reply(500, ""));
  Ask impatient = ask;
  impatient.arguments.emplace_back("--timeout=2s");
  CHECK_FAILURE(hub.fed.run_cold(impatient), 3, "the hub answered 500 Internal Server Error");
  CHECK(hub.fed.idp.connections() == 0);
}

TEST_CASE("kubernetes: the hub's Retry-After holds for the next runs") {
  Hub hub;
  const Ask ask = hub.ask({"--subject-audience=server"});
  hub.server.on(kPath, reply(429, "", "Retry-After: 200\r\n"));
  CHECK_FAILURE(hub.fed.run(ask), 3, "the hub answered 429");
  const std::size_t calls = hub.server.count(kPath);
  age_failure(hub.fed.cache_path, std::chrono::seconds(100));
  CHECK_FAILURE(hub.fed.run(ask), 3, "the hub answered 429");
  CHECK(hub.server.count(kPath) == calls);
}

TEST_CASE("kubernetes: each claim of the hub's own token counts for the credential") {
  Hub hub;
  hub.kubeconfig("unused, tokenFile: hub-token");
  Ask ask = {.arguments = {"--subject=kubernetes", "--subject-audience=server",
                           "--service-account=fleet/spoke-1",
                           "--kubeconfig=" + hub.fed.sandbox.at("hub.kubeconfig")},
             .has_subject = false};
  check_that_claims_are_identity([&](const std::string& claims) {
    const std::size_t before = hub.fed.idp.calls();
    hub.fed.sandbox.write("hub-token", blackbox::make_jwt(claims), 0600);
    ask.server = next_server();
    CHECK_SUCCESS(hub.fed.run(ask));
    return static_cast<int>(hub.fed.idp.calls() - before);
  });
}

TEST_CASE(
    "kubernetes: names that Kubernetes does not allow are an error, and the hub is not called") {
  Hub hub;
  for (const std::string name : {"spoke-1", "a/b/c", "../x/y", "A/b", "a/", "/b", "a/b?x=y"}) {
    CAPTURE(name);
    CHECK_FAILURE(hub.fed.run(hub.ask(
                      {"--subject-audience=server", "--service-account=" + std::string(name)})),
                  2, "is no NAMESPACE/NAME of a service account");
  }
  CHECK(hub.server.connections() == 0);
}

TEST_CASE("kubernetes: accounts, audiences and identities at the hub never share a credential") {
  Hub hub;
  hub.server.on("/api/v1/namespaces/fleet/serviceaccounts/spoke-2/token",
                reply(201, R"({"kind":"TokenRequest","status":{"token":")" + hub.made + "\"}}"));
  const std::string first = "--service-account=fleet/spoke-1";
  std::set<std::string> tokens;
  const std::vector<Texts> all = {{"--subject-audience=server"},
                                  {"--subject-audience=server", first},
                                  {"--subject-audience=server", "--service-account=fleet/spoke-2"}};
  for (const Texts& more : all) tokens.insert(token_of(hub.fed.run(hub.ask(more))));
  const Ask same = hub.ask(all[1]);
  hub.kubeconfig(new_subject());
  tokens.insert(token_of(hub.fed.run(same)));
  // The kubeconfig stays the same, and the token in its tokenFile changes.
  hub.kubeconfig("unused, tokenFile: hub-token");
  for (const std::string account : {"a", "b", "b"}) {
    const std::string token = blackbox::make_jwt(
        R"({"iss":"i","sub":"system:serviceaccount:fleet:)" + account + R"(","exp":)" +
        std::to_string(blackbox::seconds_since_epoch() + 3600) + "}");
    blackbox::remember_secret(token);
    hub.fed.sandbox.write("hub-token", token, 0600);
    tokens.insert(token_of(hub.fed.run(same)));
  }
  MESSAGE("cross-hits of service accounts: " << 6 - tokens.size() << "/6");
  CHECK(tokens.size() == 6);
  CHECK(tokens.count("") == 0);
  hub.fed.idp.forget();
  for (const Texts& more : all) CHECK(tokens.count(token_of(hub.fed.run(hub.ask(more)))) == 1);
  CHECK(hub.fed.idp.requests().empty());
}

}  // namespace execcred::test
