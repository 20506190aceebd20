// SPDX-License-Identifier: Apache-2.0
// A ClusterProfile's settings, checked by the plugin that the mapping runs for it.
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

// Only the findings of the ClusterProfile. Findings of the mapping are not tested here.
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

TEST_CASE("lint: a ClusterProfile's fields are checked by the plugin that gets them") {
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
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"Kc","key":"k"})", ".name", "is no Secret's name"},
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"kc","key":"a/b"})", ".key", "is no key of a Secret"},
           {"static-secret", R"("--convention=secretreader")", R"({"clusterName":"Spoke"})",
            ".clusterName", "'Spoke', is no DNS name"},
           {"static-secret", R"("--convention=managed-serviceaccount","--secret-name=m")",
            R"({"clusterName":"a.b"})", ".clusterName", "'a.b' is no namespace's name"},
           {"static-secret", R"("--secret-name=one")", R"({"clusterName":"Spoke"})", "", ""},
           // Fields that its convention does not use are ignored, and "" counts as absent.
           {"static-secret", R"("--convention=secretreader")", R"({"name":"x"})", "", ""},
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"x","key":"k","namespace":"","context":""})", "", ""},
           {"aws", "", R"({"clusterName":"a","clusterId":"","region":""})", "", ""},
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"x","key":"k"})", "", ""},
           {"azure", R"("--client-id=00000000-0000-0000-0000-000000000000")", R"({"serverId":"z"})",
            ".serverId", "sets --server-id"},
           {"aws", "", R"({"roleArn":"z"})", ".roleArn", "is no ARN of a role"},
           {"aws", "", R"({"sessionName":"z"})", ".sessionName", "sets --session-name"},
           {"aws", "", R"({"region":"../x"})", ".region", "is no name of an AWS region"},
           {"aws", "", R"({"clusterName":"a","clusterId":"b"})", "", ""},
           {"aws", "", R"({"clusterName":"fleet/a","clusterId":"b"})", "", ""},
           {"aws", "", R"({"clusterName":"fleet/a"})", ".clusterName", "cluster"},
           {"static-secret", R"("--convention=kubeconfig-secretreader")",
            R"({"name":"x","secretName":"y"})", "", "differs from"},
           {"token-file", R"("--token-file=/t","--allow-audience=prod-*")", R"({"audience":"k"})",
            "", "matches no --allow-audience"},
           // A problem of the mapping is reported only for the mapping.
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

TEST_CASE("lint: the start of a refused secret is not shown either") {
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

TEST_CASE("lint: appended arguments are checked if the mapping appends them") {
  const std::string name = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args";
  const std::string args = R"("--token-file=/t","--from-profile")";
  const File evil = profile(R"({"args":["--allow-server=https://evil"]})", name);
  const auto appending = findings_of({mapping("token-file", args, "Append"), evil});
  // Each profile also gets a warning, because this form does not work upstream.
  REQUIRE(appending.size() == 2);
  CHECK(appending[1].path == kAt);
  CHECK(contains(appending[1].message, "--allow-server stands behind --from-profile"));
  CHECK(findings_of({mapping("token-file", args), evil}).size() == 1);
  const File good = profile(R"({"args":["--audience=server"]})", name);
  CHECK(findings_of({mapping("token-file", args, "Append"), good}).size() == 1);
}

TEST_CASE("lint: arguments that upstream's library gives to other ClusterProfiles too") {
  const std::string name = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args";
  const std::string args = R"("--token-file=/t","--from-profile")";
  constexpr std::string_view kShared = "appends them to the one list that all share";
  const auto named = [&name](const std::string& profile_name, const std::string& arguments) {
    File file =
        arguments.empty() ? profile("{}") : profile(R"({"args":[)" + arguments + "]}", name);
    const std::string own = R"("name":"c"})";
    file.text.replace(file.text.find(own), own.size(), R"("name":")" + profile_name + "\"}");
    return file;
  };
  const auto shared = [&](const std::string& policy, const std::string& plugin,
                          const std::vector<std::string>& arguments) {
    std::vector<File> files = {mapping(plugin, args, policy)};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      files.push_back(named("c" + std::to_string(i), arguments[i]));
    }
    std::size_t count = 0;
    for (const lint::Finding& finding : findings_of(files)) {
      if (!contains(finding.message, kShared)) continue;
      CHECK(finding.severity == Severity::error);
      CHECK(finding.path == kAt);
      CHECK(contains(finding.hint, "in m.json"));
      ++count;
    }
    return count;
  };
  const std::string one = R"("--audience=a")";
  const std::string two = R"("--audience=b")";
  for (const std::string plugin : {"token-file", "of-somebody-else"}) {
    CAPTURE(plugin);
    CHECK(shared("Append", plugin, {one, two}) == 1);
    CHECK(shared("Append", plugin, {one, two, one, two}) == 2);
    CHECK(shared("Append", plugin, {one, ""}) == 1);  // the second one gets what it does not name
    CHECK(shared("Append", plugin, {one, one}) == 0);
    CHECK(shared("Append", plugin, {one}) == 0);
    CHECK(shared("Append", plugin, {"", ""}) == 0);
    CHECK(shared("Ignore", plugin, {one, two}) == 0);
  }
}

// A ClusterProfile that lists these providers.
File profile_of(const std::vector<std::string>& names, const std::string& group = {}) {
  std::string providers;
  for (const std::string& name : names) {
    providers += (providers.empty() ? "{" : ",{") +
                 (R"("name":")" + name + R"(","cluster":{"server":"https://c.example.com"}})");
  }
  return {.text = R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
                  R"("metadata":{"name":"c"},"status":{"accessProviders":[)" +
                  providers + "]}}",
          .name = "c.json",
          .group = group};
}

TEST_CASE("lint: a ClusterProfile without a provider of the mapping cannot be reached") {
  const File map = mapping("token-file", R"("--token-file=/{server.host}/t")");
  for (const std::vector<File>& files : {std::vector<File>{map, profile_of({"gke", "spire"})},
                                         {profile_of({"gke", "spire"}), map}}) {
    const std::vector<lint::Finding> findings = findings_of(files);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].path == "status.accessProviders");
    CHECK(findings[0].severity == Severity::error);
    CHECK(findings[0].message ==
          "lists 'gke', 'spire', and the mapping has none of these: it has 'p'");
    CHECK(contains(findings[0].hint, "m.json"));
  }
  CHECK(findings_of({map, profile_of({"gke", "p"})}).empty());
  CHECK(findings_of({profile_of({"gke"})}).empty());  // no mapping to compare with
  const std::vector<lint::Finding> folded = findings_of({map, profile_of({"P"})});
  REQUIRE(folded.size() == 1);
  CHECK(contains(folded[0].hint, "names count with their case"));
}

TEST_CASE(
    "lint: a ClusterProfile's providers are looked up in its folder, then in the named files") {
  const File near = {.text = mapping("token-file", R"("--token-file=/{server.host}/t")").text,
                     .name = "near.json",
                     .group = "one"};
  const File named = mapping("token-file", R"("--token-file=/{server.host}/t")");
  CHECK(findings_of({near, profile_of({"p"}, "one")}).empty());
  CHECK(findings_of({near, profile_of({"x"}, "one")}).size() == 1);
  CHECK(findings_of({near, profile_of({"x"}, "two")}).empty());
  CHECK(findings_of({named, profile_of({"p"}, "two")}).empty());
  CHECK(findings_of({named, profile_of({"x"}, "two")}).size() == 1);
  // One of two mappings is enough, because they may be for two consumers.
  File other = named;
  other.text.replace(other.text.find("\"p\""), 3, "\"x\"");
  CHECK(findings_of({named, other, profile_of({"x"})}).empty());
}

TEST_CASE("lint: Argo CD's placeholders in a mapping's arguments") {
  const std::string placed =
      R"("--type=jwt","--allow-server=https://*.example.com",)"
      R"("--allow-audience={{ .ClusterProfileServer }}","--cluster={{ .ClusterProfileName }}")";
  const auto all = lint_files({mapping("spiffe", placed), profile(R"({"audience":"https://x"})")});
  const std::string told = lint::to_text(all, {.files = 2});
  CAPTURE(told);
  REQUIRE(all.size() == 3);
  for (int i = 0; i < 2; ++i) {
    CHECK(all[static_cast<std::size_t>(i)].severity == Severity::info);
    CHECK(contains(all[static_cast<std::size_t>(i)].message, "which Argo CD fills in"));
  }
  // The audience is checked with the placeholders filled in for this ClusterProfile.
  CHECK(contains(all[2].message, "matches no --allow-audience"));
  CHECK(findings_of({mapping("spiffe", placed), profile(R"({"audience":"https://c.example.com"})")})
            .empty());
  check_findings({mapping("token-file", R"("--token-file=/{server.host}",)"
                                        R"("--allow-server={{ .ClusterProfileServer }}")")},
                 {{"providers[0].execConfig.args[1]", "which Argo CD fills in", Severity::info},
                  {"providers[0].execConfig.args[1]", "and so every server", Severity::warning}});
}

TEST_CASE("lint: a template that no program fills in is refused") {
  const std::string kPinned = R"(","--server-ca-file=/ca")";
  for (const std::string value :
       {"{{.ClusterProfileName}}", "{{ .Name }}", "{{- .ClusterProfileName }}"}) {
    CAPTURE(value);
    check_findings(
        {mapping("token-file", R"("--token-file=/{server.host}","--cluster=)" + value + kPinned)},
        {{"providers[0].execConfig.args[1]", "a template that nobody expanded"}});
    check_findings({mapping("token-file", R"("--token-file=/{server.host}/)" + value + kPinned)},
                   {{"providers[0].execConfig.args[0]", "a template that nobody expanded"}});
  }
  check_findings(
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
      "featureGates: {MultiKueueClusterProfile: true}\n"
      "multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {interactiveMode: "
      "Never, apiVersion: client.authentication.k8s.io/v1, command: execcred-token-file, args: "
      "['--token-file=/{server.host}', '--cluster={{ .ClusterProfileName }}', "
      "'--server-ca-file=/ca'], "
      "provideClusterInfo: true}}]}}\n",
      {{"multiKueue.clusterProfile.accessProviders[0].execConfig.args[1]",
        "a template that nobody expanded"}});
}

TEST_CASE("lint: without a mapping, only what every plugin refuses is reported") {
  check_findings({profile(R"({"allowServer":"x","tokenFile":"/t","audience":1})")},
                 {{kAt + ".allowServer", "sets --allow-server"}});
  // A program that is not an execcred plugin may accept any field.
  CHECK(findings_of({{.text = mapping("x", "").text.replace(
                          mapping("x", "").text.find("execcred-x"), 10, "secretreader"),
                      .name = "m.json"},
                     profile(R"({"allowServer":"x"})")})
            .empty());
}

TEST_CASE("lint: secrets in arguments, named values and passwords of a ClusterProfile are found") {
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
