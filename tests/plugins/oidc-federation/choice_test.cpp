// SPDX-License-Identifier: Apache-2.0
// A ClusterProfile may choose a client ID, but only one that the mapping allows.
#include "federation.hpp"
#include "support/choice_escapes.hpp"
#include "support/claim_changes.hpp"

#include <doctest/doctest.h>

#include <set>

namespace execcred::test {
namespace {

const std::string kAllowed = "--allow-client-id=fleet-*";

std::string choosing(const std::string& client) {
  return R"({"clientId":)" + blackbox::json_string(client) + "}";
}

}  // namespace

TEST_CASE("choice: a field or an argument names the client, where the mapping allows it") {
  Federation fed;
  for (const std::string flow : {"token-exchange", "jwt-bearer"}) {
    for (const Ask& ask :
         {Ask{.flow = flow, .arguments = {kAllowed}, .config = choosing("fleet-a")},
          Ask{.flow = flow, .arguments = {kAllowed, "--from-profile", "--client-id=fleet-a"}}}) {
      CHECK_SUCCESS(fed.run_cold(ask));
      CHECK(fed.idp.last(kToken).field("client_id") == "fleet-a");
    }
  }
}

TEST_CASE("choice: a ClusterProfile may name the client that authenticates, which is required") {
  Federation fed;
  const std::string secret = fed.sandbox.write("secret", new_secret());
  const Texts arguments = {kAllowed, "--client-secret-file=" + secret};
  for (const Texts& more : {Texts{}, Texts{"--client-auth=client_secret_post"}}) {
    const Texts all = arguments + more;
    CHECK_SUCCESS(fed.run_cold(
        {.flow = "client-credentials", .arguments = all, .config = choosing("fleet-a")}));
    const std::size_t calls = fed.idp.calls();
    CHECK_REFUSAL(fed.run_cold({.flow = "client-credentials", .arguments = all}), 2,
                  "needs --client-id");
    CHECK(fed.idp.calls() == calls);
  }
  CHECK(fed.idp.last(kToken).field("client_id") == "fleet-a");
}

TEST_CASE("choice: without cluster information, the hint is provideClusterInfo: true") {
  const Federation fed;
  const std::string secret = fed.sandbox.write("secret", new_secret());
  for (const Texts& more : {Texts{}, Texts{"--client-auth=client_secret_post"}}) {
    const Texts all = Texts{kAllowed, "--client-secret-file=" + secret} + more;
    const Outcome outcome =
        fed.run_cold({.flow = "client-credentials", .arguments = all, .server = ""});
    CHECK_REFUSAL(outcome, 2, "needs --client-id");
    CHECK(blackbox::says(outcome, "\n  hint: set provideClusterInfo: true where the client runs"));
  }
}

TEST_CASE("choice: without a pattern it exits with 2, without a match with 1, and calls nothing") {
  Federation fed;
  CHECK_REFUSAL(fed.run({.config = choosing("fleet-a")}), 2, "there is no --allow-client-id");
  CHECK_REFUSAL(
      fed.run({.variables = {"EXECCRED_ALLOW_CLIENT_ID=fleet-*"}, .config = choosing("fleet-a")}),
      2, "there is no --allow-client-id");
  CHECK_REFUSAL(fed.run({.arguments = {kAllowed}, .config = choosing("other")}), 1,
                "spec.cluster.config.clientId 'other' matches no --allow-client-id");
  CHECK_REFUSAL(fed.run({.arguments = {kAllowed, "--from-profile", "--client-id=other"}}), 1,
                "--client-id behind --from-profile 'other' matches no --allow-client-id");
  for (const std::string bad : {"*", "any", "a*b"}) {
    CHECK_REFUSAL(fed.run({.arguments = {"--allow-client-id=" + bad}}), 2, "is no pattern");
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("choice: a client other than the mapping's own is refused, the same one is accepted") {
  Federation fed;
  for (const Ask& ask :
       {Ask{.arguments = {"--client-id=own", kAllowed}, .config = choosing("fleet-a")},
        Ask{.arguments = {"--client-id=own", kAllowed, "--from-profile", "--client-id=fleet-a"}},
        Ask{.arguments = {kAllowed},
        .variables = {"EXECCRED_CLIENT_ID=own"},
        .config = choosing("fleet-a")},
        Ask{.arguments = {kAllowed, "--from-profile", "--client-id=fleet-a"},
        .variables = {"EXECCRED_CLIENT_ID=own"}}}) {
    CHECK_REFUSAL(fed.run(ask), 1, "differs from");
  }
  CHECK(fed.idp.connections() == 0);
  CHECK_SUCCESS(fed.run({.arguments = {"--client-id=own"}, .config = choosing("own")}));
}

TEST_CASE("choice: a flow without a token server ignores the field, and refuses the option") {
  Federation fed;
  CHECK_SUCCESS(fed.run({.flow = "pass-through", .config = choosing("fleet-a")}));
  CHECK_REFUSAL(
      fed.run({.flow = "pass-through", .arguments = {"--from-profile", "--client-id=fleet-a"}}), 2,
      "--client-id");
  CHECK_REFUSAL(fed.run({.flow = "pass-through", .arguments = {kAllowed}}), 2,
                "--allow-client-id has no use");
}

TEST_CASE("choice: one mapping entry serves 50 clients, and none gets the token of another") {
  Federation fed;
  Texts tokens;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) {
      const std::string client = "fleet-" + std::to_string(i);
      const Outcome outcome =
          fed.run({.arguments = {kAllowed}, .server = next_server(), .config = choosing(client)});
      CHECK_SUCCESS(outcome);
      if (round == 0) CHECK(fed.idp.last(kToken).field("client_id") == client);
      if (round == 0) tokens.push_back(token_of(outcome));
      CHECK(token_of(outcome) == tokens[static_cast<std::size_t>(i)]);
    }
  }
  CHECK(fed.idp.calls() == 50);
  CHECK(std::set<std::string>(tokens.begin(), tokens.end()).size() == 50);
}

TEST_CASE("choice: a client outside the patterns gets no token, however it is written") {
  Federation fed;
  const Texts others = {"fleet", "fleet_a", "fleets-a", "fleet-a:b c", "Fleet-A"};
  const Texts allowed = {kAllowed, "--allow-client-id=fleet-a"};
  for (const ChoiceEscape& escape : choice_escapes("fleet-a", "fleet-", others)) {
    CAPTURE(escape.json);
    CHECK(problem_of_escape(
              fed.run({.arguments = allowed, .config = R"({"clientId":)" + escape.json + "}"}),
              "spec.cluster.config.clientId") == "");
    if (escape.argument.empty()) continue;
    CHECK(problem_of_escape(
              fed.run({.arguments =
                           allowed + Texts{"--from-profile", "--client-id=" + escape.argument}}),
              "--client-id") == "");
  }
  CHECK(fed.idp.connections() == 0);
}

}  // namespace execcred::test
