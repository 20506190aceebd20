// SPDX-License-Identifier: Apache-2.0
// Entra's tokens in the credential cache: one call serves many runs, but only one identity.
#include "cloud.hpp"
#include "rights.hpp"
#include "support/claim_changes.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace execcred::test {
namespace {

constexpr const char* kWorkload = "workload";
constexpr const char* kImdsEndpoint = "IMDS";
constexpr const char* kApp = "App Service";

Ask ask_of(const Cloud& cloud, std::string_view how) {
  if (how == kWorkload) return {.variables = cloud.workload_variables()};
  return {.arguments = {"--identity=managed"},
          .variables = how == kApp ? cloud.app_service_variables() : cloud.imds_variables()};
}

void replace(Texts& texts, const std::string& start, const std::string& text) {
  std::erase_if(texts, [&](const std::string& old) { return old.starts_with(start); });
  texts.push_back(text);
}

}  // namespace

TEST_CASE("the second run is served without a call, for another cluster too") {
  for (const std::string_view how : {kWorkload, kImdsEndpoint, kApp}) {
    CAPTURE(how);
    const Cloud cloud;
    Ask ask = ask_of(cloud, how);
    const std::string token = token_of(cloud.run(ask));
    ask.server = "https://spoke-2.example.com";
    CHECK(token_of(cloud.run(ask)) == token);
    CHECK(cloud.calls() == 1);
  }
}

TEST_CASE("a renewed federated token finds the entry, one of another account does not") {
  const Cloud cloud;
  const Ask ask = ask_of(cloud, kWorkload);
  const std::string first = token_of(cloud.run(ask));
  cloud.set_federated(service_account_token("ns:app") + "\n");
  CHECK(token_of(cloud.run(ask)) == first);
  CHECK(cloud.calls() == 1);
  const std::string others = service_account_token("ns:other");
  cloud.set_federated(others);
  CHECK(token_of(cloud.run(ask)) != first);
  CHECK(cloud.calls() == 2);
  CHECK(cloud.last_post().field("client_assertion") == others);
}

TEST_CASE("each claim of the federated token is part of the identity") {
  const Cloud cloud;
  Ask ask = ask_of(cloud, kWorkload);
  check_that_claims_are_identity([&](const std::string& claims) {
    const std::size_t before = cloud.calls();
    cloud.set_federated(blackbox::make_jwt(claims));
    ask.server = next_server();
    CHECK_SUCCESS(cloud.run(ask));
    return static_cast<int>(cloud.calls() - before);
  });
}

TEST_CASE("a cached token is served after its federated token has expired, but not without one") {
  const Cloud cloud;
  const Ask ask = ask_of(cloud, kWorkload);
  const std::string first = token_of(cloud.run(ask));
  cloud.set_federated(service_account_token("ns:app", -60));
  CHECK(token_of(cloud.run(ask)) == first);
  cloud.set_federated("");
  CHECK_FAILURE(cloud.run(ask), 1, "the token is empty");
  CHECK(cloud.calls() == 1);
}

// Azure/kubelogin#137: a token that was cached for one identity came back for another.
TEST_CASE("two identities are never mixed up, in any order (Azure/kubelogin#137)") {
  const Cloud cloud;
  const auto as = [&](const std::string& kind, const std::string& client) {
    Ask ask = ask_of(cloud, kind);
    ask.arguments.push_back("--client-id=" + client);
    return token_of(cloud.run(ask));
  };
  std::vector<std::pair<std::string, std::string>> identities;
  for (const char* kind : {kWorkload, kImdsEndpoint, kApp}) {
    for (const char* client : {kClient, kOtherClient}) identities.emplace_back(kind, client);
  }
  Texts tokens;
  for (const auto& [kind, client] : identities) tokens.push_back(as(kind, client));
  Texts distinct = tokens;
  std::sort(distinct.begin(), distinct.end());
  CHECK(std::unique(distinct.begin(), distinct.end()) == distinct.end());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = identities.size(); i-- > 0;) {
      CHECK(as(identities[i].first, identities[i].second) == tokens[i]);
    }
  }
  CHECK(cloud.calls() == identities.size());
}

TEST_CASE("workload: each changed input selects another entry, and the first entry stays") {
  const Cloud cloud;
  const Ask base = ask_of(cloud, kWorkload);
  const std::string first = token_of(cloud.run(base));
  const std::string port = cloud.entra.url().substr(cloud.entra.url().rfind(':'));
  std::vector<Ask> changed(8, base);
  replace(changed[0].variables, "AZURE_CLIENT_ID", std::string("AZURE_CLIENT_ID=") + kOtherClient);
  replace(changed[1].variables, "AZURE_TENANT_ID", std::string("AZURE_TENANT_ID=") + kOtherTenant);
  changed[2].arguments = {"--server-id=api://other"};
  replace(changed[3].variables, "AZURE_FEDERATED_TOKEN_FILE",
          "AZURE_FEDERATED_TOKEN_FILE=" + cloud.sandbox.write("copy", cloud.federated));
  changed[4].arguments = {"--ca-file=" + cloud.sandbox.write("ca2.pem", cloud.entra.ca_pem())};
  changed[5].arguments = {std::string("--allow-tenant=") + kOtherTenant};
  changed[5].config = std::string(R"({"tenantId":")") + kOtherTenant + "\"}";
  changed[6].arguments = {"--server-id=api://another"};
  changed[7].arguments = {std::string("--client-id=") + kOtherClient, "--server-id=api://other"};
  Texts tokens = {first};
  for (const Ask& ask : changed) tokens.push_back(token_of(cloud.run(ask)));
  // A tenant from a ClusterProfile and the same tenant from a variable share an entry.
  CHECK(tokens[2] == tokens[6]);
  tokens.erase(tokens.begin() + 6);
  std::sort(tokens.begin(), tokens.end());
  CHECK(std::unique(tokens.begin(), tokens.end()) == tokens.end());
  CHECK(token_of(cloud.run(base)) == first);
  CHECK(cloud.calls() == 8);
}

TEST_CASE("workload: another authority is another entry") {
  Cloud cloud;
  ScriptedServer other;
  other.on(token_path(kTenant), reply(200, token_reply("from-another-cloud")));
  const std::string both = cloud.sandbox.write("both.pem", cloud.entra.ca_pem() + other.ca_pem());
  Ask ask = ask_of(cloud, kWorkload);
  ask.arguments = {"--ca-file=" + both};
  const std::string first = token_of(cloud.run(ask));
  replace(ask.variables, "AZURE_AUTHORITY_HOST", "AZURE_AUTHORITY_HOST=" + other.url());
  CHECK(token_of(cloud.run(ask)) == "from-another-cloud");
  replace(ask.variables, "AZURE_AUTHORITY_HOST", "AZURE_AUTHORITY_HOST=" + cloud.entra.url());
  CHECK(token_of(cloud.run(ask)) == first);
}

TEST_CASE("IDs that differ in letter case alone select the same entry") {
  const Cloud cloud;
  Ask ask = ask_of(cloud, kWorkload);
  replace(ask.variables, "AZURE_TENANT_ID", std::string("AZURE_TENANT_ID=") + kOtherTenant);
  const std::string first = token_of(cloud.run(ask));
  replace(ask.variables, "AZURE_TENANT_ID", "AZURE_TENANT_ID=AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE");
  CHECK(token_of(cloud.run(ask)) == first);
  CHECK(cloud.calls() == 1);
}

TEST_CASE("managed: another identity, endpoint, audience or password selects another entry") {
  const Cloud cloud;
  const Ask imds = ask_of(cloud, kImdsEndpoint);
  const Ask app = ask_of(cloud, kApp);
  std::vector<Ask> asks = {imds, imds, imds, imds, imds, app, app};
  asks[1].arguments.push_back(std::string("--client-id=") + kClient);
  asks[2].arguments.push_back(std::string("--identity-object-id=") + kClient);
  asks[3].arguments.emplace_back("--identity-resource-id=/subscriptions/a");
  asks[4].arguments.emplace_back("--server-id=api://other");
  const std::string other_header = "an0therAppsPasswordForItsPlatform";
  blackbox::remember_secret(other_header);
  replace(asks[6].variables, "IDENTITY_HEADER", "IDENTITY_HEADER=" + other_header);
  Texts tokens;
  for (const Ask& ask : asks) tokens.push_back(token_of(cloud.run(ask)));
  for (std::size_t i = asks.size(); i-- > 0;) CHECK(token_of(cloud.run(asks[i])) == tokens[i]);
  std::sort(tokens.begin(), tokens.end());
  CHECK(std::unique(tokens.begin(), tokens.end()) == tokens.end());
  CHECK(cloud.calls() == asks.size());
}

TEST_CASE("managed: another endpoint is another entry") {
  const Cloud cloud;
  ScriptedServer other(ScriptedServer::Transport::plain);
  other.on(kImds, reply(200, token_reply("from-another-endpoint")));
  Ask ask = ask_of(cloud, kImdsEndpoint);
  const std::string first = token_of(cloud.run(ask));
  ask.variables = {"AZURE_POD_IDENTITY_AUTHORITY_HOST=" + other.url()};
  CHECK(token_of(cloud.run(ask)) == "from-another-endpoint");
  CHECK(token_of(cloud.run(ask_of(cloud, kImdsEndpoint))) == first);
  CHECK(cloud.calls() == 1);
}

TEST_CASE("managed: another machine or Pod is another identity, even with the same endpoint") {
  for (const std::string_view how : {kImdsEndpoint, kApp}) {
    CAPTURE(how);
    const Cloud cloud;
    const Ask ask = ask_of(cloud, how);
    const std::string here = token_of(cloud.run(ask));
    const std::optional<Outcome> elsewhere = blackbox::run_on_another_host(cloud.command(ask));
    if (!elsewhere) return;
    CHECK(token_of(*elsewhere) != here);
    CHECK(token_of(cloud.run(ask)) == here);
    CHECK(cloud.calls() == 2);
  }
}

TEST_CASE("workload: the machine is not part of the identity") {
  const Cloud cloud;
  const Ask ask = ask_of(cloud, kWorkload);
  const std::string here = token_of(cloud.run(ask));
  const std::optional<Outcome> elsewhere = blackbox::run_on_another_host(cloud.command(ask));
  if (elsewhere) CHECK(token_of(*elsewhere) == here);
}

TEST_CASE("no cache file holds an input secret, and the list of entries shows no secret") {
  const Cloud cloud;
  for (const std::string_view how : {kWorkload, kApp}) {
    CHECK_SUCCESS(cloud.run(ask_of(cloud, how)));
  }
  const Outcome list = blackbox::run({.arguments = {EXECCRED_BIN "/execcred", "cache", "list",
                                                    "--cache-dir=" + cloud.cache_path}});
  CHECK(list.exit_code == 0);
  CHECK(list.output.find(std::string(kClient) + " of " + kTenant) != std::string::npos);
  CHECK(list.output.find("the machine's managed identity") != std::string::npos);
  CHECK(blackbox::secret_in(list.output) == "");
  for (const auto& file : std::filesystem::directory_iterator(cloud.cache_path)) {
    const std::string text = blackbox::read_text(file.path());
    CHECK(text.find(cloud.federated) == std::string::npos);
    CHECK(text.find(cloud.header) == std::string::npos);
  }
}

TEST_CASE("20 runs at once with an empty cache make one call") {
  for (const std::string_view how : {kWorkload, kImdsEndpoint}) {
    CAPTURE(how);
    const Cloud cloud;
    const blackbox::Command command = cloud.command(ask_of(cloud, how));
    std::vector<std::unique_ptr<blackbox::Child>> children;
    children.reserve(20);
    for (int i = 0; i < 20; ++i) children.push_back(std::make_unique<blackbox::Child>(command));
    for (const auto& child : children) CHECK_SUCCESS(child->wait());
    CHECK(cloud.calls() == 1);
  }
}

TEST_CASE("while Entra is down a valid token is served, also in its refresh window") {
  Cloud cloud;
  Ask ask = ask_of(cloud, kWorkload);
  const std::string first = token_of(cloud.run(ask));
  cloud.entra_answers("", 503);
  CHECK(token_of(cloud.run(ask)) == first);
  ask.arguments = {"--refresh-before=55m"};
  CHECK(token_of(cloud.run(ask)) == first);
}

TEST_CASE("a refusal is remembered for a short time, for its identity only") {
  Cloud cloud;
  cloud.entra_answers(entra_error("700016", "unauthorized_client", "no"), 400);
  const Ask ask = ask_of(cloud, kWorkload);
  for (int i = 0; i < 5; ++i)
    CHECK_FAILURE(cloud.run(ask), 1, "answered 400 with the error 'unauthorized_client'");
  CHECK(cloud.calls() == 1);
  Ask other = ask;
  other.arguments = {std::string("--tenant-id=") + kOtherTenant};
  CHECK_SUCCESS(cloud.run(other));
}

TEST_CASE("--no-cache writes no cache, and calls Entra in each run") {
  const Cloud cloud;
  Ask ask = ask_of(cloud, kWorkload);
  ask.arguments = {"--no-cache"};
  CHECK(token_of(cloud.run(ask)) != token_of(cloud.run(ask)));
  CHECK(cloud.calls() == 2);
  CHECK_FALSE(std::filesystem::exists(cloud.cache_path));
}

}  // namespace execcred::test
