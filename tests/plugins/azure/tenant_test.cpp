// SPDX-License-Identifier: Apache-2.0
// The tenant whose token endpoint is called: the controller's, or one of a ClusterProfile that the
// controller allows.
#include "cloud.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace execcred::test {
namespace {

constexpr const char* kDomain = "contoso.onmicrosoft.com";

enum class From { config, argument };

struct Case {
  std::string flag = {};      // --tenant-id
  std::string variable = {};  // AZURE_TENANT_ID
  std::string profile = {};   // the ClusterProfile's
  Texts allowed = {};
  int exit_code = 0;
  std::string asked = {};  // the tenant that is called
};

Outcome run(const Cloud& cloud, const Case& c, From from) {
  Ask ask = {.arguments = cloud.workload_options()};
  std::erase_if(ask.arguments, [](const std::string& a) { return a.starts_with("--tenant-id"); });
  if (!c.flag.empty()) ask.arguments.push_back("--tenant-id=" + c.flag);
  if (!c.variable.empty()) ask.variables.push_back("AZURE_TENANT_ID=" + c.variable);
  for (const std::string& id : c.allowed) ask.arguments.push_back("--allow-tenant=" + id);
  if (!c.profile.empty() && from == From::config) {
    ask.config = R"({"tenantId":)" + blackbox::json_string(c.profile) + "}";
  }
  if (!c.profile.empty() && from == From::argument) {
    ask.arguments.emplace_back("--from-profile");
    ask.arguments.push_back("--tenant-id=" + c.profile);
  }
  return cloud.run_cold(ask);
}

void check(const Case& c, From from) {
  CAPTURE(c.flag);
  CAPTURE(c.variable);
  CAPTURE(c.profile);
  const Cloud cloud;
  const Outcome outcome = run(cloud, c, from);
  if (c.exit_code == 0) {
    CHECK_SUCCESS(outcome);
    REQUIRE(cloud.calls() == 1);
    CHECK(cloud.entra.requests().front().target == token_path(c.asked));
  } else {
    CHECK_FAILURE(outcome, c.exit_code, "tenant");
    CHECK(cloud.entra.connections() == 0);
  }
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

}  // namespace

TEST_CASE("the controller's tenant is called, and a ClusterProfile may name the same one") {
  for (const From from : {From::config, From::argument}) {
    check({.flag = kTenant, .asked = kTenant}, from);
    check({.variable = kTenant, .asked = kTenant}, from);
    check({.flag = kTenant, .profile = kTenant, .asked = kTenant}, from);
    check({.variable = kTenant, .profile = kTenant, .asked = kTenant}, from);
    check({.flag = kTenant, .variable = kOtherTenant, .asked = kTenant}, from);
    check({.variable = kDomain, .asked = kDomain}, from);
  }
  check({.flag = kOtherTenant, .profile = upper(kOtherTenant), .asked = kOtherTenant},
        From::config);
}

TEST_CASE("a ClusterProfile's tenant that differs is refused, unless it is allowed by its name") {
  for (const From from : {From::config, From::argument}) {
    check({.variable = kTenant, .profile = kOtherTenant, .exit_code = 2}, from);
    check({.variable = kTenant, .profile = kOtherTenant, .allowed = {kDomain}, .exit_code = 1},
          from);
    check({.variable = kTenant,
           .profile = kOtherTenant,
           .allowed = {kDomain, kOtherTenant},
           .asked = kOtherTenant},
          from);
    check({.variable = kTenant,
           .profile = kOtherTenant,
           .allowed = {upper(kOtherTenant)},
           .asked = kOtherTenant},
          from);
  }
  check({.flag = kTenant, .profile = kOtherTenant, .exit_code = 2}, From::config);
  check({.flag = kTenant, .profile = kOtherTenant, .allowed = {kDomain}, .exit_code = 1},
        From::config);
  check(
      {.flag = kTenant, .profile = kOtherTenant, .allowed = {kOtherTenant}, .asked = kOtherTenant},
      From::config);
  // An option before --from-profile cannot be changed after it.
  check({.flag = kTenant, .profile = kOtherTenant, .allowed = {kOtherTenant}, .exit_code = 2},
        From::argument);
}

TEST_CASE("without a tenant of the controller, a ClusterProfile's tenant must be allowed too") {
  for (const From from : {From::config, From::argument}) {
    check({.profile = kTenant, .exit_code = 2}, from);
    check({.profile = kTenant, .allowed = {kOtherTenant}, .exit_code = 1}, from);
    check({.profile = kTenant, .allowed = {kTenant}, .asked = kTenant}, from);
  }
  check({.allowed = {kTenant}, .exit_code = 2}, From::config);
}

TEST_CASE("the refusal names both tenants and the flag that would allow it") {
  const Cloud cloud;
  const Outcome outcome = run(cloud, {.variable = kTenant, .profile = kOtherTenant}, From::config);
  CHECK_REFUSAL(outcome, 2, kOtherTenant);
  CHECK(blackbox::says(outcome, kTenant));
  CHECK(blackbox::says(outcome, std::string("--allow-tenant=") + kOtherTenant));
}

TEST_CASE("--show-config shows the tenant that gets the token, and whose it is") {
  const Cloud cloud;
  const auto shown = [&](const Texts& allowed, Outcome& outcome) {
    Ask ask = {.arguments = cloud.workload_options() + allowed + Texts{"--show-config"},
               .config = std::string(R"({"tenantId":")") + kOtherTenant + "\"}"};
    outcome = cloud.run_cold(ask);
    CHECK(outcome.exit_code == 0);
    return blackbox::shown_setting(outcome.output, "--tenant-id");
  };
  Outcome outcome;
  const std::string of_profile = std::string(kOtherTenant) + " spec.cluster.config.tenantId";
  CHECK(shown({std::string("--allow-tenant=") + kOtherTenant}, outcome) == of_profile);
  CHECK(outcome.error_output == "");
  CHECK(shown({}, outcome) == of_profile);
  CHECK(blackbox::says(outcome, "the ClusterProfile's tenant"));
  CHECK(cloud.entra.connections() == 0);
}

TEST_CASE("--allow-tenant has no variable, and may not come from a ClusterProfile") {
  const Cloud cloud;
  Ask ask = {.variables = cloud.workload_variables() +
                          Texts{std::string("EXECCRED_ALLOW_TENANT=") + kOtherTenant},
             .config = std::string(R"({"tenantId":")") + kOtherTenant + "\"}"};
  CHECK_FAILURE(cloud.run_cold(ask), 2, "the ClusterProfile's tenant 'aaaaaaaa-bbbb-cccc-dddd-");
  ask.config = std::string(R"({"tenantId":")") + kOtherTenant + R"(","allowTenant":")" +
               kOtherTenant + "\"}";
  CHECK_REFUSAL(cloud.run_cold(ask), 2, "allowTenant");
  ask.config.clear();
  ask.arguments = {"--from-profile", std::string("--allow-tenant=") + kOtherTenant};
  CHECK_REFUSAL(cloud.run_cold(ask), 2, "--allow-tenant");
  CHECK(cloud.entra.connections() == 0);
}

TEST_CASE("an invalid tenant is refused from every source: it would become part of the URL path") {
  for (const std::string bad :
       {"common", "organizations", "consumers", "adfs", "../x", "..", "a/b", "a?b", "a b", "a%2fb",
        "contoso..com", ".com", "-a.com", "11111111-2222-3333-4444-55555555555", "a.b/../c",
        "contoso.com#", "contoso.com\\x"}) {
    CAPTURE(bad);
    for (const Case& c :
         {Case{.flag = bad}, Case{.variable = bad}, Case{.flag = kTenant, .profile = bad},
          Case{.profile = bad}, Case{.flag = kTenant, .profile = bad, .allowed = {bad}}}) {
      Case refused = c;
      refused.exit_code = 2;
      check(refused, From::config);
    }
    check({.profile = bad, .exit_code = 2}, From::argument);
  }
}

TEST_CASE(
    "a tenantId of another type is an error, and one that is null or empty counts as missing") {
  const Cloud cloud;
  for (const std::string value : {"7", "true", "{}", "[]", "\"a\\nb\""}) {
    CAPTURE(value);
    CHECK_FAILURE(cloud.run_cold({.arguments = cloud.workload_options(),
                                  .config = R"({"tenantId":)" + value + "}"}),
                  2, "spec.cluster.config.tenantId");
  }
  CHECK_SUCCESS(
      cloud.run_cold({.arguments = cloud.workload_options(), .config = R"({"tenantId":null})"}));
  CHECK_SUCCESS(
      cloud.run_cold({.arguments = cloud.workload_options(), .config = R"({"tenantId":""})"}));
  CHECK_SUCCESS(cloud.run_cold(
      {.arguments = cloud.workload_options(), .config = R"({"TenantId":"x","other":1})"}));
  CHECK(cloud.calls() == 3);
}

TEST_CASE("a ClusterProfile may set no other part of the request") {
  const Cloud cloud;
  const std::string url = cloud.entra.url();
  struct Field {
    std::string name, value;
  };
  for (const Field& field :
       {Field{"allowClientId", kOtherClient}, Field{"authorityHost", url},
        Field{"serverId", "api://other"}, Field{"federatedTokenFile", "/etc/passwd"},
        Field{"identity", "managed"}, Field{"caFile", "/etc/passwd"},
        Field{"identityResourceId", "/subscriptions/x"}, Field{"cacheDir", "/tmp"}}) {
    CAPTURE(field.name);
    std::string config = "{\"" + field.name + "\":";
    config += blackbox::json_string(field.value) + "}";
    CHECK_REFUSAL(
        cloud.run_cold({.arguments = cloud.workload_options(), .config = std::move(config)}), 2,
        field.name);
  }
  for (const std::string& option : Texts{
           "--authority-host=" + url, std::string("--server-id=api://other"),
           std::string("--identity=managed"), std::string("--federated-token-file=/etc/passwd")}) {
    CAPTURE(option);
    CHECK_FAILURE(cloud.run_cold({.arguments = Texts{"--from-profile", option},
                                  .variables = cloud.workload_variables()}),
                  2, "stands behind --from-profile, and may not come from a");
  }
  CHECK(cloud.calls() == 0);
}

TEST_CASE("without cluster information, an allowed choice has the hint provideClusterInfo: true") {
  const Cloud cloud;
  const std::string hint = "\n  hint: set provideClusterInfo: true where the client runs";
  const std::string token_file = "--federated-token-file=" + cloud.federated_path;
  const auto check_hint = [&](const Texts& arguments, const std::string& message, bool is_there) {
    CAPTURE(arguments.back());
    const Outcome outcome = cloud.run_cold({.arguments = arguments, .server = ""});
    CHECK_REFUSAL(outcome, 2, message);
    CHECK(blackbox::says(outcome, hint) == is_there);
  };
  const Texts client = {token_file, std::string("--client-id=") + kClient};
  check_hint(client + Texts{std::string("--allow-tenant=") + kTenant}, "no tenant is set", true);
  check_hint(client, "no tenant is set", false);
  const Texts tenant = {token_file, std::string("--tenant-id=") + kTenant};
  check_hint(tenant + Texts{std::string("--allow-client-id=") + kClient}, "no client id is set",
             true);
  check_hint(tenant, "no client id is set", false);
  CHECK(cloud.entra.connections() == 0);
}

}  // namespace execcred::test
