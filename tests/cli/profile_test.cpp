// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles, field by field.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/certificates.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace blackbox;

namespace {

struct Bad {
  std::string profile;
  std::string field;
  int exit_code = 2;
};

const std::string kHead =
    R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile")";

std::string with_status(const std::string& status) {
  return kHead + R"(,"metadata":{"name":"c1","namespace":"fleet"},"status":)" + status + "}";
}

std::string with_cluster(const std::string& cluster) {
  return with_status(R"({"accessProviders":[{"name":"p","cluster":)" + cluster + "}]}");
}

std::string with_server(const std::string& server) {
  return with_cluster("{\"server\":" + json_string(server) + "}");
}

std::string with_extensions(const std::string& extensions) {
  return with_cluster(R"({"server":"https://10.1.2.3","extensions":)" + extensions + "}");
}

constexpr const char* kCluster = "status.accessProviders[0].cluster.";

void check_refused(const Bad& bad) {
  CAPTURE(bad.profile);
  const Inventory inventory(mapping({mapped("p", "/bin/true", "",
                                            R"(,"profileSourcedCLIArgsPolicy":"Append")"
                                            R"(,"profileSourcedEnvVarsPolicy":"Replace")")}),
                            bad.profile);
  const Outcome outcome = inventory.run("resolve");
  CHECK_FAILURE(outcome, bad.exit_code, bad.field);
  CHECK_MESSAGE(outcome.error_output.find("\n  hint: ") != std::string::npos, describe(outcome));
  CHECK(inventory.run("get").exit_code == bad.exit_code);
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("a ClusterProfile of Sveltos is another kind, beside ours and alone") {
  const std::string other =
      R"({"kind":"ClusterProfile","apiVersion":"config.projectsveltos.io/v1beta1",)"
      R"("metadata":{"name":"c"}})";
  const std::string list =
      R"({"kind":"ClusterProfileList","apiVersion":"config.projectsveltos.io/v1beta1",)"
      R"("items":[{"metadata":{"name":"c"}}]})";
  const std::string ours = profile("c1", {provider("p")});
  for (const std::string& text : {other, list}) {
    CAPTURE(text);
    const Outcome both = Inventory(mapping({mapped("p", "/bin/true")}), ours + "\n---\n" + text)
                             .run("resolve", {"-o", "name"});
    CHECK_MESSAGE(both.exit_code == 0, describe(both));
    CHECK(both.output == "fleet/c1\n");
    CHECK_REFUSAL(Inventory(mapping({mapped("p", "/bin/true")}), text).run("resolve", {}), 2,
                  "no ClusterProfile");
  }
  const std::string misspelled =
      R"({"kind":"ClusterProfile","apiVersion":"projectsveltos.io/v1","metadata":{"name":"c"}})";
  CHECK_REFUSAL(Inventory(mapping({mapped("p", "/bin/true")}), misspelled).run("resolve", {}), 2,
                "apiVersion");
}

TEST_CASE("a malformed ClusterProfile is refused, with the field and a hint") {
  const std::string cluster = kCluster;
  const std::vector<Bad> cases = {
      {"", "profiles.yaml"},
      {"# nothing\n---\n...\n", "profiles.yaml"},
      {"text", "object"},
      {"- a\n- b\n", "object"},
      {"a: [", "YAML"},
      {"\tb: c\n", "YAML"},
      {"{}", "kind"},
      {R"({"kind":"ClusterProfile"})", "apiVersion"},
      {R"({"kind":"ClusterProfile","apiVersion":"v1","metadata":{"name":"c"}})", "apiVersion"},
      {R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}})", "profiles.yaml"},
      {kHead + "}", "metadata"},
      {kHead + R"(,"metadata":{}})", "metadata.name"},
      {kHead + R"(,"metadata":{"name":["c"]}})", "metadata.name"},
      {kHead + R"(,"metadata":{"name":"UPPER"}})", "metadata.name"},
      {kHead + R"(,"metadata":{"name":"../c"}})", "metadata.name"},
      {kHead + R"(,"metadata":{"name":"c","namespace":"a/b"}})", "metadata.namespace"},
      {kHead + R"(,"metadata":{"name":"c"},"metadata":{"name":"d"}})", "metadata"},
      {with_status("[]"), "status"},
      {with_status("{}"), "lists no provider"},
      {with_status(R"({"accessProviders":"p"})"), "status.accessProviders"},
      {with_status(R"({"accessProviders":[[]]})"), "status.accessProviders[0]"},
      {with_status(R"({"accessProviders":[{}]})"), "status.accessProviders[0].name"},
      {with_status(R"({"accessProviders":[{"name":"p"},{"name":"p"}]})"),
       "status.accessProviders[1].name"},
      {with_status(R"({"accessProviders":[{"name":"p"}]})"), "status.accessProviders[0].cluster"},
      {with_status(R"({"credentialProviders":[{"name":"p"}]})"),
       "status.credentialProviders[0].cluster"},
      {with_status(R"({"accessProviders":[{"name":"q","cluster":{"server":"https://h"}}]})"),
       "'q'"},
      {with_cluster("\"https://h\""), "status.accessProviders[0].cluster"},
      {with_cluster("{}"), cluster + "server"},
      {with_server(""), cluster + "server"},
      {with_cluster(R"({"server":null})"), cluster + "server"},
      {with_cluster(R"({"server":6443})"), cluster + "server"},
      {with_server("10.1.2.3:6443"), cluster + "server"},
      {with_server("https://"), cluster + "server"},
      {with_server("https://h\n"), cluster + "server"},
      {with_server("http://10.1.2.3"), cluster + "server", 1},
      {with_server("ftp://10.1.2.3:21"), cluster + "server", 1},
      {with_cluster(R"({"server":"https://h","tls-server-name":[]})"), cluster + "tls-server-name"},
      {with_cluster(R"({"server":"https://h","insecure-skip-tls-verify":"no"})"),
       cluster + "insecure-skip-tls-verify"},
      {with_cluster(R"({"server":"https://h","certificate-authority-data":"%%%"})"),
       cluster + "certificate-authority-data"},
      {with_cluster(R"({"server":"https://h","certificate-authority-data":["a"]})"),
       cluster + "certificate-authority-data"},
      {with_cluster(R"({"server":"https://h","certificate-authority":"/etc/ca.crt"})"),
       cluster + "certificate-authority"},
      {with_cluster(R"({"server":"https://h","proxy-url":5})"), cluster + "proxy-url"},
      {with_cluster(R"({"server":"https://h","disable-compression":"x"})"),
       cluster + "disable-compression"},
      {with_extensions("{}"), cluster + "extensions"},
      {with_extensions("[5]"), cluster + "extensions[0]"},
      {with_extensions(R"([{"extension":{}}])"), cluster + "extensions[0].name"},
      {with_extensions("[" + extension("x", "{}") + "," + extension("x", "{}") + "]"),
       cluster + "extensions[1].name"},
      {with_extensions("[" + extension(kArgumentsExtension, "\"--x\"") + "]"),
       cluster + "extensions[0].extension"},
      {with_extensions("[" + extension(kArgumentsExtension, "[1]") + "]"),
       cluster + "extensions[0].extension[0]"},
      {with_extensions("[" + extension(kArgumentsExtension, R"(["a\u0000"])") + "]"),
       cluster + "extensions[0].extension[0]"},
      {with_extensions("[" + extension(kArgumentsExtension, R"({"args":"--x"})") + "]"),
       cluster + "extensions[0].extension.args"},
      {with_extensions("[" + extension(kVariablesExtension, "5") + "]"),
       cluster + "extensions[0].extension"},
      {with_extensions("[" + extension(kVariablesExtension, R"({"A":1})") + "]"),
       cluster + "extensions[0].extension.A"},
      {with_extensions("[" + extension(kVariablesExtension, R"({"A=B":"c"})") + "]"), "A=B"},
      {with_extensions("[" + extension(kVariablesExtension, R"([{"value":"c"}])") + "]"),
       cluster + "extensions[0].extension[0].name"},
      {with_server("https://h") + "}", "JSON"},
  };
  for (const Bad& bad : cases) check_refused(bad);
}

TEST_CASE("a CA beside insecure-skip-tls-verify is refused, as kubectl would refuse it later") {
  const std::string both = R"(,"insecure-skip-tls-verify":true,"certificate-authority-data":")" +
                           base64(kAuthorityOne) + "\"";
  const std::string field = "status.accessProviders[0].cluster.insecure-skip-tls-verify";
  const Inventory inventory(mapping({mapped("p", "/bin/true")}),
                            profile("c1", {provider("p", "https://h", both)}));
  for (const std::string subcommand : {"resolve", "get", "kubeconfig"}) {
    CAPTURE(subcommand);
    CHECK_REFUSAL(inventory.run(subcommand), 2,
                  field + " is true beside certificate-authority-data, which clients refuse");
  }
  const Outcome linted =
      run({.arguments = {kCli, "lint", inventory.sandbox().at("profiles.yaml")}});
  CHECK(linted.output.find(": error: " + field +
                           ": is true beside certificates, which clients refuse") !=
        std::string::npos);
  // insecure-skip-tls-verify with an empty CA is accepted.
  const std::string insecure =
      R"(,"insecure-skip-tls-verify":true,"certificate-authority-data":"")";
  const Outcome alone = Inventory(mapping({mapped("p", "/bin/true")}),
                                  profile("c1", {provider("p", "https://h", insecure)}))
                            .run("resolve", {"-o", "json"});
  CHECK_MESSAGE(alone.exit_code == 0, describe(alone));
  CHECK(json_at(alone.output, "items.0.cluster.insecure-skip-tls-verify") == "true");
}

TEST_CASE("YAML has limits: depth, aliases, size, unusual keys and tags") {
  const std::string head =
      "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\n"
      "metadata: {name: c1, namespace: fleet}\n";
  std::string bomb = head + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "" : ",") + before;
    bomb += "]\n";
  }
  struct Refused {
    std::string text;
    std::string said;
  };
  const std::vector<Refused> cases = {
      {bomb, "aliases that stand for more than 10000 nodes"},
      {head + "deep: " + std::string(100, '[') + std::string(100, ']') + "\n", "nested deeper"},
      {head + "deep: " + std::string(200'000, '['), "nested deeper"},
      {head + "cycle: &c [*c]\n", "an alias without an anchor"},
      {head + "missing: *nobody\n", "an alias without an anchor"},
      {head + "kind: ClusterProfile\n", "the key 'kind' more than once"},
      {head + "tag: !!python/object:os.system {}\n", "the unknown tag '!!python/object:os.system'"},
      {head + "tag: !!binary aGk\n", "'!!binary' that is no base64"},
      {head + "? [a, b]\n: c\n", "a key that is no scalar"},
      {head + "base: &b {x: 1}\nmerged: {<<: *b}\n", "a merge key"},
      {head + "number: .inf\n", "which JSON cannot hold"},
      {head + "bytes: \"\xff\"\n", "invalid leading UTF-8 octet"},
      {head + "pad: " + std::string(64UL * 1024 * 1024, 'x') + "\n", "larger than 65536 KiB"},
      {"%YAML 9.9\n---\n" + head, "found incompatible YAML document"},
  };
  for (const Refused& c : cases) {
    CAPTURE(c.text.substr(0, 300));
    const Inventory inventory(mapping({mapped("p", "/x")}), c.text);
    const Outcome outcome = inventory.run("resolve");
    CHECK_FAILURE(outcome, 2, c.said);
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
}

TEST_SUITE_END();
