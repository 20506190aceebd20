// SPDX-License-Identifier: Apache-2.0
// The kubeconfigs in tests/peers: what other projects' programs write.
#include "case.hpp"
#include "migrate/document.hpp"
#include "test_paths.hpp"

#include <fstream>
#include <iterator>

namespace execcred::migrate::test {
namespace {

struct User {
  std::string_view name;
  Texts args;  // of a user that is carried over
  Texts env = {};
  std::string_view refused = {};  // a part of the reasons; empty for a user that is carried over
};

void check_file(const std::string& name, const std::vector<User>& users) {
  CAPTURE(name);
  std::ifstream file(EXECCRED_SOURCE "/tests/peers/" + name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<Rewritten> result = rewrite(text, {.plugin_dir = "/plugins"});
  REQUIRE(result);
  REQUIRE(result->findings.size() == users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    CAPTURE(users[i].name);
    const Finding& finding = result->findings[i];
    CHECK(finding.name == users[i].name);
    const std::string refused = changes(finding.migration, Change::Kind::refused);
    CHECK(finding.migration.is_complete() == users[i].refused.empty());
    CHECK_MESSAGE(execcred::test::contains(refused, users[i].refused), refused);
    CHECK_FALSE(execcred::test::contains(all_changes(finding.migration), "S3CRET"));
    CHECK_FALSE(execcred::test::contains(refused, "it is not known"));
    if (!users[i].refused.empty()) continue;
    CHECK(refused == "");
    CHECK(lines(finding.migration.args()) == lines(users[i].args));
    CHECK(lines(texts(finding.migration.env())) == lines(users[i].env));
  }
}

TEST_CASE("migrate: every user that aws eks update-kubeconfig writes is carried over") {
  const std::string arn = "arn:aws:eks:eu-central-1:111122223333:cluster/";
  const std::string prod = arn + "prod";
  const std::string role = arn + "prod-role";
  const std::string profile = arn + "prod-profile";
  const std::string outpost = arn + "outpost";
  check_file(
      "aws.yaml",
      {{prod, {"--region=eu-central-1", "--cluster-id=prod"}},
       {role,
        {"--region=eu-central-1", "--cluster-id=prod-role",
         "--role-arn=arn:aws:iam::111122223333:role/fleet", "--session-name=EKSGetTokenAuth"}},
       {profile, {"--region=eu-central-1", "--cluster-id=prod-profile"}, {"AWS_PROFILE=ops"}},
       {outpost,
        {"--region=eu-central-1", "--cluster-id=11111111-2222-3333-4444-555555555555",
         "--role-arn=arn:aws:iam::111122223333:role/fleet", "--session-name=EKSGetTokenAuth"},
        {"AWS_PROFILE=ops"}},
       {"fleet", {"--region=eu-central-1", "--cluster-id=prod-alias"}}});
}

TEST_CASE("migrate: of kubelogin's login methods, msi and workloadidentity are carried over") {
  const std::string server = "--server-id=6dae42f8-4368-4678-94ff-3960e28e3630";
  const std::string client = "--client-id=99999999-8888-7777-6666-555555555555";
  const std::string allow = "--allow-server=https://aks.example.com";
  check_file(
      "kubelogin.yaml",
      {{"azd", {}, {}, "convert-kubeconfig -l workloadidentity"},
       {"azurecli", {}, {}, "login method 'azurecli': it needs a person, or a login of the az"},
       {"azurepipelines", {}, {}, "it needs the variables of a job of Azure Pipelines"},
       {"devicecode", {}, {}, "login method 'devicecode': it needs a person"},
       {"interactive-pop", {}, {}, "--pop-enabled: execcred-azure gives bearer tokens only"},
       {"msi", {server, "--identity=managed", client, allow}},
       {"msi-again", {server, "--identity=managed", allow}},
       {"msi-cache", {server, "--identity=managed", allow}},
       {"msi-resource",
        {server, "--identity=managed",
         "--identity-resource-id=/subscriptions/0/resourceGroups/rg/providers/"
         "Microsoft.ManagedIdentity/userAssignedIdentities/app",
         allow}},
       {"ropc", {}, {}, "login method 'ropc': it needs a person"},
       {"spn", {}, {}, "--legacy: the audience is spn:ID"},
       {"spn-secret", {}, {}, "--client-secret: a secret on the command line"},
       {"unconverted", {}, {}, "auth-provider 'azure': clients no longer have it"},
       {"workload", {server, "--identity=workload", allow}},
       {"workload-options",
        {server, "--identity=workload", client, "--tenant-id=11111111-2222-3333-4444-555555555555",
         "--federated-token-file=/token", "--authority-host=https://login.microsoftonline.com/",
         allow}}});
}

TEST_CASE("migrate: users of other platforms are carried over, or it is said what they are") {
  check_file("others.yaml",
             {{"gke", {}},
              {"gke-impersonated",
               {"--impersonate-service-account=fleet@project.iam.gserviceaccount.com"}},
              {"doctl", {}, {}, "no plugin of execcred asks DigitalOcean's API"},
              {"rancher", {}, {}, "no plugin of execcred logs in at Rancher"},
              {"tsh", {}, {}, "a controller can use Teleport's tbot"},
              {"tbot", {}, {}, "keep tbot"}});
  check_file("oci.yaml",
             {{"user-a", {}, {}, "no plugin of execcred signs with Oracle Cloud's keys"}});
}

}  // namespace
}  // namespace execcred::migrate::test
