// SPDX-License-Identifier: Apache-2.0
// A ClusterProfile may choose a client ID, but only one that the mapping allows.
#include "cloud.hpp"
#include "support/choice_escapes.hpp"
#include "support/claim_changes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace execcred::test {
namespace {

const std::string kChosen = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
const std::string kAllowed = "--allow-client-id=" + kChosen;

std::string choosing(const std::string& client) {
  return R"({"clientId":)" + blackbox::json_string(client) + "}";
}

std::string client_of(int number) {
  std::string digits = std::to_string(number);
  return "aaaaaaaa-0000-0000-0000-" + digits.insert(0, 12 - digits.size(), '0');
}

}  // namespace

TEST_CASE("choice: a field or an argument beats AZURE_CLIENT_ID, where the mapping allows it") {
  const Cloud cloud;
  for (const Ask& ask :
       {Ask{.arguments = {kAllowed}, .config = choosing(kChosen)},
        Ask{.arguments = {"--allow-client-id=aaaaaaaa-*"}, .config = choosing(kChosen)},
        Ask{.arguments = {kAllowed, "--from-profile", "--client-id=" + kChosen}}}) {
    Ask with_ambient = ask;
    with_ambient.variables = cloud.workload_variables();
    CHECK_SUCCESS(cloud.run_cold(with_ambient));
    CHECK(cloud.last_post().field("client_id") == kChosen);
  }
  CHECK_SUCCESS(cloud.run_cold({.arguments = {kAllowed}, .variables = cloud.workload_variables()}));
  CHECK(cloud.last_post().field("client_id") == kClient);
}

TEST_CASE("choice: with a managed identity it selects the user-assigned identity") {
  const Cloud cloud;
  const Ask ask = {.arguments = {"--identity=managed", kAllowed},
                   .variables = cloud.imds_variables() + Texts{"AZURE_CLIENT_ID=not-read"},
                   .config = choosing(kChosen)};
  CHECK_SUCCESS(cloud.run_cold(ask));
  const Texts sent = cloud.metadata.last(kImds).parameters();
  CHECK(std::count(sent.begin(), sent.end(), "client_id=" + kChosen) == 1);
}

TEST_CASE("choice: without a pattern it exits with 2, without a match with 1, and calls nothing") {
  const Cloud cloud;
  const Texts ambient = cloud.workload_variables();
  CHECK_REFUSAL(cloud.run({.variables = ambient, .config = choosing(kChosen)}), 2,
                "there is no --allow-client-id");
  CHECK_REFUSAL(cloud.run({.variables = ambient + Texts{"EXECCRED_ALLOW_CLIENT_ID=" + kChosen},
                           .config = choosing(kChosen)}),
                2, "there is no --allow-client-id");
  CHECK_REFUSAL(cloud.run({.arguments = {kAllowed, "--from-profile",
                                         std::string("--client-id=") + kOtherClient},
                           .variables = ambient}),
                1, "matches no --allow-client-id");
  CHECK_REFUSAL(cloud.run({.arguments = {"--allow-client-id=*"}, .variables = ambient}), 2,
                "is no pattern");
  CHECK(cloud.calls() == 0);
}

TEST_CASE("choice: a client other than the mapping's own is refused, the same one is accepted") {
  const Cloud cloud;
  const Texts own = cloud.workload_options();
  CHECK_REFUSAL(cloud.run({.arguments = own + Texts{kAllowed}, .config = choosing(kChosen)}), 1,
                "spec.cluster.config.clientId differs from --client-id");
  CHECK_REFUSAL(
      cloud.run({.arguments = own + Texts{kAllowed, "--from-profile", "--client-id=" + kChosen}}),
      1, "differs from --client-id");
  CHECK(cloud.calls() == 0);
  CHECK_SUCCESS(cloud.run({.arguments = own, .config = choosing(kClient)}));
}

TEST_CASE("choice: one mapping entry serves 50 clients, and none gets the token of another") {
  const Cloud cloud;
  Texts tokens;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i) {
      const Outcome outcome = cloud.run({.arguments = {"--allow-client-id=aaaaaaaa-*"},
                                         .variables = cloud.workload_variables(),
                                         .config = choosing(client_of(i)),
                                         .server = next_server()});
      CHECK_SUCCESS(outcome);
      if (round == 0) tokens.push_back(token_of(outcome));
      if (round == 0) CHECK(cloud.last_post().field("client_id") == client_of(i));
      CHECK(token_of(outcome) == tokens[static_cast<std::size_t>(i)]);
    }
  }
  CHECK(cloud.calls() == 50);
  CHECK(std::set<std::string>(tokens.begin(), tokens.end()).size() == 50);
}

TEST_CASE("choice: Entra's refusal of one client does not affect the next client") {
  Cloud cloud;
  const auto as = [&](const std::string& client) {
    return cloud.run({.arguments = {"--allow-client-id=aaaaaaaa-*"},
                      .variables = cloud.workload_variables(),
                      .config = choosing(client)});
  };
  cloud.entra_answers(entra_error("700016", "unauthorized_client", "no such application"), 400);
  CHECK_REFUSAL(as(client_of(1)), 1, "AADSTS700016");
  cloud.entra_answers(token_reply(new_secret()));
  CHECK_SUCCESS(as(client_of(2)));
}

TEST_CASE("choice: a client outside the patterns gets no token, however it is written") {
  const Cloud cloud;
  const Texts others = {kOtherClient,
                        "{" + kChosen + "}",
                        "urn:uuid:" + kChosen,
                        "api://" + kChosen,
                        kChosen + "@" + kOtherTenant,
                        kChosen.substr(0, 35),
                        "aaaaaaaabbbbccccddddeeeeeeeeeeee"};
  const Texts allowed = {kAllowed, "--allow-client-id=aaaaaaaa-bbbb-*"};
  for (const ChoiceEscape& escape : choice_escapes(kChosen, "aaaaaaaa-bbbb-", others)) {
    CAPTURE(escape.json);
    CHECK(problem_of_escape(cloud.run({.arguments = allowed,
                                       .variables = cloud.workload_variables(),
                                       .config = R"({"clientId":)" + escape.json + "}"}),
                            "spec.cluster.config.clientId") == "");
    if (escape.argument.empty()) continue;
    CHECK(problem_of_escape(
              cloud.run(
                  {.arguments = allowed + Texts{"--from-profile", "--client-id=" + escape.argument},
                   .variables = cloud.workload_variables()}),
              "--client-id") == "");
  }
  CHECK(cloud.calls() == 0);
}

}  // namespace execcred::test
