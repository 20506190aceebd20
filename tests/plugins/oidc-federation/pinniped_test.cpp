// SPDX-License-Identifier: Apache-2.0
// The cluster's Concierge gives a credential for the subject token.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace execcred::test {
namespace {

constexpr const char* kPath = "/apis/login.concierge.pinniped.dev/v1alpha1/tokencredentialrequests";

std::string credential_reply(const std::string& members) {
  return reply(201, R"({"kind":"TokenCredentialRequest","apiVersion":)"
                    R"("login.concierge.pinniped.dev/v1alpha1","metadata":{},"spec":{},)"
                    R"("status":{"credential":{)" +
                        members + "}}}");
}

struct Concierge {
  Federation fed;
  ScriptedServer server;
  std::string ca_path = fed.sandbox.write("concierge-ca.pem", server.ca_pem());

  Ask ask(Texts more = {}) const {
    return {.flow = "pinniped",
            .arguments =
                Texts{"--concierge-authenticator-type=jwt", "--concierge-authenticator-name=my-idp",
                      "--concierge-endpoint=" + server.url(), "--concierge-ca-file=" + ca_path} +
                more};
  }
  // The Concierge is on the cluster's own server, as usual.
  Ask ask_cluster(Texts more) const {
    return {.flow = "pinniped",
            .arguments = Texts{"--concierge-authenticator-type=webhook",
                               "--concierge-authenticator-name=my-idp"} +
                         more,
            .server = server.url(),
            .more_of_cluster = ",\"certificate-authority-data\":" +
                               blackbox::json_string(blackbox::base64(server.ca_pem()))};
  }
  void give_token(const std::string& token, std::int64_t seconds = 3600) {
    server.on(kPath, credential_reply(R"("token":")" + token + R"(","expirationTimestamp":")" +
                                      timestamp(seconds) + "\""));
  }
};

}  // namespace

TEST_CASE("pinniped: exactly one TokenCredentialRequest, without an Authorization header") {
  Concierge concierge;
  concierge.give_token("by-concierge");
  const Outcome outcome = concierge.fed.run(concierge.ask());
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == "by-concierge");
  CHECK(std::abs(claimed_seconds(outcome) - claim_for(3600)) <= 3);
  REQUIRE(concierge.server.requests().size() == 1);
  const Received sent = concierge.server.last(kPath);
  CHECK(sent.method == "POST");
  CHECK(sent.header("Content-Type") == "application/json");
  CHECK(sent.header("Authorization") == "");
  CHECK(blackbox::json_at(sent.body, "apiVersion") == "login.concierge.pinniped.dev/v1alpha1");
  CHECK(blackbox::json_at(sent.body, "kind") == "TokenCredentialRequest");
  CHECK(blackbox::is_same_json(
      blackbox::json_at(sent.body, "spec"),
      R"({"token":")" + concierge.fed.subject +
          R"(","authenticator":{"apiGroup":"authentication.concierge.pinniped.dev",)"
          R"("kind":"JWTAuthenticator","name":"my-idp"}})"));
}

TEST_CASE("pinniped: a certificate, which lives for minutes") {
  const Identity client = make_identity({.common_name = "somebody", .ends = 300});
  Concierge concierge;
  concierge.server.on(
      kPath, credential_reply(R"("clientCertificateData":)" + blackbox::json_string(client.pem) +
                              R"(,"clientKeyData":)" + blackbox::json_string(client.key_pem) +
                              R"(,"expirationTimestamp":")" + timestamp(300) + "\""));
  for (int run = 0; run < 2; ++run) {
    const Outcome outcome = concierge.fed.run(concierge.ask());
    CHECK_SUCCESS(outcome);
    const blackbox::Answer answer = blackbox::read_answer(outcome.output);
    CHECK(answer.token == "");
    CHECK(answer.certificate == client.pem);
    CHECK(answer.key.find("PRIVATE KEY") != std::string::npos);
    CHECK(std::abs(claimed_seconds(outcome) - claim_for(300)) <= 3);
  }
  CHECK(concierge.server.requests().size() == 1);
}

TEST_CASE("pinniped: a status.message is a failure, even with a successful status code") {
  Concierge concierge;
  const std::string token = concierge.fed.subject;
  for (const int status : {200, 201}) {
    concierge.server.on(kPath, reply(status, R"({"kind":"TokenCredentialRequest","status":)"
                                             R"({"message":"authentication failed for )" +
                                                 token + "\\n\\u001b[1m\"}}"));
    const Outcome outcome = concierge.fed.run_cold(concierge.ask());
    CHECK_REFUSAL(outcome, 1, "authentication failed for");
  }
}

TEST_CASE("pinniped: replies without a usable credential") {
  const Identity one = make_identity({.common_name = "one"});
  const Identity other = make_identity({.common_name = "other"});
  blackbox::remember_secret(other.key_pem);
  const auto pair = [](const std::string& certificate, const std::string& key) {
    return credential_reply(R"("clientCertificateData":)" + blackbox::json_string(certificate) +
                            R"(,"clientKeyData":)" + blackbox::json_string(key));
  };
  Concierge concierge;
  for (const std::string& bytes :
       {credential_reply(""), credential_reply(R"("token":"")"),
        credential_reply(R"("token":"a b")"),
        credential_reply(R"("token":"a","expirationTimestamp":"soon")"),
        credential_reply(R"("token":"a","expirationTimestamp":")" + timestamp(-60) + "\""),
        pair(one.pem, other.key_pem), pair(one.pem, ""), pair("", one.key_pem), pair("x", "y"),
        reply(200, "{}"), reply(200, R"({"status":{}})"), reply(200, "<html>"),
        reply(200, R"({"status":{"credential":{"token":"a","token":"b"}}})"),
        reply(403, R"({"kind":"Status","message":"no"})"), reply(404, "{}"),
        redirect(307, "https://127.0.0.1:1/")}) {
    CAPTURE(bytes);
    concierge.server.on(kPath, bytes);
    CHECK_FAILURE(concierge.fed.run_cold(concierge.ask()), 1, "asking the Concierge at");
  }
  // A credential that has ended is remembered as a failure, as every refusal is.
  concierge.server.on(
      kPath, credential_reply(R"("token":"a","expirationTimestamp":")" + timestamp(-60) + "\""));
  concierge.server.forget();
  CHECK_FAILURE(concierge.fed.run_cold(concierge.ask()), 1, "s credential has ended at");
  CHECK_FAILURE(concierge.fed.run(concierge.ask()), 1, "s credential has ended at");
  CHECK(concierge.server.requests().size() == 1);
  concierge.server.on(kPath, reply(503, "{}"));
  CHECK_FAILURE(concierge.fed.run_cold(concierge.ask({"--timeout=2s"})), 3, "answered 503");
}

TEST_CASE("pinniped: the cluster's own server is called only with --allow-server") {
  Concierge concierge;
  concierge.give_token("by-concierge");
  CHECK_REFUSAL(concierge.fed.run(concierge.ask_cluster({})), 2, "--allow-server");
  CHECK_FAILURE(concierge.fed.run(concierge.ask_cluster({"--allow-server=https://other.example"})),
                1, "matches no --allow-server");
  CHECK(concierge.server.connections() == 0);
  const Texts allowed = {"--allow-server=https://127.0.0.1:*"};
  CHECK(token_of(concierge.fed.run(concierge.ask_cluster(allowed))) == "by-concierge");
  CHECK(blackbox::json_at(concierge.server.last(kPath).body, "spec.authenticator.kind") ==
        "WebhookAuthenticator");
  Ask blind = concierge.ask_cluster({});
  blind.server = "";
  CHECK_REFUSAL(concierge.fed.run(blind), 2, "provideClusterInfo");
}

TEST_CASE("pinniped: a cluster's proxy or unverified TLS does not get the subject token") {
  const ScriptedServer proxy(ScriptedServer::Transport::plain);
  Concierge concierge;
  concierge.give_token("by-concierge");
  Ask ask = concierge.ask_cluster({"--allow-server=https://127.0.0.1:*"});
  const std::string cluster = ask.more_of_cluster;
  ask.more_of_cluster = cluster + ",\"proxy-url\":\"" + proxy.url() + "\"";
  CHECK_FAILURE(concierge.fed.run(ask), 1, "matches no --allow-proxy");
  ask.more_of_cluster = cluster + ",\"insecure-skip-tls-verify\":true";
  CHECK_FAILURE(concierge.fed.run(ask), 1, "spec.cluster.insecure-skip-tls-verify is set");
  CHECK(proxy.connections() == 0);
  CHECK(concierge.server.connections() == 0);
}

TEST_CASE("pinniped: two clusters behind one mapping never share a credential") {
  Concierge one;
  Concierge other;
  one.give_token("of-one");
  other.give_token("of-other");
  // They differ only in the server.
  const std::string both =
      ",\"certificate-authority-data\":" +
      blackbox::json_string(blackbox::base64(one.server.ca_pem() + other.server.ca_pem()));
  const auto token_at = [&](const Concierge& concierge) {
    Ask ask = concierge.ask_cluster({"--allow-server=https://127.0.0.1:*"});
    ask.more_of_cluster = both;
    return token_of(one.fed.run(ask));
  };
  CHECK(token_at(one) == "of-one");
  CHECK(token_at(other) == "of-other");
  CHECK(token_at(one) == "of-one");
  CHECK(one.server.requests().size() == 1);
}

TEST_CASE("pinniped: a ClusterProfile's audience is ignored with a debug message") {
  Concierge concierge;
  concierge.give_token("by-concierge");
  Ask ask = concierge.ask();
  ask.config = R"({"audience":"https://spoke-1.example.com"})";
  CHECK_SUCCESS(concierge.fed.run_cold(ask));
  ask.arguments.emplace_back("--debug");
  CHECK(says(concierge.fed.run_cold(ask),
             "spec.cluster.config.audience is passed over: --flow=pinniped does not use it"));
  ask.arguments.insert(ask.arguments.end(), {"--from-profile", "--audience=x"});
  CHECK_REFUSAL(concierge.fed.run_cold(ask), 2, "--audience stands behind --from-profile");
}

TEST_CASE("pinniped: another API group suffix, names and types are checked") {
  Concierge concierge;
  concierge.server.on("/apis/login.concierge.example.com/v1alpha1/tokencredentialrequests",
                      credential_reply(R"("token":"by-suffix")"));
  CHECK(token_of(concierge.fed.run(concierge.ask({"--concierge-api-group-suffix=example.com"}))) ==
        "by-suffix");
  for (const Texts& more :
       {Texts{"--concierge-api-group-suffix=a/b"}, Texts{"--concierge-api-group-suffix=dev"},
        Texts{"--audience=x"}, Texts{"--token-url=https://a.example/"}, Texts{"--scope=x"}}) {
    CAPTURE(more);
    const std::string option = more.front().substr(0, more.front().find('='));
    CHECK_FAILURE(concierge.fed.run_cold(concierge.ask(more)), 2, "error: " + option);
  }
  for (const Texts& arguments :
       {Texts{"--concierge-authenticator-name=x"}, Texts{"--concierge-authenticator-type=jwt"},
        Texts{"--concierge-authenticator-type=saml", "--concierge-authenticator-name=x"},
        Texts{"--concierge-authenticator-type=jwt", "--concierge-authenticator-name=a/b"},
        Texts{"--concierge-authenticator-type=jwt", "--concierge-authenticator-name=x",
              "--concierge-endpoint=http://127.0.0.1"},
        Texts{"--concierge-authenticator-type=jwt", "--concierge-authenticator-name=x",
              "--concierge-endpoint=https://127.0.0.1/?x=y"}}) {
    CAPTURE(arguments);
    CHECK_FAILURE(concierge.fed.run_cold({.flow = "pinniped", .arguments = arguments}), 2,
                  "--concierge-");
  }
}

TEST_CASE("pinniped: a token that is a JWT ends at its own exp, and an invalid one is refused") {
  Concierge concierge;
  for (const std::int64_t seconds : {60, 1800}) {
    concierge.give_token(blackbox::jwt_for(seconds), 3600);
    CHECK(is_about(claimed_seconds(concierge.fed.run_cold(concierge.ask())), claim_for(seconds)));
  }
  concierge.give_token(blackbox::jwt_for(3600), 60);
  CHECK(is_about(claimed_seconds(concierge.fed.run_cold(concierge.ask())), claim_for(60)));
  concierge.server.on(kPath, credential_reply(R"("token":")" + blackbox::jwt_for(60) + "\""));
  CHECK(is_about(claimed_seconds(concierge.fed.run_cold(concierge.ask())), claim_for(60)));
  struct Case {
    std::string token, said;
  };
  const std::string later = std::to_string(blackbox::seconds_since_epoch() + 3600);
  for (const Case& c :
       {Case{blackbox::jwt_for(-3600), "the token has expired: it ended at"},
        Case{blackbox::make_jwt(R"({"exp":"9999999999"})"), "'exp' claim is a string"},
        Case{blackbox::make_jwt(R"({"exp":9999999999,"exp":9999999999})"), "more than once"},
        Case{blackbox::make_jwt(R"({"nbf":)" + later + "}"), "the token is not valid yet"}}) {
    CAPTURE(c.said);
    concierge.give_token(c.token);
    CHECK_FAILURE(concierge.fed.run_cold(concierge.ask()), 1, c.said);
  }
}

TEST_CASE("pinniped: a status.message is a failure, also beside a credential") {
  Concierge concierge;
  const auto saying = [](const std::string& message) {
    return reply(201, R"({"status":{"message":")" + message + R"(","credential":{"token":"a"}}})");
  };
  concierge.server.on(kPath, saying("authentication failed"));
  CHECK_FAILURE(concierge.fed.run_cold(concierge.ask()), 1, "authentication failed");
  concierge.server.on(kPath, saying(""));
  CHECK(token_of(concierge.fed.run_cold(concierge.ask())) == "a");
}

TEST_CASE("pinniped: a member of another type than the API's is an error") {
  Concierge concierge;
  struct Case {
    std::string status;
    std::string told;
  };
  for (const Case& c :
       {Case{R"({"credential":{"token":"a","expirationTimestamp":1700000000}})",
             "status.credential.expirationTimestamp must be a string, not a number"},
        Case{R"({"credential":{"token":5}})", "status.credential.token must be a string"},
        Case{R"({"credential":{"clientCertificateData":{}}})",
             "status.credential.clientCertificateData must be a string, not an object"},
        Case{R"({"credential":"a"})", "status.credential must be an object"},
        Case{R"({"message":5,"credential":{"token":"a"}})", "status.message must be a string"},
        Case{"[]", "status must be an object"}}) {
    CAPTURE(c.status);
    concierge.server.on(kPath, reply(201, R"({"status":)" + c.status + "}"));
    CHECK_FAILURE(concierge.fed.run_cold(concierge.ask()), 1, c.told);
  }
  concierge.server.on(kPath, reply(201, R"({"status":{"message":null,"credential":)"
                                        R"({"token":"a","expirationTimestamp":null}}})"));
  CHECK(token_of(concierge.fed.run_cold(concierge.ask())) == "a");
}

TEST_CASE("pinniped: an end in 2099 is claimed for one day, in each run") {
  constexpr std::int64_t kDay = 24 * 3600;
  const Identity client = make_identity({.common_name = "somebody", .ends = 30 * kDay});
  Concierge concierge;
  const std::string end = R"(,"expirationTimestamp":"2099-01-01T00:00:00Z")";
  for (const std::string& members :
       {R"("token":"a")" + end, R"("clientCertificateData":)" + blackbox::json_string(client.pem) +
                                    R"(,"clientKeyData":)" + blackbox::json_string(client.key_pem) +
                                    end}) {
    CAPTURE(members);
    concierge.fed.clear_cache();
    concierge.server.forget();
    concierge.server.on(kPath, credential_reply(members));
    for (int run = 0; run < 2; ++run) {
      CHECK(is_about(claimed_seconds(concierge.fed.run(concierge.ask())), claim_for(kDay)));
    }
    CHECK(concierge.server.requests().size() == 1);
    Ask ask = concierge.ask({"--no-cache"});
    ask.has_cache = false;
    CHECK(is_about(claimed_seconds(concierge.fed.run(ask)), claim_for(kDay)));
  }
}

}  // namespace execcred::test
