// SPDX-License-Identifier: Apache-2.0
// lint's checks of mappings and of Kueue's block, and of the program that they run.
#include "lint.hpp"

namespace execcred {
namespace {

using test::check_findings;
using test::Expected;
using test::Severity;

constexpr auto kWarning = Severity::warning;
const std::string kVersion = R"("apiVersion":"client.authentication.k8s.io/v1")";

std::string mapping(const std::string& exec, const std::string& entry = {}) {
  return R"({"providers":[{"name":"p","execConfig":{)" + exec + "}" + entry + "}]}";
}

// A mapping for a program that is not an execcred plugin.
std::string other(const std::string& more, const std::string& entry = {}) {
  return mapping(kVersion + R"(,"command":"/bin/other")" + more, entry);
}

std::string ours(const std::string& plugin, const std::string& args, const std::string& more = {},
                 const std::string& entry = {}) {
  return mapping(
      kVersion + R"(,"command":"/plugins/)" + plugin + R"(","args":[)" + args + "]" + more, entry);
}

const std::string kTold = R"(,"provideClusterInfo":true)";
const Expected kNoCa{"providers[0].execConfig.args", "lacks --allow-server and --server-ca-file",
                     kWarning};

TEST_CASE("lint: a valid mapping has no findings") {
  check_findings(
      other(R"(,"args":null,"env":[{"name":"A","value":"b"}],"interactiveMode":"Never")"), {});
  check_findings(
      ours("execcred-token-file",
           R"("--token-file=/t/{server.host}/token","--allow-server","https://*.e.com:6443",)"
           R"("--timeout=5s","-audience","x","--from-profile")",
           kTold, R"(,"profileSourcedCLIArgsPolicy":"Ignore")"),
      {});
  check_findings(
      ours("execcred-token-file", R"("--token-file=/t/{server.host}/token")",
           kTold + R"(,"env":[{"name":"EXECCRED_ALLOW_SERVER","value":"https://a,https://b"}])"),
      {});
  check_findings(ours("execcred-spiffe", R"("--type=x509","--socket","unix:///s")"), {});
}

TEST_CASE("lint: all problems of a mapping are reported at once, each at its field") {
  check_findings(
      R"({"providers":[
        {"name":"a","execConfig":{"command":"rel","args":["ok",5,"a\u0000"],"env":[{"name":"A=B"},7,{"value":1}],
          "interactiveMode":"never","provideClusterInfo":"yes","installHint":[]},
         "profileSourcedCLIArgsPolicy":"append","profileSourcedEnvVarsPolicy":9},
        7,
        {"name":"a","execConfig":null}]})",
      {{"providers[0].execConfig.apiVersion", "is missing"},
       {"providers[0].execConfig.command", "no absolute path"},
       {"providers[0].execConfig.args[1]", "must be a string"},
       {"providers[0].execConfig.args[2]", "NUL"},
       {"providers[0].execConfig.env[0].name", "'='"},
       {"providers[0].execConfig.env[1]", "must be an object"},
       {"providers[0].execConfig.env[2].name", "is missing"},
       {"providers[0].execConfig.env[2].value", "must be a string"},
       {"providers[0].execConfig.interactiveMode", "'never'"},
       {"providers[0].execConfig.provideClusterInfo", "true or false"},
       {"providers[0].execConfig.installHint", "must be a string"},
       {"providers[0].profileSourcedCLIArgsPolicy", "'append'"},
       {"providers[0].profileSourcedEnvVarsPolicy", "must be a string"},
       {"providers[1]", "must be an object"},
       {"providers[2].name", "like that of an entry before it"},
       {"providers[2].execConfig", "is missing"}});
}

TEST_CASE("lint: keys that Go accepts in another case, or ignores, are warnings") {
  check_findings(
      R"({"Providers":[{"NAME":"p","execconfig":{)" + kVersion +
          R"(,"command":"/x","arguments":[],"env":[{"name":"A","VALUE":"b"}]},"extra":1}],"v":2})",
      {{"Providers", "'providers'", kWarning},
       {"providers[0].NAME", "'name'", kWarning},
       {"providers[0].execconfig", "'execConfig'", kWarning},
       {"providers[0].execConfig.arguments", "is no field", kWarning},
       {"providers[0].execConfig.env[0].VALUE", "'value'", kWarning},
       {"providers[0].extra", "is no field", kWarning},
       {"v", "is no field", kWarning}});
}

TEST_CASE("lint: keys that differ only in case are an error, and hide no other problem") {
  check_findings(mapping(kVersion + R"(,"command":"rel","Command":"/x")"),
                 {{"", "more than once"},
                  {"providers[0].execConfig.command", "no absolute path"},
                  {"providers[0].execConfig.Command", "'command'", kWarning}});
}

TEST_CASE("lint: a mapping in YAML is an error, and one without a provider is a warning") {
  check_findings("providers: []\n", {{"", "the document"}});
  check_findings(R"({"providers":[]})", {{"providers", "is empty", kWarning}});
}

TEST_CASE("lint: policies that let a ClusterProfile choose a plugin's settings") {
  const std::string token = R"("--token-file=/t/{server.host}")";
  const std::string limited =
      kTold + R"(,"env":[{"name":"EXECCRED_ALLOW_SERVER","value":"https://a"}])";
  const std::string both =
      R"(,"profileSourcedCLIArgsPolicy":"Append","profileSourcedEnvVarsPolicy":"AppendIfNotExists")";
  check_findings(ours("execcred-token-file", token, limited, both),
                 {{"providers[0].profileSourcedCLIArgsPolicy", "any option of this plugin"},
                  {"providers[0].profileSourcedEnvVarsPolicy", "this plugin's environment"}});
  const Expected shared = {"providers[0].profileSourcedCLIArgsPolicy",
                           "the one list that all clusters of the provider share", kWarning};
  check_findings(other("", both),
                 {shared, {"providers[0].profileSourcedEnvVarsPolicy", "LD_PRELOAD", kWarning}});
  check_findings(ours("execcred-token-file", token + R"(,"--from-profile")", limited,
                      R"(,"profileSourcedCLIArgsPolicy":"Append")"),
                 {shared});
  check_findings(
      ours("execcred-token-file", token + R"(,"--from-profile","--audience=x")", limited),
      {{"providers[0].execConfig.args[1]", "not the last", kWarning}});
}

TEST_CASE("lint: options that a plugin would refuse, each at its argument") {
  check_findings(
      ours(
          "execcred-token-file",
          R"("--token-file=/t/{server.host}","--bogus","x","--timeout=90m","--allow-server=ftp://x",)"
          R"("--allow-server=https://ok","word","--max-age","0s","--max-age=1h","--debug=maybe","--audience=",)"
          R"("--api-version=v2","--allow-proxy=https://p:*","--from-profile","--from-profile","--timeout=2s")",
          kTold),
      {{"providers[0].execConfig.args[1]", "unknown option '--bogus'"},
       {"providers[0].execConfig.args[3]", "60s"},
       {"providers[0].execConfig.args[4]", "--allow-server"},
       {"providers[0].execConfig.args[6]", "is no option"},
       {"providers[0].execConfig.args[7]", "below 1s"},
       {"providers[0].execConfig.args[9]", "given twice"},
       {"providers[0].execConfig.args[10]", "neither true nor false"},
       {"providers[0].execConfig.args[11]", "empty value"},
       {"providers[0].execConfig.args[12]", "--api-version"},
       {"providers[0].execConfig.args[14]", "not the last", kWarning},
       {"providers[0].execConfig.args[15]", "given twice"},
       {"providers[0].execConfig.args[16]", "may not come from a ClusterProfile"}});
  check_findings(ours("execcred-token-file", R"("--token-file={server.port}")", kTold),
                 {{"providers[0].execConfig.args[0]", "{server.port}"},
                  {"providers[0].execConfig.args[0]", "relative path", kWarning},
                  {"providers[0].execConfig.args", "lacks --allow-server", kWarning}});
  check_findings(ours("execcred-token-file", ""),
                 {{"providers[0].execConfig.args", "--token-file, which is required"}});
  // Another plugin, whose values are separate arguments.
  check_findings(ours("execcred-spiffe", R"("--type","x509","--hint","h","--timeout=x")"),
                 {{"providers[0].execConfig.args[4]", "no duration"}});
}

TEST_CASE("lint: variables that a plugin would refuse, or not read") {
  check_findings(
      ours(
          "execcred-token-file", "",
          R"(,"env":[{"name":"EXECCRED_TOKEN_FILE","value":"/t/{server.host}"},{"name":"EXECCRED_TIMEOUT","value":"x"},)"
          R"({"name":"EXECCRED_TIMEOUT","value":"2s"},{"name":"EXECCRED_TOKENFILE","value":"/t"},)"
          R"({"name":"EXECCRED_SERVER_CA_FILE","value":"/ca"},{"name":"HOME","value":"/"},)"
          R"({"name":"EXECCRED_ALLOW_SERVER","value":"https://a"}])" +
              kTold),
      {{"providers[0].execConfig.env[1].value", "no duration"},
       {"providers[0].execConfig.env[2].name", "the last counts", kWarning},
       {"providers[0].execConfig.env[3].name", "does not read", kWarning},
       {"providers[0].execConfig.env[4].name", "not read from the environment", kWarning}});
}

TEST_CASE("lint: options that need cluster information require provideClusterInfo") {
  for (const std::string arg : {R"("--allow-server=https://a")", R"("-server-ca-file","/ca")"}) {
    check_findings(ours("execcred-spiffe", R"("--type=x509",)" + arg),
                   {{"providers[0].execConfig.provideClusterInfo", "is not true"}});
    check_findings(ours("execcred-spiffe", R"("--type=x509",)" + arg, kTold), {});
  }
  check_findings(ours("execcred-token-file", R"("--token-file=/t/{server.host}")"),
                 {{"providers[0].execConfig.provideClusterInfo", "--token-file needs"}, kNoCa});
  check_findings(
      ours("execcred-static-secret", R"("--secret-name={clusterName}","--format=certificate")"),
      {{"providers[0].execConfig.provideClusterInfo", "--secret-name needs"}});
  check_findings(ours("execcred-static-secret",
                      R"("--secret-name={clusterName}","--cluster=c","--format=certificate")"),
                 {});
}

TEST_CASE("lint: tokens that are valid at many servers need --allow-server") {
  const Expected lacks{"providers[0].execConfig.args", "lacks --allow-server", kWarning};
  for (const std::string plugin : {"execcred-google", "execcred-azure", "execcred-aws"}) {
    check_findings(ours(plugin, ""), {lacks});
    check_findings(ours(plugin, R"("--allow-server=https://a")", kTold), {});
  }
  check_findings(ours("execcred-spiffe", R"("--type","jwt")"), {lacks});
  // A name that only the ClusterProfile gives binds a token to no CA.
  const std::string names_server = R"("--type=jwt","--allow-audience=server")";
  check_findings(ours("execcred-spiffe", names_server, kTold), {kNoCa});
  check_findings(ours("execcred-spiffe", names_server + R"(,"--server-ca-file=/ca")", kTold), {});
  check_findings(ours("execcred-spiffe", names_server + R"(,"--allow-audience=b")", kTold),
                 {lacks});
  check_findings(ours("execcred-spiffe", names_server + R"(,"--audience=b")", kTold), {lacks});
  check_findings(ours("execcred-token-file", R"("--token-file=/t/{server.host}")", kTold), {kNoCa});
  check_findings(ours("execcred-token-file", R"("--token-file=/t")"), {lacks});
  check_findings(ours("execcred-token-file", R"("--token-file=/t/{clusterName}")", kTold), {lacks});
  check_findings(ours("execcred-static-secret", ""), {lacks});
  check_findings(ours("execcred-static-secret", R"("--allow-server=https://a")", kTold), {});
}

TEST_CASE("lint: templates, in arguments and in variables") {
  check_findings(
      ours("execcred-static-secret",
           R"("--convention=secretreader","--allow-server=https://a","--key={x}")", kTold),
      {{"providers[0].execConfig.args[2]", "{x}"}});
  check_findings(ours("execcred-token-file", R"("--allow-server=https://a")",
                      kTold + R"(,"env":[{"name":"EXECCRED_TOKEN_FILE","value":"/t/{cluster}"}])"),
                 {{"providers[0].execConfig.env[0].value", "{cluster}"}});
  check_findings(
      ours("execcred-token-file", "",
           R"(,"env":[{"name":"EXECCRED_TOKEN_FILE","value":"/t/{server.host}/token"}])"),
      {{"providers[0].execConfig.provideClusterInfo", "--token-file needs"}, kNoCa});
}

TEST_CASE("lint: options that weaken a check") {
  check_findings(ours("execcred-static-secret",
                      R"("--allow-hub-token","--allow-namespace=any","--allow-namespace=x",)"
                      R"("--format=certificate")"),
                 {{"providers[0].execConfig.args[0]", "hub's own", kWarning},
                  {"providers[0].execConfig.args[1]", "any namespace", kWarning}});
  check_findings(ours("execcred-google",
                      R"("--allow-server=https://[0.0.0.0/0]","--allow-audience=any")", kTold),
                 {{"providers[0].execConfig.args[0]", "every address", kWarning},
                  {"providers[0].execConfig.args[1]", "choose the audience", kWarning}});
  check_findings(ours("execcred-google", "",
                      kTold + R"(,"env":[{"name":"EXECCRED_ALLOW_AUDIENCE","value":"a,any"},)"
                              R"({"name":"EXECCRED_ALLOW_SERVER","value":"https://[0.0.0.0/0]"}])"),
                 {{"providers[0].execConfig.env[0].value", "choose the audience", kWarning},
                  {"providers[0].execConfig.env[1].value", "every address", kWarning}});
  check_findings(other(R"(,"interactiveMode":"Always")"),
                 {{"providers[0].execConfig.interactiveMode", "terminal", kWarning}});
}

std::string kueue(const std::string& block) {
  return "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
         "featureGates: {MultiKueueClusterProfile: true}\nmultiKueue:\n  clusterProfile:\n" +
         block;
}

TEST_CASE("lint: Kueue's block needs a feature gate") {
  const std::string head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
  const std::string block = "multiKueue: {clusterProfile: {accessProviders: []}}\n";
  constexpr std::string_view kGate = "featureGates.MultiKueueClusterProfile";
  check_findings(kueue("    accessProviders: []"), {});
  for (const std::string gates :
       {"", "featureGates: {}\n", "featureGates: null\n", "featureGates: {MultiKueue: true}\n",
        "featureGates: {MultiKueueClusterProfile: false}\n"}) {
    const std::string without_block = head + gates;
    check_findings(without_block, {});
    check_findings(without_block + block, {{kGate, "without this gate Kueue", kWarning}});
  }
  check_findings(head + "featureGates: {MultiKueueClusterProfile: 'yes'}\n" + block,
                 {{kGate, "must be"}});
  check_findings(head + "featureGates: []\n" + block, {{"featureGates", "must be an object"}});
}

TEST_CASE("lint: Kueue's block, in which a command may be a file name in /plugins") {
  const std::string exec =
      "execConfig: {apiVersion: client.authentication.k8s.io/v1beta1, interactiveMode: Never, "
      "command: ";
  check_findings(kueue("    accessProviders: [{name: a, " + exec + "other}}]"), {});
  check_findings(kueue("    accessProviders: [{name: a, " + exec + "/x/other}}]"), {});
  check_findings(
      kueue("    accessProviders: [{name: a, " + exec + "../x}}]"),
      {{"multiKueue.clusterProfile.accessProviders[0].execConfig.command", "no absolute path"}});
  check_findings("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n", {});
  const std::string at = "multiKueue.clusterProfile.";
  check_findings(
      kueue("    accessProviders: [{name: a, execConfig: {command: execcred-google, Args: []}}, 5,"
            " {Name: a, execConfig: 5}, {name: a, " +
            exec +
            "x}}]\n"
            "    credentialsProviders: []\n    other: 1\n"),
      {{at + "accessProviders[0].execConfig.apiVersion", "is missing"},
       {at + "accessProviders[0].execConfig.Args", "'args'"},
       {at + "accessProviders[0].execConfig.interactiveMode", "which Kueue refuses"},
       {at + "accessProviders[0].execConfig.args", "lacks --allow-server", kWarning},
       {at + "accessProviders[1]", "must be an object"},
       {at + "accessProviders[2].Name", "'name'"},
       {at + "accessProviders[2].name", "is missing"},
       {at + "accessProviders[2].execConfig", "must be an object"},
       {at + "accessProviders[3].name", "like that of an entry before it"},
       {at + "credentialsProviders", "stands beside accessProviders"},
       {at + "other", "is no field"}});
  check_findings(kueue("    credentialsProviders: [{name: a, " + exec + "x}}]"),
                 {{at + "credentialsProviders", "deprecated", kWarning}});
}

}  // namespace
}  // namespace execcred
