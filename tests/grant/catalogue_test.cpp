// SPDX-License-Identifier: Apache-2.0
// What a cluster is told, by identity, server and rules.
#include "grant/catalogue.hpp"

#include <execcred/base/shell_words.hpp>
#include <execcred/json/json.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

using execcred::parse_url;
using execcred::shell_word;
using execcred::split_shell_words;
using execcred::doctor::parse_permissions;
using execcred::grant::Grant;
using execcred::grant::Identity;
using execcred::grant::Kind;
using execcred::grant::Rules;
using execcred::grant::Subject;
using Json = nlohmann::json;

namespace {

const Subject kSubject{.name_space = "fleet", .name = "spoke-1", .provider = "token-file"};

Rules rules(const std::vector<std::string>& texts, bool binds_groups = false) {
  return {.permissions = parse_permissions(texts).value(), .binds_groups = binds_groups};
}

Grant of(const Identity& identity, const Rules& rules,
         std::string_view server = "https://10.0.0.7:6443", const Subject& subject = kSubject) {
  return execcred::grant::grant_of(identity, subject, parse_url(server).value(), rules);
}

Json objects_of(const Grant& grant) {
  return Json::parse(execcred::json::to_text(execcred::json::Value(grant.objects)));
}

Identity person(std::vector<std::string> groups = {}) {
  return {.kind = Kind::certificate, .user = "jane", .groups = std::move(groups)};
}

Identity foreign(std::vector<std::string> audiences) {
  Identity identity{.kind = Kind::issuer, .user = "https://idp.example.com#jane"};
  identity.issuer = "https://idp.example.com";
  identity.audiences = std::move(audiences);
  identity.claim = "sub";
  identity.prefix = "https://idp.example.com#";
  return identity;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> words(const std::string& command) {
  return split_shell_words(command).value();
}

}  // namespace

TEST_CASE("catalogue: each namespace has a Role, and only rules without one a ClusterRole") {
  const Json objects =
      objects_of(of(person(), rules({"get/pods@b", "list/pods@b", "get/pods/log@b", "get/pods@b",
                                     "update/deployments.apps/scale@a", "watch/nodes"})));
  REQUIRE(objects.size() == 6);
  CHECK(objects[0]["kind"] == "ClusterRole");
  CHECK(objects[0]["rules"] ==
        Json::parse(R"([{"apiGroups":[""],"resources":["nodes"],"verbs":["watch"]}])"));
  CHECK(objects[1]["kind"] == "ClusterRoleBinding");
  CHECK(objects[2]["kind"] == "Role");
  CHECK(objects[2]["metadata"]["namespace"] == "a");
  CHECK(objects[2]["rules"] ==
        Json::parse(
            R"([{"apiGroups":["apps"],"resources":["deployments/scale"],"verbs":["update"]}])"));
  CHECK(objects[4]["rules"] ==
        Json::parse(R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},)"
                    R"({"apiGroups":[""],"resources":["pods/log"],"verbs":["get"]}])"));
  CHECK(objects[5]["roleRef"]["kind"] == "Role");
  for (const Json& object : objects) {
    CHECK(object["metadata"]["name"] == "execcred:fleet:spoke-1:token-file");
    CHECK(object["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "execcred");
  }
  const Json named = objects_of(of(person(), {.cluster_role = "view"}));
  REQUIRE(named.size() == 1);
  CHECK(named[0]["kind"] == "ClusterRoleBinding");
  CHECK(named[0]["roleRef"]["name"] == "view");
}

TEST_CASE("catalogue: the user alone is bound, groups on demand, those of system: never") {
  const Identity jane = person({"dev", "system:masters"});
  const Json alone = objects_of(of(jane, rules({"get/pods"})))[1]["subjects"];
  REQUIRE(alone.size() == 1);
  CHECK(alone[0]["kind"] == "User");
  CHECK(alone[0]["name"] == "jane");
  const Json both = objects_of(of(jane, rules({"get/pods"}, true)))[1]["subjects"];
  REQUIRE(both.size() == 2);
  CHECK(both[1]["kind"] == "Group");
  CHECK(both[1]["name"] == "dev");
}

TEST_CASE("catalogue: names are the parts, or a digest that no other subject has") {
  CHECK(kSubject.object_name() == "execcred:fleet:spoke-1:token-file");
  std::set<std::string> names;
  const std::string longest(40, 'a');
  for (const Subject& subject :
       {Subject{.name_space = "a", .name = "b", .provider = "c:d"},
        Subject{.name_space = "a", .name = "b", .provider = "c d"},
        Subject{.name_space = "a", .name = "b", .provider = "c/../d"},
        Subject{.name_space = "a", .name = longest, .provider = longest},
        Subject{.name_space = "b", .name = longest, .provider = longest}}) {
    const std::string name = subject.object_name();
    CAPTURE(name);
    CHECK(name.size() == 49);
    CHECK(name.find_first_not_of("0123456789abcdef", 9) == std::string::npos);
    names.insert(name);
  }
  CHECK(names.size() == 5);
}

TEST_CASE("catalogue: an AuthenticationConfiguration has the prefix, and MatchAny for several") {
  const auto config_of = [](const Grant& grant) {
    return Json::parse(execcred::json::to_text(grant.authentication));
  };
  const Json one = config_of(of(foreign({"api"}), rules({"get/pods"})));
  CHECK(one == Json::parse(R"({"apiVersion":"apiserver.config.k8s.io/v1",)"
                           R"("kind":"AuthenticationConfiguration","jwt":[{"issuer":)"
                           R"({"url":"https://idp.example.com","audiences":["api"]},)"
                           R"("claimMappings":{"username":{"claim":"sub",)"
                           R"("prefix":"https://idp.example.com#"}}}]})"));
  Identity identity = foreign({"a", "b"});
  identity.groups = {"https://idp.example.com#dev"};
  const Json two = config_of(of(identity, rules({"get/pods"}, true)));
  CHECK(two["jwt"][0]["issuer"]["audienceMatchPolicy"] == "MatchAny");
  CHECK(two["jwt"][0]["claimMappings"]["groups"]["prefix"] == "https://idp.example.com#");
  CHECK(config_of(of(identity, rules({"get/pods"})))["jwt"][0]["claimMappings"].size() == 1);
}

TEST_CASE("catalogue: EKS has an access entry with the role's path, aws-auth one without") {
  const Identity role{.kind = Kind::eks, .user = "arn:aws:iam::123456789012:role/fleet/it's"};
  Subject subject = kSubject;
  subject.cluster_id = "spoke 1";
  const Grant grant =
      of(role, rules({"get/pods"}), "https://ABC.gr7.us-west-2.eks.amazonaws.com", subject);
  REQUIRE(grant.commands.size() == 1);
  CHECK(words(grant.commands[0]) ==
        std::vector<std::string>{"aws", "eks", "create-access-entry", "--cluster-name", "spoke 1",
                                 "--region", "us-west-2", "--principal-arn",
                                 "arn:aws:iam::123456789012:role/fleet/it's", "--kubernetes-groups",
                                 "execcred:fleet:spoke-1:token-file"});
  CHECK(has(grant.fragment, "rolearn: \"arn:aws:iam::123456789012:role/it's\"\n"));
  const Json subjects = objects_of(grant)[1]["subjects"];
  REQUIRE(subjects.size() == 1);
  CHECK(subjects[0]["kind"] == "Group");
  CHECK(subjects[0]["name"] == "execcred:fleet:spoke-1:token-file");
  CHECK(grant.authentication.is_null());
}

TEST_CASE("catalogue: EKS gets another issuer by its own command") {
  const Grant grant =
      of(foreign({"a", "b"}), rules({"get/pods"}), "https://ABC.gr7.us-west-2.eks.amazonaws.com");
  CHECK(grant.authentication.is_null());
  REQUIRE(grant.commands.size() == 1);
  const std::vector<std::string> found = words(grant.commands[0]);
  CHECK(found[2] == "associate-identity-provider-config");
  const Json oidc = Json::parse(found.back());
  CHECK(oidc["issuerUrl"] == "https://idp.example.com");
  CHECK(oidc["clientId"] == "a");
  CHECK(oidc["usernamePrefix"] == "https://idp.example.com#");
  CHECK(objects_of(grant)[1]["subjects"][0]["name"] == "https://idp.example.com#jane");
}

TEST_CASE("catalogue: GKE needs a role of IAM only where the endpoint asks for it") {
  const Identity account{.kind = Kind::gke, .user = "me@p.iam.gserviceaccount.com"};
  struct Row {
    const char* server;
    const char* permission;
    const char* project;
    const char* role;
  };
  constexpr const char* kGateway =
      "https://us-connectgateway.googleapis.com/v1/projects/42/locations/global/gkeMemberships/a";
  for (const Row& row : {Row{"https://34.1.2.3", "get/pods", "", ""},
                         Row{"https://gke-1.us-central1.gke.goog", "create/pods", "FILL-IN-PROJECT",
                             "roles/container.clusterViewer"},
                         Row{kGateway, "get/pods", "42", "roles/gkehub.gatewayReader"},
                         Row{kGateway, "create/pods", "42", "roles/gkehub.gatewayEditor"}}) {
    CAPTURE(row.server);
    const Grant grant = of(account, rules({row.permission}), row.server);
    CHECK(objects_of(grant)[1]["subjects"][0]["name"] == account.user);
    if (*row.role == 0) {
      CHECK(grant.commands.empty());
      continue;
    }
    REQUIRE(grant.commands.size() == 1);
    CHECK(words(grant.commands[0]) ==
          std::vector<std::string>{"gcloud", "projects", "add-iam-policy-binding", row.project,
                                   "--member", "serviceAccount:" + account.user, "--role",
                                   row.role});
  }
}

TEST_CASE("catalogue: GKE's DNS endpoint must be set to take what is no account of Google") {
  Identity account{.kind = Kind::service_account, .user = "system:serviceaccount:a:b"};
  account.name_space = "a";
  account.name = "b";
  const std::string dns = "https://gke-1.us-central1.gke.goog";
  const auto remarks = [](const Identity& identity, std::string_view server) {
    std::string all;
    for (const std::string& one : of(identity, rules({"get/pods"}), server).remarks) all += one;
    return all;
  };
  CHECK(has(remarks(account, dns), "has enableK8sTokensViaDns."));
  CHECK(has(remarks(person(), dns), "has enableK8sCertsViaDns."));
  CHECK_FALSE(has(remarks(account, "https://34.1.2.3"), "ViaDns"));
  CHECK_FALSE(has(remarks(person(), "https://34.1.2.3"), "ViaDns"));
}

TEST_CASE("catalogue: AKS has a role assignment for each namespace, or for the cluster") {
  const Identity object{.kind = Kind::aks, .user = "o-1"};
  const std::string server = "https://spoke-1.hcp.eastus.azmk8s.io:443";
  const Grant read = of(object, rules({"get/pods@a", "list/pods@b"}), server);
  REQUIRE(read.commands.size() == 2);
  CHECK(words(read.commands[1]) ==
        std::vector<std::string>{"az", "role", "assignment", "create", "--assignee-object-id",
                                 "o-1", "--assignee-principal-type", "ServicePrincipal", "--role",
                                 "Azure Kubernetes Service RBAC Reader", "--scope",
                                 "FILL-IN-RESOURCE-ID-OF-THE-CLUSTER/namespaces/b"});
  Identity jane = object;
  jane.is_person = true;
  CHECK(words(of(jane, rules({"get/pods"}), server).commands[0])[7] == "User");
  CHECK(has(of(object, rules({"get/secrets"}), server).commands[0], "RBAC Writer"));
  CHECK(has(of(object, {.cluster_role = "cluster-admin"}, server).commands[0], "Cluster Admin"));
  CHECK(of(object, {.cluster_role = "mine"}, server).commands.empty());
  CHECK(objects_of(read)[1]["subjects"][0]["name"] == "o-1");
}

TEST_CASE("catalogue: AKS gets another issuer by its own command, with the prefix in CEL") {
  Identity identity = foreign({"api"});
  identity.prefix = "aks:jwt:";
  identity.user = "aks:jwt:jane";
  const Grant grant = of(identity, rules({"get/pods"}), "https://a.hcp.eastus.azmk8s.io");
  REQUIRE(grant.commands.size() == 2);
  const Json config = Json::parse(words(grant.commands[0])[2]);
  CHECK(config["claimMappings"]["username"]["expression"] == "'aks:jwt:' + claims.sub");
  CHECK(words(grant.commands[1])[3] == "add");
  CHECK(grant.authentication.is_null());
  identity.groups = {"aks:jwt:devs"};
  Rules with_groups = rules({"get/pods"});
  with_groups.binds_groups = true;
  const Grant bound = of(identity, with_groups, "https://a.hcp.eastus.azmk8s.io");
  CHECK(Json::parse(words(bound.commands[0])[2])["claimMappings"]["groups"]["expression"] ==
        "dyn(claims.groups).map(group, 'aks:jwt:' + group)");
}

TEST_CASE("shell_word: a shell reads every word back unchanged") {
  for (const std::string text : {"", "plain", "a b", "it's", "$(id)", "`id`", "a;b", "!x", "~", "*",
                                 "#x", "a\\b", "\"", "a=b", "-x", "{a,b}"}) {
    CAPTURE(text);
    const std::vector<std::string> read = words("x " + shell_word(text));
    REQUIRE(read.size() == 2);
    CHECK(read[1] == text);
  }
}
