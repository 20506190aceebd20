// SPDX-License-Identifier: Apache-2.0
// Who a cluster sees, by the credential, the plugin's options and the server.
#include "grant/identity.hpp"
#include "unit/temp_dir.hpp"

#include <execcred/json/json.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace execcred;
using grant::Identity;
using grant::Kind;
using grant::Origin;

namespace {

constexpr const char* kServer = "https://10.0.0.7:6443";

engine::CredentialFacts facts_of(std::string_view claims) {
  engine::CredentialFacts facts;
  facts.payload = json::parse(claims).value();
  UnverifiedClaims read;
  const auto text = [&](std::string_view name) {
    const json::Value* const value = facts.payload.find(name);
    return value == nullptr ? std::string() : *value->string();
  };
  read.issuer = text("iss");
  read.subject = text("sub");
  if (const json::Value* const audiences = facts.payload.find("aud")) {
    for (const json::Value& one : *audiences->array()) read.audiences.push_back(*one.string());
  }
  facts.claims = std::move(read);
  return facts;
}

Result<std::vector<Identity>> of(const engine::CredentialFacts& facts, const Origin& origin = {},
                                 std::string_view server = kServer) {
  const grant::Evidence evidence{.facts = facts};
  return grant::identities_of(evidence, origin, parse_url(server).value());
}

Result<std::vector<Identity>> of(std::string_view claims, const Origin& origin = {},
                                 std::string_view server = kServer) {
  return of(facts_of(claims), origin, server);
}

std::string account_of(std::string_view issuer) {
  return R"({"iss":")" + std::string(issuer) +
         R"(","sub":"system:serviceaccount:fleet:controller","aud":["api"]})";
}

}  // namespace

TEST_CASE("identity: each audience that is not empty is named once") {
  const auto audiences = [](const std::string& aud, const Origin& origin = {}) {
    return of(R"({"iss":"https://idp.example.com","sub":"jane","aud":)" + aud + "}", origin)
        ->front()
        .audiences;
  };
  using Texts = std::vector<std::string>;
  CHECK(audiences(R"(["x","x"])") == Texts{"x"});
  CHECK(audiences(R"(["","x","y","x"])") == Texts{"x", "y"});
  CHECK(audiences(R"(["x"])", {.audiences = {"x", "x", "", "z"}}) == Texts{"x", "z"});
  const auto none = of(R"({"iss":"https://idp.example.com","sub":"jane","aud":[""]})");
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "the token has no audience, and API servers require one");
}

TEST_CASE("identity: a token of the cluster's own issuer is of its ServiceAccount") {
  struct Row {
    const char* issuer;
    bool is_of_cluster;
  };
  for (const Row& row :
       {Row{"kubernetes/serviceaccount", false}, Row{"https://10.0.0.7:6443", false},
        Row{"https://10.0.0.7:6443/", false}, Row{"https://hub.example.com", true},
        Row{"https://kubernetes.default.svc", true}}) {
    CAPTURE(row.issuer);
    const auto found = of(account_of(row.issuer), {.is_of_cluster = row.is_of_cluster});
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK(found->front().kind == Kind::service_account);
    CHECK(found->front().user == "system:serviceaccount:fleet:controller");
    CHECK(found->front().name_space == "fleet");
    CHECK(found->front().name == "controller");
  }
}

TEST_CASE("identity: the default issuer has two readings") {
  for (const char* const issuer :
       {"https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local"}) {
    const auto found = of(account_of(issuer));
    REQUIRE(found);
    REQUIRE(found->size() == 2);
    CHECK((*found)[0].kind == Kind::service_account);
    CHECK((*found)[1].kind == Kind::issuer);
    CHECK((*found)[1].user == std::string(issuer) + "#system:serviceaccount:fleet:controller");
    CHECK((*found)[1].is_default_issuer);
  }
  const auto other = of(account_of("https://kubernetes.default.svcx.example.com"));
  REQUIRE(other);
  CHECK(other->size() == 1);
}

TEST_CASE("identity: a JWT of another issuer is its claim behind a prefix, which is never empty") {
  const auto found = of(
      R"({"iss":"https://idp.example.com","sub":"jane","aud":["b","a"],"groups":["dev"],"oid":"1"})",
      {.audiences = {"x", "a"}});
  REQUIRE(found);
  const Identity& identity = found->front();
  CHECK(identity.kind == Kind::issuer);
  CHECK(identity.user == "https://idp.example.com#jane");
  CHECK(identity.claim == "sub");
  CHECK(identity.groups == std::vector<std::string>{"https://idp.example.com#dev"});
  // Those of the mapping, the token's own first.
  CHECK(identity.audiences == std::vector<std::string>{"a", "x"});
  // The mapping's audience is only a wish to the issuer: the token has another one.
  const auto without =
      of(R"({"iss":"https://idp.example.com","sub":"jane","aud":["c"]})", {.audiences = {"x"}});
  REQUIRE(without);
  CHECK(without->front().audiences == std::vector<std::string>{"c"});
}

TEST_CASE("identity: what no API server could accept is nobody") {
  for (const char* const claims : {
           R"({"sub":"spiffe://example.com/ns/a","aud":["api"]})",
           R"({"iss":"http://idp.example.com","sub":"jane","aud":["api"]})",
           R"({"iss":"https://idp.example.com?x=1","sub":"jane","aud":["api"]})",
           R"({"iss":"https://me@idp.example.com","sub":"jane","aud":["api"]})",
           R"({"iss":"idp","sub":"jane","aud":["api"]})",
           R"({"iss":"https://idp.example.com","sub":"jane"})",
           R"({"iss":"https://idp.example.com","aud":["api"]})",
           R"({"iss":"https://idp.example.com","sub":"a\nb","aud":["api"]})",
           R"({"iss":"https://idp.example.com","sub":"a\u2028b","aud":["api"]})",
           R"({"iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:fleet","aud":["a"]})",
       }) {
    CAPTURE(claims);
    const auto found = of(claims);
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == Error::Kind::no_credential);
    CHECK_FALSE(found.error().hint.empty());
  }
}

TEST_CASE("identity: GKE takes no other issuer, AKS demands its prefix") {
  const std::string claims = R"({"iss":"https://idp.example.com","sub":"jane","aud":["api"]})";
  CHECK_FALSE(of(claims, {}, "https://gke-1.us-central1.gke.goog"));
  CHECK_FALSE(of(claims, {}, "https://connectgateway.googleapis.com/v1/projects/1/x"));
  const auto found = of(claims, {}, "https://spoke-1.hcp.eastus.azmk8s.io:443");
  REQUIRE(found);
  CHECK(found->front().user == "aks:jwt:jane");
}

TEST_CASE("identity: a token of Entra for AKS is its object, another one has an issuer") {
  const auto claims = [](std::string_view audience) {
    return R"({"iss":"https://sts.windows.net/1/","sub":"s","oid":"o-1","aud":[")" +
           std::string(audience) + R"("],"groups":["g-1"]})";
  };
  const auto aks = of(claims("6dae42f8-4368-4678-94ff-3960e28e3630"));
  REQUIRE(aks);
  CHECK(aks->front().kind == Kind::aks);
  CHECK(aks->front().user == "o-1");
  CHECK(aks->front().groups == std::vector<std::string>{"g-1"});
  CHECK_FALSE(aks->front().is_person);
  const auto other = of(claims("api://mine"));
  REQUIRE(other);
  CHECK(other->front().kind == Kind::issuer);
  CHECK(other->front().claim == "oid");
  CHECK(other->front().user == "https://sts.windows.net/1/#o-1");
  const std::string aks_server = "https://a.hcp.eastus.azmk8s.io";
  const auto at_aks = of(claims("api://mine"), {}, aks_server);
  REQUIRE(!at_aks);
  CHECK(at_aks.error().message.find("for its own application alone") != std::string::npos);
}

TEST_CASE("identity: a certificate is its CN and O, and without a CN it is nobody") {
  engine::CredentialFacts facts;
  facts.certificate = engine::CertificateFacts{
      .subject = "O=dev", .user = {.name = "jane", .groups = {"dev"}}, .issuer = "CN=ca"};
  const auto found = of(facts);
  REQUIRE(found);
  CHECK(found->front().kind == Kind::certificate);
  CHECK(found->front().user == "jane");
  CHECK(found->front().groups == std::vector<std::string>{"dev"});
  CHECK(found->front().authority == "CN=ca");
  facts.certificate->user.name = "";
  CHECK_FALSE(of(facts));
}

TEST_CASE("identity: AWS's role and Google's account come from the options, or are not known") {
  const engine::CredentialFacts facts;
  const Url server = parse_url(kServer).value();
  const auto aws = [&](const Origin& origin) {
    return grant::identities_of(grant::evidence_of(facts, SecretString("k8s-aws-v1.abc"), origin),
                                origin, server);
  };
  const std::string role = "arn:aws:iam::123456789012:role/fleet/controller";
  REQUIRE(aws({.principal = role}));
  CHECK(aws({.principal = role})->front().kind == Kind::eks);
  CHECK(aws({.principal = role})->front().user == role);
  const auto assumed = aws({.principal = "arn:aws:sts::123456789012:assumed-role/controller/s"});
  REQUIRE_FALSE(assumed);
  CHECK(assumed.error().hint.find("aws sts get-caller-identity") != std::string::npos);

  const auto google = [&](const Origin& origin) {
    return grant::identities_of(grant::evidence_of(facts, SecretString("ya29.abc"), origin), origin,
                                server);
  };
  const Origin known{.program = "execcred-google", .principal = "me@p.iam.gserviceaccount.com"};
  REQUIRE(google(known));
  CHECK(google(known)->front().user == "me@p.iam.gserviceaccount.com");
  // The role in another program's environment is not the account.
  CHECK_FALSE(google({.program = "gke-gcloud-auth-plugin", .principal = role}));
  CHECK_FALSE(google({}));
}

TEST_CASE("identity: an opaque token is known to the cluster alone") {
  const auto found = of(engine::CredentialFacts());
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == Error::Kind::no_credential);
  CHECK(found.error().hint.find("ask the cluster") != std::string::npos);
}

TEST_CASE("identity: the origin is what the program would do with its arguments and the profile") {
  const auto of_program = [](const char* program, std::vector<std::string> args,
                             const char* config = "null", std::vector<std::string> variables = {}) {
    Access access;
    access.exec.command = std::string("/plugins/") + program;
    access.exec.args = std::move(args);
    access.cluster.server = kServer;
    access.cluster.config = json::parse(config).value();
    return grant::origin_of(access, Environment(std::move(variables)));
  };
  const std::string role = "arn:aws:iam::123456789012:role/fleet/a";
  const auto chosen =
      of_program("execcred-aws", {"--allow-role=arn:aws:iam::123456789012:role/fleet/*"},
                 R"({"roleArn":"arn:aws:iam::123456789012:role/fleet/a","clusterId":"c"})",
                 {"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"});
  REQUIRE(chosen);
  CHECK(chosen->principal == role);
  CHECK(chosen->cluster_id == "c");
  // The role of the arguments is assumed with the web identity's.
  const test::TempDir folder;
  const std::string token = test::write_file(folder / "token", "opaque").native();
  const auto both = of_program("execcred-aws", {"--cluster-id=c", "--role-arn=" + role}, "null",
                               {"AWS_WEB_IDENTITY_TOKEN_FILE=" + token,
                                "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/first"});
  REQUIRE(both);
  CHECK(both->principal == role);
  const auto unknown = of_program("execcred-aws", {"--cluster-id=c"}, "null",
                                  {"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"});
  REQUIRE(unknown);
  CHECK(unknown->principal.empty());

  const std::string account = "me@p.iam.gserviceaccount.com";
  const auto google = of_program("execcred-google", {"--impersonate-service-account=" + account});
  REQUIRE(google);
  CHECK(google->principal == account);
  CHECK(of_program("execcred-google", {})->principal.empty());

  const auto file = of_program("execcred-token-file", {"--token-file=/t", "--audience=a"},
                               R"({"audience":["b"]})");
  REQUIRE(file);
  CHECK(file->audiences == std::vector<std::string>{"a"});
  CHECK_FALSE(file->is_of_cluster);
  CHECK(of_program("execcred-static-secret", {"--secret-dir=/s"})->is_of_cluster);
  CHECK_FALSE(of_program("execcred-token-file", {"--nope"}));
}
