// SPDX-License-Identifier: Apache-2.0
// What a ClusterProfile gives a plugin, judged by the plugin that the mapping runs for it.
#include "lint.hpp"

namespace execcred::test {
namespace {

const std::string kAt = "status.accessProviders[0].cluster.extensions[0].extension";

File mapping(const std::string& plugin, const std::string& args,
             const std::string& policy = "Ignore") {
  return {.text = R"({"providers":[{"name":"p","execConfig":{"apiVersion":)"
                  R"("client.authentication.k8s.io/v1","interactiveMode":"Never",)"
                  R"("provideClusterInfo":true,"command":"/plugins/execcred-)" +
                  plugin + R"(","args":[)" + args + R"(]},"profileSourcedCLIArgsPolicy":")" +
                  policy + R"("}]})",
          .name = "m.json"};
}

File profile(const std::string& extension,
             const std::string& name = "client.authentication.k8s.io/exec") {
  return {.text = R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
                  R"("metadata":{"name":"c"},"status":{"accessProviders":[{"name":"p","cluster":)"
                  R"({"server":"https://c.example.com","extensions":[{"name":")" +
                  name + R"(","extension":)" + extension + "}]}}]}}",
          .name = "c.json"};
}

// Findings of the ClusterProfile alone: what a mapping leaves open is not this test's.
std::vector<lint::Finding> findings_of(const std::vector<File>& files) {
  std::vector<lint::Finding> findings = lint_files(files);
  std::erase_if(findings, [](const lint::Finding& finding) { return finding.file != "c.json"; });
  return findings;
}

struct Case {
  std::string plugin, args, config, path, message;  // an empty message: nothing is wrong
};

const std::string kSpiffe = R"("--type=jwt","--allow-server=https://*.example.com")";
const std::string kExchange =
    R"("--flow=token-exchange","--issuer-url=https://i","--subject-token-file=/t")";

TEST_CASE("lint: a ClusterProfile's fields are judged by the plugin that gets them") {
  for (const Case& c : std::vector<Case>{
           {"oidc-federation", kExchange, R"({"issuerUrl":"https://x"})", ".issuerUrl",
            "sets --issuer-url, which may not come from a ClusterProfile"},
           {"oidc-federation", kExchange, R"({"audience":"k"})", "", "is not allowed"},
           {"oidc-federation", kExchange + R"(,"--allow-audience=server")", R"({"audience":"k"})",
            "", "matches no --allow-audience"},
           {"oidc-federation", kExchange + R"(,"--allow-audience=server")",
            R"({"audience":"https://c.example.com"})", "", ""},
           {"oidc-federation", R"("--flow=pass-through","--subject-token-file=/t")",
            R"({"audience":"k"})", "", ""},
           {"spiffe", kSpiffe, R"({"audience":["k"]})", "", "is not allowed"},
           {"spiffe", kSpiffe, R"({"socket":"unix:///x"})", ".socket", "sets --socket"},
           {"spiffe", kSpiffe, R"({"tokenFile":"/x"})", "", ""},
           {"token-file", R"("--token-file=/t")", R"({"tokenFile":"/x"})", ".tokenFile",
            "sets --token-file"},
           {"token-file", R"("--token-file=/t")", R"({"audience":[1]})", ".audience",
            "must be a string"},
           {"static-secret", R"("--convention=secretreader")", R"({"secretDir":"/x"})",
            ".secretDir", "sets --secret-dir"},
           {"static-secret", R"("--convention=secretreader")", R"({"name":"x"})", ".name",
            "sets --secret-name"},
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"x","key":"k"})", "", ""},
           {"azure", R"("--client-id=00000000-0000-0000-0000-000000000000")", R"({"serverId":"z"})",
            ".serverId", "sets --server-id"},
           {"aws", "", R"({"roleArn":"z"})", ".roleArn", "sets --role-arn"},
           {"aws", "", R"({"region":"../x"})", ".region", "is no name of an AWS region"},
           {"aws", "", R"({"clusterName":"a","clusterId":"b"})", "", ""},
           {"aws", "", R"({"clusterName":"fleet/a","clusterId":"b"})", "", ""},
           {"aws", "", R"({"clusterName":"fleet/a"})", ".clusterName", "cluster"},
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"x","secretName":"y"})", "", "differs from"},
           {"token-file", R"("--token-file=/t","--allow-audience=prod-*")", R"({"audience":"k"})",
            "", "matches no --allow-audience"},
           // What is wrong with the mapping is told there.
           {"spiffe", R"("--type=jwt","--typo")", R"({"audience":["k"]})", "", ""}}) {
    CAPTURE(c.plugin);
    CAPTURE(c.config);
    const std::vector<lint::Finding> findings =
        findings_of({mapping(c.plugin, c.args), profile(c.config)});
    const std::string told = lint::to_text(findings, {.files = 2});
    CAPTURE(told);
    REQUIRE(findings.size() == (c.message.empty() ? 0 : 1));
    if (c.message.empty()) continue;
    CHECK(findings[0].path.starts_with(kAt + c.path));
    CHECK(findings[0].severity == Severity::error);
    CHECK(contains(findings[0].message, c.message));
    CHECK(contains(findings[0].hint, "'p' is in m.json"));
  }
}

TEST_CASE("lint: the beginning of a secret that is refused is not shown either") {
  const std::string token = "eyJhbGciOiJSUzI1NiJ9." + std::string(200, 'Q') + ".c2ln";
  for (const auto& findings :
       {findings_of({mapping("spiffe", kSpiffe), profile(R"({"audience":")" + token + "\"}")}),
        findings_of({mapping("spiffe", kSpiffe + R"(,"--from-profile")", "Append"),
                     profile(R"({"args":["--audience=)" + token + "\"]}",
                             "clusterprofiles.multicluster.x-k8s.io/exec/additional-args")})}) {
    REQUIRE_FALSE(findings.empty());
    for (const lint::Finding& finding : findings) {
      CHECK_FALSE(contains(finding.message + finding.hint, "eyJ"));
    }
  }
}

TEST_CASE("lint: appended arguments are judged where the mapping appends them") {
  const std::string name = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args";
  const std::string args = R"("--token-file=/t","--from-profile")";
  const File evil = profile(R"({"args":["--allow-server=https://evil"]})", name);
  const auto appending = findings_of({mapping("token-file", args, "Append"), evil});
  REQUIRE(appending.size() == 1);
  CHECK(appending[0].path == kAt);
  CHECK(contains(appending[0].message, "--allow-server stands behind --from-profile"));
  CHECK(findings_of({mapping("token-file", args), evil}).empty());
  const File good = profile(R"({"args":["--audience=server"]})", name);
  CHECK(findings_of({mapping("token-file", args, "Append"), good}).empty());
}

TEST_CASE("lint: without a mapping only what every plugin refuses is told") {
  check_findings({profile(R"({"allowServer":"x","tokenFile":"/t","audience":1})")},
                 {{kAt + ".allowServer", "sets --allow-server"}});
  // A program that is not ours takes what it likes.
  CHECK(findings_of({{.text = mapping("x", "").text.replace(
                          mapping("x", "").text.find("execcred-x"), 10, "secretreader"),
                      .name = "m.json"},
                     profile(R"({"allowServer":"x"})")})
            .empty());
}

TEST_CASE("lint: secrets among arguments, named values and passwords of a ClusterProfile") {
  const std::string path = kAt + ".";
  for (const std::string& extension :
       {std::string(R"({"args":["--client-secret=hunter2hunter2"]})"),
        std::string(R"({"args":["--password","hunter2"]})"),
        std::string(R"({"env":[{"name":"DB_PASSWORD","value":"hunter2"}]})"),
        std::string(R"({"pwd":"hunter2"})"), std::string(R"({"adminPassword":"hunter2"})"),
        std::string(R"({"header":"Authorization: Bearer abcdefgh1jklmn0p"})")}) {
    CAPTURE(extension);
    const auto findings = findings_of({profile(extension)});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].path.starts_with(path));
    CHECK_FALSE(contains(findings[0].message + findings[0].hint, "hunter2"));
  }
  for (const std::string& extension :
       {std::string(R"({"passwordFile":"/run/password"})"), std::string(R"({"args":["--a=b"]})"),
        std::string(R"({"env":[{"name":"A","value":"hunter2hunter2"}]})")}) {
    CHECK(findings_of({profile(extension)}).empty());
  }
}

}  // namespace
}  // namespace execcred::test
