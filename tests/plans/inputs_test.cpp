// SPDX-License-Identifier: Apache-2.0
// Whatever a plan reads is a part of the cache's key: in each plugin, each option, variable, file,
// claim and field of the cluster is changed alone.
#include "cases.hpp"

#include "support/claim_changes.hpp"

#include <execcred/base/encoding.hpp>
#include <list.hpp>

#include <doctest/doctest.h>

#include <iostream>
#include <set>

using namespace execcred;
using namespace execcred::test;

namespace {

// The key must change, unless the case says why not.
void check(const Planned& before, const Planned& after, const Input& input) {
  CAPTURE(input.name);
  REQUIRE_MESSAGE(after.error.empty(), after.error);
  if (input.same_because.empty()) {
    CHECK(before.key != after.key);
  } else {
    CHECK(before.key == after.key);
  }
}

std::string signed_as_jwt(const json::Value& claims) {
  return std::string(encode_base64url(R"({"alg":"RS256"})").reveal()) + "." +
         std::string(encode_base64url(json::to_text(claims)).reveal()) + ".c2lnbmF0dXJl";
}

}  // namespace

TEST_SUITE_BEGIN("plans");

TEST_CASE("plan: each input that is changed alone gives another key, or says why it does not") {
  for (const PlanCase& plan_case : plan_cases()) {
    CAPTURE(plan_case.plugin);
    CAPTURE(plan_case.name);
    PlanRig rig(plan_case);
    const Planned before = rig.plan();
    REQUIRE_MESSAGE(before.error.empty(), before.error);
    CHECK(before.is_kept == plan_case.is_kept);
    CHECK(rig.plan().key == before.key);
    for (std::size_t i = 0; i < plan_case.options.size(); ++i) {
      const Input& option = plan_case.options[i];
      check(before, rig.plan_with_option(i, option.other), option);
    }
    for (std::size_t i = 0; i < plan_case.variables.size(); ++i) {
      const Input& variable = plan_case.variables[i];
      check(before, rig.plan_with_variable(i, variable.other), variable);
    }
    for (std::size_t i = 0; i < plan_case.files.size(); ++i) {
      const Input& file = plan_case.files[i];
      check(before, rig.plan_with_file(i, file.other), file);
    }
  }
}

// A file that is read again with the request could hold another identity than the key has.
TEST_CASE("plan: each file is read once, before the key is made, and the request has its content") {
  for (const PlanCase& plan_case : plan_cases()) {
    if (!plan_case.is_kept || plan_case.files.empty()) continue;
    CAPTURE(plan_case.plugin);
    CAPTURE(plan_case.name);
    PlanRig rig(plan_case);
    const Planned asked = rig.ask_without_files();
    CHECK(asked.is_kept);
    CHECK(asked.error != "");
    CHECK_MESSAGE(asked.error.find("cannot read '" + rig.folder()) == std::string::npos,
                  asked.error);
  }
}

TEST_CASE("plan: a field of the cluster counts where the credential is of one cluster") {
  for (const PlanCase& plan_case : plan_cases()) {
    CAPTURE(plan_case.plugin);
    CAPTURE(plan_case.name);
    PlanRig rig(plan_case);
    const std::string before = rig.plan().key;
    for (const ClientCluster& other : {ClientCluster{.server = "https://spoke-2.example.com:6443"},
                                       ClientCluster{.tls_server_name = "other.example.com"},
                                       ClientCluster{.proxy_url = "http://proxy.example.com:3128"},
                                       ClientCluster{.ca = "b3RoZXI="}}) {
      const Planned after = rig.plan(other);
      REQUIRE_MESSAGE(after.error.empty(), after.error);
      CHECK((after.key != before) == plan_case.counts_cluster);
    }
  }
}

TEST_CASE("plan: of a token in a file, all claims count but those of one token alone") {
  const Result<json::Value> claims = json::parse(kClaims);
  REQUIRE(claims.has_value());
  int cases = 0;
  for (const PlanCase& plan_case : plan_cases()) {
    if (plan_case.token_file.empty()) continue;
    ++cases;
    CAPTURE(plan_case.plugin);
    CAPTURE(plan_case.name);
    std::size_t index = 0;
    while (plan_case.files[index].name != plan_case.token_file) ++index;
    PlanRig rig(plan_case);
    const std::string before = rig.plan_with_file(index, signed_as_jwt(*claims)).key;
    for (const ClaimChange& change : changes_of(*claims, "")) {
      CAPTURE(change.what);
      const Planned after = rig.plan_with_file(index, signed_as_jwt(change.claims));
      REQUIRE_MESSAGE(after.error.empty(), after.error);
      CHECK((after.key == before) == is_same_identity(change.what));
    }
  }
  CHECK(cases == 4);
}

TEST_CASE("plan: no key holds a secret of an option or a variable") {
  for (const PlanCase& plan_case : plan_cases()) {
    PlanRig rig(plan_case);
    const std::string key = rig.plan().key;
    for (const char* const secret : {"tenant=1", "X-Key=1", "x=1", "job-1", "AKIAEXAMPLE"}) {
      CAPTURE(secret);
      CHECK(key.find(secret) == std::string::npos);
    }
  }
}

TEST_CASE("plan: every plugin has a case, and every option that does not count says why") {
  std::set<std::string> with_case;
  for (const PlanCase& plan_case : plan_cases()) with_case.insert(plan_case.plugin);
  for (const PluginDefinition& plugin : all_plugins()) {
    const std::string name(plugin.info.name);
    CHECK_MESSAGE(with_case.count(name) == 1, name);
    OptionSet options;
    plugin.make()->add_options(options);
    for (const Option& option : options.all()) {
      if (option.not_identity.empty()) continue;
      std::cout << name << " " << option.flag() << ": " << option.not_identity << "\n";
    }
  }
}
