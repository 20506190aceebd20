// SPDX-License-Identifier: Apache-2.0
// Mappings for the cloud plugins, and the choices of ClusterProfiles.
#include "lint.hpp"

namespace execcred {
namespace {

using test::check_findings;
using test::contains;
using test::Expected;
using test::File;
using test::lint_files;
using test::Severity;
using Texts = std::vector<std::string>;

constexpr auto kWarning = Severity::warning;
constexpr auto kInfo = Severity::info;
const std::string kExec = "providers[0].execConfig.";
const std::string kConfig = "status.accessProviders[0].cluster.extensions[0].extension.";
const std::string kTenant = "11111111-2222-3333-4444-555555555555";
const std::string kOther = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
const std::string kPool =
    "projects/123456/locations/global/workloadIdentityPools/pool-1/providers/hub";
const std::string kServers = "--allow-server=https://*.example.com";

std::string quoted(const std::string& text) { return json::to_text(json::Value(text)); }

// A mapping of the provider "cloud" without other findings.
std::string mapping(const std::string& plugin, const Texts& args, const Texts& env = {}) {
  std::string arguments = quoted(kServers);
  for (const std::string& arg : args) arguments += "," + quoted(arg);
  std::string variables;
  for (const std::string& variable : env) {
    const std::size_t equals = variable.find('=');
    if (!variables.empty()) variables += ",";
    variables += R"({"name":)" + quoted(variable.substr(0, equals)) + R"(,"value":)" +
                 quoted(variable.substr(equals + 1)) + "}";
  }
  return R"({"providers":[{"name":"cloud","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
         R"("command":"/plugins/execcred-)" +
         plugin + R"(","args":[)" + arguments + R"(],"env":[)" + variables +
         R"(],"provideClusterInfo":true}}]})";
}

std::string profile(const std::string& config, const std::string& provider = "cloud") {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":)"
         R"({"name":"c","namespace":"fleet"},"status":{"accessProviders":[{"name":")" +
         provider +
         R"(","cluster":{"server":"https://c.example.com","extensions":[{"name":)"
         R"("client.authentication.k8s.io/exec","extension":)" +
         config + "}]}}]}}";
}

std::string choosing(const std::string& field, const std::string& value) {
  return profile("{" + quoted(field) + ":" + quoted(value) + "}");
}

TEST_CASE("lint: a ClusterProfile's tenant that the mapping would refuse") {
  const std::string path = kConfig + "tenantId";
  const std::vector<Expected> none;
  const std::vector<Expected> other = {{path, "is another tenant than the mapping's"}};
  const std::vector<Expected> maybe = {{path, "unless AZURE_TENANT_ID is the same", kWarning}};
  struct Case {
    Texts args;
    Texts env;
    std::vector<Expected> expected;
  };
  const std::vector<Case> cases = {
      {{}, {}, maybe},
      {{"--allow-tenant=" + kOther}, {}, maybe},
      {{"--allow-tenant=" + kOther, "--allow-tenant=" + kTenant}, {}, none},
      {{"--tenant-id=" + kTenant}, {}, none},
      {{"--tenant-id=" + kOther}, {}, other},
      {{"--tenant-id=" + kOther, "--allow-tenant=" + kTenant}, {}, none},
      {{}, {"AZURE_TENANT_ID=" + kTenant}, none},
      {{}, {"AZURE_TENANT_ID=" + kOther}, other},
      {{}, {"EXECCRED_TENANT_ID=" + kOther}, other},
      {{"--identity=managed"}, {}, none}};
  for (const Case& c : cases) {
    const std::string map = mapping("azure", c.args, c.env);
    CAPTURE(map);
    check_findings({{.text = map}, {.text = choosing("tenantId", kTenant)}}, c.expected);
    // In either order.
    check_findings({{.text = choosing("tenantId", kTenant)}, {.text = map}}, c.expected);
  }
  check_findings({{.text = mapping("azure", {"--allow-tenant=" + kOther})},
                  {.text = choosing("tenantId", "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE")}},
                 {});
  check_findings({{.text = mapping("azure", {})}, {.text = choosing("tenantId", "common")}},
                 {{path, "'common' is no tenant"}});
  check_findings({{.text = mapping("azure", {})}, {.text = choosing("tenantId", "")}}, none);
}

TEST_CASE("lint: a ClusterProfile's workload identity provider that the mapping would refuse") {
  const std::string path = kConfig + "workloadIdentityProvider";
  const std::string audience = "//iam.googleapis.com/" + kPool;
  const std::vector<Expected> none;
  struct Case {
    Texts args;
    Texts env;
    std::vector<Expected> expected;
  };
  const std::vector<Case> cases = {
      {{}, {}, {{path, "has no --allow-audience", kWarning}}},
      {{"--allow-audience=" + audience}, {}, none},
      {{"--allow-audience=//iam.googleapis.com/projects/123456/*"}, {}, none},
      {{"--allow-audience=//iam.googleapis.com/projects/7/*"},
       {},
       {{path, "matches no --allow-audience"}}},
      {{}, {"EXECCRED_ALLOW_AUDIENCE=x," + audience}, none},
      {{"--workload-identity-provider=" + kPool}, {}, none}};
  for (const Case& c : cases) {
    const std::string map = mapping("google", c.args, c.env);
    CAPTURE(map);
    check_findings({{.text = map}, {.text = choosing("workloadIdentityProvider", kPool)}},
                   c.expected);
  }
  check_findings({{.text = mapping("google", {"--allow-audience=" + audience})},
                  {.text = choosing("workloadIdentityProvider", kPool + "/")}},
                 {{path, "is no workload identity provider"}});
}

TEST_CASE("lint: an identity that a ClusterProfile chooses and the mapping would refuse") {
  const std::string role = "arn:aws:iam::123456789012:role/fleet-a";
  const std::string account = "fleet-a@p.iam.gserviceaccount.com";
  struct Plugin {
    std::string name, field, flag, allow, value;
    Texts args;
  };
  for (const Plugin& p : std::vector<Plugin>{
           {"aws", "roleArn", "--role-arn=", "--allow-role=", role, {"--cluster-id=x"}},
           {"azure", "clientId", "--client-id=", "--allow-client-id=", kTenant, {}},
           {"google",
            "impersonateServiceAccount",
            "--impersonate-service-account=",
            "--allow-impersonation=",
            account,
            {}},
           {"oidc-federation",
            "clientId",
            "--client-id=",
            "--allow-client-id=",
            "fleet-a",
            {"--flow=client-credentials", "--token-url=https://idp.example.com/t"}}}) {
    CAPTURE(p.name);
    const std::string path = kConfig + p.field;
    const auto found = [&](const Texts& more, const std::vector<Expected>& expected) {
      Texts args = p.args;
      args.insert(args.end(), more.begin(), more.end());
      check_findings({{.text = mapping(p.name, args)}, {.text = choosing(p.field, p.value)}},
                     expected);
    };
    found({}, {{path, "there is no --allow"}});
    found({p.allow + p.value}, {});
    found({p.allow + p.value + "x"}, {{path, "matches no --allow"}});
    found({p.flag + p.value}, {});
    check_findings(mapping(p.name, p.args), {});
    // "*" alone is not a pattern, as in the plugin.
    const std::string args = kExec + "args[" + std::to_string(p.args.size() + 1) + "]";
    Texts all = p.args;
    all.push_back(p.allow + "*");
    check_findings(mapping(p.name, all), {{args, "has nothing before its *"},
                                          {args, "lets a ClusterProfile choose", kWarning}});
  }
  // Prefixes that allow more than the listed identities.
  check_findings(mapping("aws", {"--cluster-id=x", "--allow-role=arn:aws:iam::*"}),
                 {{kExec + "args[2]", "a role of any account", kWarning}});
  check_findings(mapping("aws", {"--cluster-id=x", "--allow-role=" + role + "*"}), {});
  check_findings(mapping("azure", {"--allow-client-id=aaaa*"}),
                 {{kExec + "args[1]", "identities that are not listed", kWarning}});
  check_findings(mapping("google", {"--allow-impersonation=fleet-*"}),
                 {{kExec + "args[1]", "an account of any project", kWarning}});
}

TEST_CASE("lint: a field that the plugin does not get, because provideClusterInfo is missing") {
  const auto without = [](std::string text) {
    const std::string provided = R"(,"provideClusterInfo":true)";
    text.erase(text.find(provided), provided.size());
    const std::string allowed = quoted(kServers) + ",";
    return text.erase(text.find(allowed), allowed.size());
  };
  const std::string role = "arn:aws:iam::123456789012:role/fleet-a";
  const std::string map =
      mapping("aws", {"--cluster-id=x", "--allow-role=" + role, "--region=eu-central-1"});
  const File choice{.text = choosing("roleArn", role), .name = "c.json"};
  const auto of_profile = [&](const std::vector<File>& files) {
    std::vector<lint::Finding> findings = lint_files(files);
    std::erase_if(findings, [](const lint::Finding& finding) { return finding.file != "c.json"; });
    return findings;
  };
  const auto found = of_profile({{.text = without(map), .name = "m.json"}, choice});
  REQUIRE(found.size() == 1);
  CHECK(found.front().path == kConfig + "roleArn");
  CHECK(found.front().severity == kWarning);
  CHECK(found.front().rule == "cluster-info");
  CHECK(found.front().message ==
        "never arrives at execcred-aws: the mapping's entry does not provide the cluster's "
        "information");
  CHECK(
      found.front().hint.starts_with("set provideClusterInfo: true; the provider 'cloud' is in "));
  CHECK(of_profile({{.text = map}, choice}).empty());
  // It is enough if one of several entries gets the information.
  CHECK(of_profile({{.text = without(map)}, {.text = map}, choice}).empty());
  // A part that the plugin does not read is not reported.
  for (const std::string config :
       {R"({"color":"blue"})", R"({"roleArn":""})", R"({"roleArn":null})", "null"}) {
    CAPTURE(config);
    CHECK(
        of_profile({{.text = without(map)}, {.text = profile(config), .name = "c.json"}}).empty());
  }
  const File other{.text = without(mapping("azure", {"--tenant-id=" + kTenant})), .name = "m.json"};
  CHECK(of_profile({other, choice}).empty());
}

TEST_CASE("lint: a choice is checked against the mapping that belongs to it") {
  const std::string path = kConfig + "tenantId";
  const std::string choice = choosing("tenantId", kTenant);
  const std::string taking = mapping("azure", {"--allow-tenant=" + kTenant});
  const std::string refusing = mapping("azure", {"--tenant-id=" + kOther});
  // Without a mapping for this provider and program, the result is unknown.
  check_findings({{.text = choice}}, {});
  check_findings({{.text = refusing}, {.text = profile(R"({"tenantId":"x"})", "other")}},
                 {{"status.accessProviders", "the mapping has none of these"}});
  check_findings({{.text = mapping("google", {})}, {.text = choice}}, {});
  // It is enough if one of several mappings accepts the choice.
  check_findings({{.text = refusing}, {.text = taking}, {.text = choice}}, {});
  const std::vector<Expected> refused = {{path, "another tenant"}};
  check_findings({{.text = refusing}, {.text = refusing}, {.text = choice}}, refused);
  // The mapping of the same folder comes before named ones; that of another folder is not used.
  const auto in = [](const std::string& group, const std::string& text) {
    return File{.text = text, .name = group + "/f", .group = group};
  };
  check_findings({{.text = taking}, in("a", refusing), in("a", choice)}, refused);
  check_findings({{.text = refusing}, in("a", taking), in("a", choice)}, {});
  check_findings({{.text = refusing}, in("b", taking), in("a", choice)}, refused);
  check_findings({in("b", refusing), in("a", choice)}, {});
}

TEST_CASE("lint: the hint of a refused choice names the mapping's entry and the remedy") {
  const auto findings = lint_files({{.text = mapping("azure", {}), .name = "m.json"},
                                    {.text = choosing("tenantId", kTenant), .name = "c.json"}});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].file == "c.json");
  CHECK(contains(findings[0].message, kTenant));
  CHECK(contains(findings[0].hint, "'cloud' is in m.json: providers[0]"));
  CHECK(contains(findings[0].hint, "--allow-tenant=" + kTenant));
}

TEST_CASE("lint: settings that allow Google's credentials file more are reported as info") {
  check_findings(mapping("google", {"--allow-endpoint=https://sts.example.com"},
                         {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"}),
                 {{kExec + "args[1]", "--allow-endpoint", kInfo},
                  {kExec + "env[0].value", "may name a program", kInfo}});
  // Any other value allows nothing.
  check_findings(mapping("google", {}, {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=true"}), {});
  check_findings(mapping("azure", {}, {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"}), {});
}

TEST_CASE("lint: cloud secrets in a mapping's variables are reported in any form") {
  for (const std::string variable :
       {"AWS_SECRET_ACCESS_KEY=/abcdefghijklmnopqrstuvwxyz0123456789ABC", "AWS_SESSION_TOKEN=x",
        "AWS_SECURITY_TOKEN=/x", "AWS_CONTAINER_AUTHORIZATION_TOKEN={x}", "IDENTITY_HEADER=word",
        "AZURE_CLIENT_SECRET=./s3cret"}) {
    CAPTURE(variable);
    const std::string map = mapping("aws", {"--cluster-id=x"}, {variable});
    check_findings(map, {{kExec + "env[0].value", "holds the secret of ", kWarning}});
    const std::string told = lint::to_text(lint_files({{.text = map}}), {});
    CHECK_FALSE(contains(told, variable.substr(variable.find('=') + 1) + "'"));
  }
  for (const std::string variable :
       {"AWS_SECRET_ACCESS_KEY=", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=/var/run/token",
        "AWS_ACCESS_KEY_ID=AKIAEXAMPLE1", "AWS_WEB_IDENTITY_TOKEN_FILE=/t", "AZURE_CLIENT_ID="}) {
    CAPTURE(variable);
    check_findings(mapping("aws", {"--cluster-id=x"}, {variable}), {});
  }
}

TEST_CASE("lint: a credentials file's secrets inside a ClusterProfile are errors") {
  for (const std::string member : {"private_key", "refresh_token", "client_secret"}) {
    CAPTURE(member);
    const std::string config = R"({"x":{")" + member + R"(":"/w0rd"}})";
    check_findings(profile(config),
                   {{kConfig + "x." + member, "holds a secret of a credentials file"}});
    CHECK_FALSE(contains(lint::to_text(lint_files({{.text = profile(config)}}), {}), "w0rd"));
    check_findings(profile(R"({")" + member + R"(":"","private_key_id":"1"})"), {});
  }
  // A secret that is also found by its form is reported once.
  check_findings(profile(R"({"private_key":"-----BEGIN PRIVATE KEY-----\nx"})"),
                 {{kConfig + "private_key", "holds a private key"}});
}

TEST_CASE(
    "lint: cloud variables are checked like their options, if the plugin reads the variables") {
  const std::string value = kExec + "env[0].value";
  check_findings(mapping("azure", {}, {"AZURE_CLIENT_ID=me"}), {{value, "no GUID"}});
  check_findings(mapping("azure", {}, {"AZURE_TENANT_ID=common"}), {{value, "no tenant"}});
  check_findings(mapping("azure", {}, {"AZURE_AUTHORITY_HOST=http://x"}), {{value, "https"}});
  check_findings(mapping("aws", {"--cluster-id=x"}, {"AWS_REGION=../"}), {{value, "AWS region"}});
  for (const std::string& good :
       {"AZURE_CLIENT_ID=" + kTenant, std::string("AZURE_AUTHORITY_HOST=login.chinacloudapi.cn"),
        std::string("AZURE_FEDERATED_TOKEN_FILE=/t"), std::string("AZURE_TENANT_ID=")}) {
    check_findings(mapping("azure", {}, {good}), {});
  }
  // The plugin does not read these variables with a managed identity.
  check_findings(mapping("azure", {"--identity=managed"}, {"AZURE_TENANT_ID=common"}), {});
  check_findings(mapping("azure", {"--identity=managed", "--identity-resource-id=/subscriptions/a"},
                         {"AZURE_CLIENT_ID=me"}),
                 {});
}

}  // namespace
}  // namespace execcred
