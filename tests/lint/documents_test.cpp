// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles and kubeconfigs under lint, and how documents are recognised.
#include "lint.hpp"
#include "support/tls_identity.hpp"

#include <execcred/base/encoding.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_findings;
using test::Severity;

constexpr auto kWarning = Severity::warning;

std::string profile(const std::string& status,
                    const std::string& metadata = "name: c, namespace: fleet") {
  return "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\nmetadata: {" +
         metadata + "}\nstatus:\n" + status;
}

// One provider with these members of its cluster, in YAML's flow style.
std::string cluster(const std::string& members) {
  return profile("  accessProviders: [{name: a, cluster: {" + members + "}}]\n");
}

std::string extension(const std::string& name, const std::string& value) {
  return cluster("server: 'https://h', extensions: [{name: " + name + ", extension: " + value +
                 "}]");
}

// The certificate is an empty SEQUENCE ("MAA="), which is valid DER.
const std::string kCertificatePem =
    "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
const std::string kCertificate = encode_base64(kCertificatePem);
const std::string kAt = "status.accessProviders[0].cluster.";

TEST_CASE("lint: a valid ClusterProfile has no findings") {
  check_findings(
      cluster("server: 'https://h:6443/p', tls-server-name: '', proxy-url: 'socks5://u@p:1', "
              "disable-compression: false, certificate-authority-data: " +
              kCertificate),
      {});
  check_findings(extension("client.authentication.k8s.io/exec",
                           "{clusterName: c, audience: [x, z], region: eu, other: {a: [1]}}"),
                 {});
  check_findings(extension("somebody.example.com/else", "[1]"), {});
}

TEST_CASE("lint: the name, namespace and apiVersion of a ClusterProfile are checked") {
  const std::string status = "  accessProviders: [{name: a, cluster: {server: 'https://h'}}]\n";
  check_findings(
      profile(status, "name: A_b, namespace: a.b"),
      {{"metadata.name", "no DNS-1123 subdomain"}, {"metadata.namespace", "no DNS-1123 label"}});
  check_findings(profile(status, "namespace: fleet"), {{"metadata.name", "is missing"}});
  check_findings(profile(status, "name: 7"), {{"metadata.name", "must be a string"}});
  check_findings("kind: ClusterProfile\napiVersion: x/v1\nstatus:\n" + status,
                 {{"apiVersion", "'x/v1'"}, {"metadata", "is missing"}});
  const std::string bare = "kind: ClusterProfile\nmetadata: {name: c}\nstatus:\n" + status;
  check_findings(bare, {{"apiVersion", "is missing"}});
  check_findings("kind: List\nitems: []\n", {{"apiVersion", "is missing"}});
  check_findings("kind: ClusterProfileList\napiVersion: v1\nitems: []\n", {{"apiVersion", "'v1'"}});
  // Fields that only the commands of execcred read.
  check_findings(
      profile(status + "  properties: [{name: cluster.clusterset.k8s.io, value: 12345}]\n"),
      {{"status.properties[0].value", "must be a string"}});
  check_findings(
      profile(status) + "---\n" + profile(status),
      {{"document[1].metadata.name", "'fleet/c', which stands in 'f: document[0]' too"}});
}

std::string newer(const std::string& text) {
  std::string newer = text;
  return newer.replace(newer.find("v1alpha1"), 8, "v1alpha2");
}

TEST_CASE("lint: versions of ClusterProfile") {
  const std::string sound =
      profile("  accessProviders: [{name: a, cluster: {server: 'https://h'}}]\n");
  check_findings(newer(sound), {});
  std::string unknown = sound;
  unknown.replace(unknown.find("v1alpha1"), 8, "v1");
  constexpr std::string_view kKnown =
      "is 'multicluster.x-k8s.io/v1', not multicluster.x-k8s.io/v1alpha1 or v1alpha2";
  check_findings(unknown, {{"apiVersion", kKnown}});
  check_findings("kind: ClusterProfileList\napiVersion: multicluster.x-k8s.io/v1\nitems: []\n",
                 {{"apiVersion", kKnown}});
}

TEST_CASE("lint: a ClusterProfile of v1alpha2 is checked by the rules of v1alpha2") {
  check_findings(
      newer(profile("  credentialProviders: [{name: a, cluster: {server: 'https://h'}}]\n")),
      {{"status.credentialProviders", "is no field of v1alpha2"},
       {"status.accessProviders", "is empty", kWarning}});
  // An item without its own apiVersion has the version of the list.
  check_findings(
      "kind: ClusterProfileList\napiVersion: multicluster.x-k8s.io/v1alpha2\nitems:\n"
      "- metadata: {name: c}\n  status: {accessProviders: [{name: a, cluster: {server: "
      "'https://h'}}], credentialProviders: []}\n",
      {{"items[0].status.credentialProviders", "is no field of v1alpha2"}});
  const std::string name(254, 'a');
  const std::string long_ones = "  accessProviders: [{name: " + name +
                                ", cluster: {server: 'https://h', extensions: [{name: " + name +
                                ", extension: {}}]}}]\n";
  check_findings(profile(long_ones), {});
  check_findings(newer(profile(long_ones)),
                 {{"status.accessProviders[0].name", "254 bytes, and v1alpha2 allows 253"},
                  {kAt + "extensions[0].name", "254 bytes, and v1alpha2 allows 253"}});
  std::string many = "  accessProviders:\n";
  for (int i = 0; i < 65; ++i) {
    many += "  - {name: p" + std::to_string(i) + ", cluster: {server: 'https://h'}}\n";
  }
  check_findings(profile(many), {});
  check_findings(newer(profile(many)),
                 {{"status.accessProviders", "has 65 entries, and v1alpha2 allows 64"}});
}

TEST_CASE("lint: two ClusterProfiles with one inventory-member-id are reported as one cluster") {
  const auto member = [](const std::string& name, const std::string& id) {
    return profile(
        "  accessProviders: [{name: a, cluster: {server: 'https://h'}}]\n",
        "name: " + name +
            ", namespace: fleet, labels: {multicluster.x-k8s.io/inventory-member-id: " + id + "}");
  };
  const std::string at = R"(metadata.labels["multicluster.x-k8s.io/inventory-member-id"])";
  check_findings(
      member("a", "m1") + "\n---\n" + newer(member("b", "m1")) + "\n---\n" + member("c", "m2"),
      {{"document[1]." + at,
        "is 'm1', as that of 'fleet/a': the two ClusterProfiles are one cluster", kWarning}});
  check_findings({{.text = member("a", "m1"), .name = "a.yaml", .group = "one"},
                  {.text = member("b", "m1"), .name = "b.yaml", .group = "two"}},
                 {});
  for (const std::string& bad :
       std::vector<std::string>{"''", "7", "a/b", "{}", std::string(64, 'a')}) {
    check_findings(member("a", bad), {{at, "is no value of this label"}});
  }
}

TEST_CASE("lint: an inventory-member-id may be a label or a property of a ClusterProfile") {
  const std::string key = "multicluster.x-k8s.io/inventory-member-id";
  const auto member = [&key](const std::string& name, const std::string& label,
                             const std::string& property) {
    std::string metadata = "name: " + name + ", namespace: fleet";
    if (!label.empty()) metadata += ", labels: {" + key + ": " + label + "}";
    std::string status = "  accessProviders: [{name: a, cluster: {server: 'https://h'}}]\n";
    if (!property.empty()) {
      status += "  properties: [{name: other, value: m1}, {name: " + key + ", value: " + property +
                "}]\n";
    }
    return profile(status, metadata) + "\n---\n";
  };
  const std::string label = "document[1].metadata.labels[\"" + key + "\"]";
  const std::string property = "document[1].status.properties[1].value";
  const std::string told = "is 'm1', as that of 'fleet/a': the two ClusterProfiles are one cluster";
  check_findings(member("a", "", "m1") + member("b", "", "m1"), {{property, told, kWarning}});
  check_findings(member("a", "m1", "") + member("b", "", "m1"), {{property, told, kWarning}});
  check_findings(member("a", "", "m1") + member("b", "m1", ""), {{label, told, kWarning}});
  check_findings(member("a", "m1", "m1") + member("b", "m1", "m1"), {{label, told, kWarning}});
  check_findings(member("a", "m1", "m1") + member("b", "m2", "m2"), {});
  check_findings(member("a", "", "m1") + newer(member("b", "", "m2")), {});
}

TEST_CASE("lint: the list of providers") {
  check_findings(profile("  conditions: []\n"), {{"status.accessProviders", "is empty", kWarning}});
  check_findings(profile("  accessProviders: {a: b}\n"),
                 {{"status.accessProviders", "must be an array"}});
  check_findings(profile("  accessProviders:\n  - {name: a, cluster: {server: 'https://h'}}\n  - "
                         "{name: a}\n  - 5\n"
                         "  - {cluster: {server: ''}}\n"
                         "  credentialProviders: [{name: a, cluster: {server: 'https://h'}}]\n"),
                 {{"status.accessProviders[1].name", "like that of an entry before it"},
                  {"status.accessProviders[1].cluster", "is missing"},
                  {"status.accessProviders[2]", "must be an object"},
                  {"status.accessProviders[3].name", "is missing"},
                  {"status.accessProviders[3].cluster.server", "is empty"},
                  {"status.credentialProviders", "deprecated", kWarning}});
}

TEST_CASE("lint: the server, CA, TLS and proxy fields of a cluster are checked") {
  for (const std::string server : {"http://h", "h:6443", "https://", "https://a\\@b", "ftp://x"}) {
    check_findings(cluster("server: '" + server + "'"), {{kAt + "server", ""}});
  }
  const std::string server = "server: 'https://h', ";
  check_findings(cluster(server + "certificate-authority: /etc/passwd"),
                 {{kAt + "certificate-authority", "is a path"}});
  check_findings(cluster(server + "certificate-authority: ''"), {});
  check_findings(cluster(server + "certificate-authority-data: '!'"),
                 {{kAt + "certificate-authority-data", "no base64"}});
  check_findings(cluster(server + "certificate-authority-data: " + encode_base64("hello")),
                 {{kAt + "certificate-authority-data", "no certificate"}});
  check_findings(
      cluster(server + "certificate-authority-data: " +
              encode_base64("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n")),
      {{kAt + "certificate-authority-data", "no certificate"}});
  check_findings(
      cluster(server + "insecure-skip-tls-verify: true"),
      {{kAt + "insecure-skip-tls-verify", "gets the credential", kWarning},
       {kAt + "insecure-skip-tls-verify", "dropped by upstream's Go library", kWarning}});
  check_findings(cluster(server + "insecure-skip-tls-verify: true, certificate-authority-data: " +
                         kCertificate),
                 {{kAt + "insecure-skip-tls-verify", "gets the credential", kWarning},
                  {kAt + "insecure-skip-tls-verify", "dropped by upstream's Go library", kWarning},
                  {kAt + "insecure-skip-tls-verify", "beside certificates"}});
  check_findings(
      cluster(server +
              "insecure-skip-tls-verify: 'no', disable-compression: 1, tls-server-name: 1, "
              "proxy-url: 'nonsense', serverName: x"),
      {{kAt + "insecure-skip-tls-verify", "true or false"},
       {kAt + "disable-compression", "true or false"},
       {kAt + "tls-server-name", "must be a string"},
       {kAt + "proxy-url", "'nonsense'"},
       {kAt + "serverName", "is no field", kWarning}});
}

TEST_CASE("lint: cluster fields that upstream's Go library drops are reported") {
  const std::string server = "server: 'https://h', ";
  check_findings(cluster(server + "tls-server-name: x"),
                 {{kAt + "tls-server-name",
                   "is dropped by upstream's Go library: its clients verify the certificate for "
                   "the host of server",
                   kWarning}});
  check_findings(cluster(server + "disable-compression: true"),
                 {{kAt + "disable-compression", "is dropped by upstream's Go library", kWarning}});
  check_findings(
      "apiVersion: v1\nkind: Config\ncontexts: []\nusers: []\n"
      "clusters: [{name: c, cluster: {" +
          server + "tls-server-name: x, disable-compression: true}}]\n",
      {});
}

TEST_CASE("lint: the forms of additional arguments and variables that do not work upstream") {
  const std::string path = kAt + "extensions[0].extension";
  for (const std::string prefix :
       {"clusterprofiles.multicluster.x-k8s.io", "multicluster.x-k8s.io/clusterprofiles/auth"}) {
    const std::string args = prefix + "/exec/additional-args";
    const std::string envs = prefix + "/exec/additional-envs";
    for (const auto& [name, value, why] : std::vector<std::array<std::string, 3>>{
             {args, "[x]", "is an array, which upstream's library decodes and the CRD does not"},
             {args, "{args: [x]}", "is an object, which the CRD stores and upstream's library"}}) {
      check_findings(extension(name, value), {{path, why, kWarning}});
      check_findings(extension(name, value), {{path, ": no stored form works upstream", kWarning}});
      for (const lint::Finding& finding : test::lint_text(extension(name, value))) {
        CHECK(test::contains(finding.hint, "the extension client.authentication.k8s.io/exec"));
        CHECK(test::contains(finding.hint, "--allow-audience"));
        CHECK_FALSE(test::contains(finding.hint, "{\""));
      }
    }
    check_findings(extension(envs, "{A: x, B: ''}"), {});
    check_findings(extension(envs, "{}"), {});
    check_findings(extension(envs, "[{name: A, value: x}]"),
                   {{path, "does not decode and the CRD does not store", kWarning}});
    check_findings(extension(envs, "[]"),
                   {{path, "does not decode and the CRD does not store", kWarning}});
  }
}

TEST_CASE("lint: extensions") {
  const std::string value = kAt + "extensions[0].extension";
  check_findings(
      extension("client.authentication.k8s.io/exec",
                "{allowServer: x, cluster: c, clusterName: 5, audience: [1], debug: null}"),
      {{value + ".allowServer", "may not come from a ClusterProfile"},
       {value + ".cluster", "is not the field of --cluster"},
       {value + ".clusterName", "must be a string"}});  // not every plugin has audience
  check_findings(extension("client.authentication.k8s.io/exec", "[1]"),
                 {{value, "the CRD wants an object", kWarning}});
  const std::string args = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args";
  constexpr std::string_view kUnstored = "no stored form works upstream";
  check_findings(extension(args, "[a, 1]"),
                 {{value, kUnstored, kWarning}, {value + "[1]", "must be a string"}});
  check_findings(extension(args, "{args: x}"),
                 {{value, kUnstored, kWarning}, {value + ".args", "must be an array"}});
  check_findings(extension(args, "x"), {{value, "must be an array"}});
  const std::string envs = "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-envs";
  check_findings(extension(envs, "[{name: A, value: b}, {name: 'A=B', value: 1}, 5]"),
                 {{value, "does not decode and the CRD does not store", kWarning},
                  {value + "[1]", "no name of a variable"},
                  {value + "[1]", "must be a string"},
                  {value + "[2]", "must be an object"}});
  check_findings(extension(envs, "{A: 1}"), {{value + ".A", "must be a string"}});
  check_findings(
      cluster("server: 'https://h', extensions: [{name: a}, {name: a}, 5, {extension: {}}]"),
      {{kAt + "extensions[1].name", "like that of another"},
       {kAt + "extensions[2]", "must be an object"},
       {kAt + "extensions[3].name", "is missing"}});
}

std::string kubeconfig(const std::string& user, const std::string& server = "https://h") {
  return "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '" + server +
         "'}}]\n"
         "users: [{name: u, user: " +
         user +
         "}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
         "current-context: x\n";
}

TEST_CASE("lint: kubeconfigs") {
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  const std::string exec = "users[0].user.exec.";
  check_findings(kubeconfig("{exec: {" + v1 + "interactiveMode: Never, command: /x, args: null}}"),
                 {});
  check_findings(kubeconfig("{token: abcdefghijklm}"), {});
  check_findings(
      kubeconfig("{exec: {" + v1 + "command: x}}"),
      {{exec + "command", "PATH", kWarning}, {exec + "interactiveMode", "refuse with v1"}});
  check_findings(
      kubeconfig("{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: ./x}}"),
      {{exec + "apiVersion", "v1alpha1"},
       {exec + "command",
        "is './x', no absolute path: clients resolve it from different directories, and some "
        "look 'x' up in PATH"}});
  for (const std::string command : {"./bin/x", "bin/x", "../x"}) {
    const std::string text =
        kubeconfig("{exec: {" + v1 + "interactiveMode: Never, command: " + command + "}}");
    check_findings(text, {{exec + "command",
                           "no absolute path: clients resolve it from different directories"}});
    for (const lint::Finding& finding : test::lint_text(text)) {
      CHECK_FALSE(test::contains(finding.message + finding.hint, "in PATH"));
    }
  }
  check_findings(
      kubeconfig("{exec: {" + v1 +
                 "interactiveMode: Never, command: /execcred-token-file, "
                 "args: [--token-file=/t, --allow-server=https://a, --x]}}"),
      {{exec + "provideClusterInfo", "is not true"}, {exec + "args[2]", "unknown option"}});
  check_findings(
      kubeconfig("{auth-provider: {name: gcp}, username: u, password: p}"),
      {{"users[0].user.auth-provider", "1.26"}, {"users[0].user.username", "basic", kWarning}});
  check_findings(kubeconfig("{}", "http://localhost:8001"),
                 {{"clusters[0].cluster.server", "not https", kWarning}});
  check_findings(kubeconfig("{exec: {" + v1 + "interactiveMode: Never, command: /x}}", "http://h"),
                 {{"clusters[0].cluster.server", "not https", kWarning},
                  {"contexts[0].context", "plain http"}});
}

TEST_CASE("lint: a server with a password is reported as a secret and for what else is wrong") {
  for (const auto& [server, wrong] : {std::pair("ftp://u:p@127.0.0.1", "is not https"),
                                      std::pair("https://u:p@h", "has user info")}) {
    check_findings(kubeconfig("{token: abcdefghijklm}", server),
                   {{"clusters[0].cluster.server", wrong},
                    {"clusters[0].cluster.server", "a password", kWarning}});
  }
}

TEST_CASE("lint: a client's certificate and key must belong together") {
  const test::Identity jane = test::make_identity({.common_name = "jane"});
  const test::Identity joe = test::make_identity({.common_name = "joe"});
  const auto with_pair = [](const std::string& certificate, const std::string& key) {
    return kubeconfig("{client-certificate-data: " + encode_base64(certificate) +
                      ", client-key-data: " + encode_base64(key) + "}");
  };
  const std::string path = "users[0].user.client-certificate-data";
  check_findings(with_pair(jane.pem, jane.key_pem), {});
  check_findings(with_pair(jane.pem, joe.key_pem), {{path, "key does not belong to its cert"}});
  check_findings(with_pair(kCertificatePem, jane.key_pem), {{path, "a malformed certificate"}});
  const std::string encrypted =
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"
      "MAA=\n-----END EC PRIVATE KEY-----\n";
  check_findings(with_pair(jane.pem, encrypted), {{path, "the client's key is encrypted"}});
}

TEST_CASE("lint: one malformed certificate beside a good one makes no kubeconfig's CA unusable") {
  const auto with_ca = [](const std::string& pem) {
    return kubeconfig("{token: abcdefghijklm}",
                      "https://h', certificate-authority-data: '" + encode_base64(pem));
  };
  const std::string path = "clusters[0].cluster.certificate-authority-data";
  const std::string malformed =
      "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
  check_findings(with_ca(malformed), {{path, "holds no certificate that can be read"}});
  check_findings(with_ca(malformed + test::make_ca("ca").pem),
                 {{path, "block that is no certificate", kWarning}});
}

TEST_CASE("lint: a tls-server-name must be a host") {
  const std::string message = "a host that is no DNS name";
  for (const std::string name : {"local host", "*", "*.example.com", "\u00e4", "h:1"}) {
    CAPTURE(name);
    check_findings(kubeconfig("{token: abcdefghijklm}", "https://h', tls-server-name: '" + name),
                   {{"clusters[0].cluster.tls-server-name", message}});
    check_findings(cluster("server: 'https://h', tls-server-name: '" + name + "'"),
                   {{kAt + "tls-server-name", "dropped by upstream's Go library", kWarning},
                    {kAt + "tls-server-name", message}});
  }
  check_findings(kubeconfig("{token: abcdefghijklm}", "https://h', tls-server-name: 'a..b"),
                 {{"clusters[0].cluster.tls-server-name", "an empty label"}});
  for (const std::string name : {"h", "a.example.", "127.0.0.1", "[::1]"}) {
    check_findings(kubeconfig("{token: abcdefghijklm}", "https://h', tls-server-name: '" + name),
                   {});
  }
}

TEST_CASE("lint: the proxy of a kubeconfig may have a user, whose password is reported") {
  const auto with_proxy = [](const std::string& proxy) {
    return kubeconfig("{token: abcdefghijklm}", "https://h', proxy-url: '" + proxy);
  };
  const std::string path = "clusters[0].cluster.proxy-url";
  check_findings(with_proxy("http://u:p@127.0.0.1:3128"), {{path, "a password", kWarning}});
  check_findings(with_proxy("http://h:2/path"), {});
  check_findings(with_proxy("http://u@h:2"), {});
  for (const std::string proxy :
       {"ftp://u:p@h", "http://u:p@", "http://u:p@h:0", "http://u:%zz@h", "http://u:a^b@h"}) {
    check_findings(with_proxy(proxy),
                   {{path, "is no URL that clients support"}, {path, "a password", kWarning}});
  }
  for (const std::string proxy : {"http://u:pa#ss@h:1", "http://u?@h", "http://u b@h"}) {
    check_findings(with_proxy(proxy), {{path, "is no URL that clients support"}});
  }
}

TEST_CASE("lint: the config in a kubeconfig is checked if an execcred plugin reads it") {
  const auto with_config = [](const std::string& command) {
    std::string text =
        kubeconfig("{exec: {apiVersion: client.authentication.k8s.io/v1, " +
                   std::string("interactiveMode: Never, provideClusterInfo: true, ") +
                   "command: " + command + ", args: ['--token-file=/t']}}");
    text.insert(text.find("'}}]"),
                "', extensions: [{name: client.authentication.k8s.io/exec, "
                "extension: {cluster: a, debug: true}}], tls-server-name: 'h");
    return text;
  };
  const std::string value = "clusters[0].cluster.extensions[0].extension";
  check_findings(with_config("/execcred-token-file"),
                 {{value + ".cluster", "is not the field of --cluster"},
                  {value + ".debug", "may not come from a ClusterProfile"}});
  check_findings(with_config("/usr/bin/other"), {});
}

TEST_CASE("lint: a field that holds what lint checks, in another case, is an error") {
  const std::string kueue =
      "kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta2\nmanageJobs: true\n";
  constexpr std::string_view kBlock = "accessProviders: [{name: p}]";
  const auto in_kueue = [&](const std::string& outer, const std::string& inner) {
    return kueue + "featureGates: {MultiKueueClusterProfile: true}\n" + outer +
           ": {gcInterval: 1m, " + inner + ": {" + std::string(kBlock) + "}}\n";
  };
  for (const std::string name : {"multikueue", "MultiKueue", "multiKUEUE"}) {
    check_findings(in_kueue(name, "clusterProfile"),
                   {{name, "is not spelled as the field 'multiKueue'"}});
  }
  check_findings(in_kueue("multiKueue", "clusterprofile"),
                 {{"multiKueue.clusterprofile", "is not spelled as the field 'clusterProfile'"}});
  check_findings(kueue + "FeatureGates: {MultiKueueClusterProfile: true}\n",
                 {{"FeatureGates", "is not spelled as the field 'featureGates'"}});
  // Fields that lint does not read are Kueue's to judge.
  check_findings(kueue + "Webhook: {port: 1}\nmultiKueue: {GcInterval: 1m}\n", {});
  check_findings("kind: List\napiVersion: v1\nItems: [5]\n",
                 {{"Items", "is not spelled as the field 'items'"}});
}

TEST_CASE("lint: a username is basic authentication, and a password alone is never sent") {
  const std::string at = "users[0].user.";
  for (const std::string user : {"{username: u}", "{username: u, password: p}"}) {
    check_findings(kubeconfig(user), {{at + "username", "is basic authentication", kWarning}});
  }
  check_findings(kubeconfig("{password: p}"),
                 {{at + "password", "is without a username", kWarning}});
  check_findings(kubeconfig("{username: '', password: ''}"), {});
  check_findings(kubeconfig("{username: null}"), {});
}

TEST_CASE("lint: what clients refuse in a kubeconfig is an error, and what they read is none") {
  const std::string at = "users[0].user.";
  check_findings(kubeconfig("{token: t, username: u}"),
                 {{at + "token", "more than one authentication method"},
                  {at + "username", "is basic authentication", kWarning}});
  check_findings(kubeconfig("{token: 123456}"), {{at + "token", "must be a string, not a number"}});
  check_findings(kubeconfig("{token: \"t\\n\"}"), {{at + "token", "no HTTP header may hold"}});
  check_findings(kubeconfig("{as-groups: [a]}"), {{at + "as", "is missing"}});
  check_findings(kubeconfig("null"), {});
  check_findings(kubeconfig("{token: t, password: ''}"), {});
  const std::string text = kubeconfig("{token: 123456}");
  check_findings(text.substr(text.find('\n') + 1),  // without apiVersion
                 {{at + "token", "must be a string, not a number"}});
}

TEST_CASE("lint: the contexts of a kubeconfig must name existing clusters and users") {
  check_findings(
      "apiVersion: v1\nkind: Config\nclusters: {}\nusers: [5, {name: a}]\n"
      "contexts: [{name: x, context: {cluster: c, user: u}}, {name: x, context: {user: a}}]\n"
      "current-context: z\n",
      {{"clusters", "must be an array"},
       {"users[0]", "must be an object"},
       {"contexts[0].context.cluster", "not in clusters"},
       {"contexts[0].context.user", "not in users"},
       {"contexts[1].name", "like that of an entry before it"},
       {"contexts[1].context.cluster", "is missing"},
       {"current-context", "not in contexts"}});
}

TEST_CASE("lint: empty, unreadable and unknown documents are reported") {
  check_findings("", {{"", "is empty"}});
  check_findings(" \n\t", {{"", "is empty"}});
  check_findings("# a comment\n", {{"", "no document"}});
  check_findings(std::string("a\0b", 3), {{"", "no text: line 1"}});
  check_findings("\xff\xfe{", {{"", "no text: line 1"}});
  check_findings("{\"a\": [}", {{"", "the document"}});
  check_findings("a: b: c\n", {{"", "the document"}});
  for (const std::string text :
       {"{}", "[]", "5", "kind: Deployment\n", "a: b\n", "kind: ''\napiVersion: v1\n"}) {
    check_findings(text, {{"", "not a document that lint knows", kWarning}});
  }
}

TEST_CASE("lint: a byte that is no text is placed, and hides no other document") {
  const std::string good = cluster("server: 'https://h', unknown: 5");
  for (const std::string& bad : {std::string("a: '\xe9'"), std::string("a: '\0'", 6)}) {
    CAPTURE(bad);
    const std::vector<lint::Finding> alone = test::lint_text("# b\nb: 5\n" + bad);
    REQUIRE(alone.size() == 1);
    CHECK(test::contains(alone[0].message, "no text: line 3"));
    CHECK(alone[0].place.value_or(lint::Place()).line == 3);
    CHECK(alone[0].place.value_or(lint::Place()).column == 5);
    const std::vector<lint::Finding> beside = test::lint_text(good + "---\nb: 5\n" + bad);
    REQUIRE(beside.size() == 2);
    CHECK(beside[0].path == "document[0]." + kAt + "unknown");
    const auto lines = static_cast<std::size_t>(std::count(good.begin(), good.end(), '\n'));
    CHECK(beside[1].place.value_or(lint::Place()).line == lines + 3);
  }
}

// UTF-16 with a byte order mark.
std::string utf16(std::string_view ascii) {
  std::string text = "\xff\xfe";
  for (const char c : ascii) text += {c, '\0'};
  return text;
}

TEST_CASE("lint: what commands cannot read in its file is an error") {
  const std::string in_utf16 = "is UTF-16, in which only a kubeconfig is read";
  const std::string providers = R"({"providers":[{"name":"a","execConfig":{"command":"/bin/p",)"
                                R"("apiVersion":"client.authentication.k8s.io/v1"}}]})";
  const std::string one = cluster("server: 'https://h'");
  check_findings(utf16(kubeconfig("{token: abcdefghijklm}")), {});
  check_findings(utf16(providers), {{"", in_utf16}});
  check_findings(utf16(one), {{"", in_utf16}});
  check_findings(utf16("---\n" + one + "---\nkind: List\napiVersion: v1\nitems: []\n"),
                 {{"document[0]", in_utf16}, {"document[1]", in_utf16}});
  const std::string beside = "is a mapping beside another document";
  check_findings(providers + "\n" + providers, {{"document[0]", beside}, {"document[1]", beside}});
  check_findings(providers + "\n---\n" + one, {{"document[0]", beside}});
  check_findings(providers, {});
}

TEST_CASE("lint: a mapping that is no JSON has the place at which its parser stops") {
  const auto place_of = [](const std::string& text) {
    lint::Run run;
    lint::check_text(lint::Scope(run, "f"), text);
    REQUIRE(!run.findings.empty());
    REQUIRE(run.findings.front().place);
    return std::pair(run.findings.front().place->line, run.findings.front().place->column);
  };
  using Place = std::pair<std::size_t, std::size_t>;
  CHECK(place_of("{\"providers\": [\n  {\"name\": \"a\",}\n]}\n") == Place(2, 16));
  CHECK(place_of("{\"providers\": [],\n\"Providers\": []\n}\n") == Place(3, 1));
  // The document beside it is written again for the check, so its lines are not the file's.
  CHECK(place_of("kind: Secret\napiVersion: v1\n---\nproviders: []\nProviders: []\n") ==
        Place(4, 1));
}

TEST_CASE("lint: other Kubernetes kinds are ignored, and misspelled kinds are reported") {
  for (const std::string text :
       {"apiVersion: v1\nkind: Secret\ndata: {token: eyJhbGciOi}\n",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n", "apiVersion: v1\nkind: Pod\n",
        "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n",
        "$schema: https://json-schema.org/draft/2020-12/schema\ntype: object\n"}) {
    check_findings(text, {});
    lint::Run run;
    lint::check_text(lint::Scope(run, "f"), text + "---\n" + text);
    CHECK(run.passed_over == 2);
    CHECK(lint::to_text({}, {.files = 1, .passed_over = 2}) ==
          "0 errors, 0 warnings in 1 file; 2 documents of other kinds passed over\n");
  }
  for (const std::string text :
       {"apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfil\n",
        "apiVersion: v1\nkind: Clusterprofile\n", "apiVersion: v1\nkind: config\n",
        "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuraton\n"}) {
    check_findings(text, {{"", "not a document that lint knows", kWarning}});
  }
}

TEST_CASE("lint: documents inside other documents are checked") {
  const std::string item =
      "kind: ClusterProfile\n  apiVersion: multicluster.x-k8s.io/v1alpha1\n"
      "  metadata: {name: X}\n  status: {accessProviders: [{name: a, cluster: {server: "
      "'https://h'}}]}\n";
  check_findings("kind: List\napiVersion: v1\nitems:\n- " + item + "- 5\n- {kind: Secret}\n",
                 {{"items[0].metadata.name", "DNS-1123"},
                  {"items[1]", "must be an object"},
                  {"items[2]", "'Secret'", kWarning}});
  check_findings(
      "kind: ClusterProfileList\napiVersion: multicluster.x-k8s.io/v1alpha1\nitems:\n"
      "- {metadata: {name: X}, status: {accessProviders: [{name: a, cluster: {server: "
      "'https://h'}}]}}\n",
      {{"items[0].metadata.name", "DNS-1123"}});
  check_findings(
      R"({"kind":"ConfigMap","apiVersion":"v1","data":{"other.conf":"x = [","m.json":"{\"providers\":[5]}",)"
      R"("k.yaml":"kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta1\nmultiKueue: 5\n","bad.json":"{"}})",
      {{R"(data["m.json"].providers[0])", "must be an object"},
       {R"(data["k.yaml"].multiKueue)", "must be an object"},
       {R"(data["bad.json"])", "the document"}});
  check_findings("kind: ConfigMap\ndata: {a: b}\n", {{"", "'ConfigMap'", kWarning}});
}

}  // namespace
}  // namespace execcred
