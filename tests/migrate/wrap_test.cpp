// SPDX-License-Identifier: Apache-2.0
// execcred migrate --wrap: programs that no rule replaces.
#include "migrate/document.hpp"
#include "migrate/report.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/json/json.hpp>
#include <execcred/yaml/documents.hpp>

#include <string>

namespace execcred::migrate {
namespace {

using execcred::test::contains;

const std::string kServers =
    "clusters: [{name: c, cluster: {server: 'https://a.example.com:6443'}}]\n"
    "contexts: [{name: c, context: {cluster: c, user: u}}]\n";

std::string kubeconfig(const std::string& exec) {
  return "apiVersion: v1\nkind: Config\n" + kServers + "users: [{name: u, user: {exec: {" + exec +
         "}}}]\n";
}

Rewritten rewritten(const std::string& text, bool wraps = true) {
  RewriteOptions options{.plugin_dir = "/opt/plugins"};
  if (wraps) {
    options.wrapped_path = [](const std::string& name) {
      return name == "known" ? std::string("/usr/bin/known") : std::string();
    };
  }
  Result<Rewritten> result = rewrite(text, options);
  if (!result) FAIL(result.error().message);
  return std::move(result).value();
}

// The exec section of the only user, as compact JSON.
std::string exec_of(const std::string& text) {
  const Result<std::vector<json::Value>> documents = parse_documents(text, 1 << 20);
  REQUIRE(documents);
  const json::Value& user = (*documents->front().find("users")->array())[0];
  return json::to_text(*user.find("user")->find("exec"));
}

void check_refused(const std::string& exec, const std::string& subject) {
  CAPTURE(exec);
  const std::string text = kubeconfig(exec);
  const Rewritten result = rewritten(text);
  CHECK(result.text == text);
  CHECK_FALSE(is_complete(result));
  const std::string told = report(result, "/p");
  CHECK_MESSAGE(contains(told, "users[0].user.exec 'u': a program without a rule stays as it is\n"),
                told);
  CHECK_MESSAGE(contains(told, "  not carried over  " + subject + ": "), told);
  CHECK_MESSAGE(!contains(told, "S3CRET"), told);
}

TEST_CASE("migrate: a program without a rule stays without --wrap, and the option is named") {
  const std::string text = kubeconfig("command: /usr/bin/corp-login, args: [a]");
  const Rewritten result = rewritten(text, false);
  CHECK(result.text == text);
  CHECK(result.findings.empty());
  CHECK(is_complete(result));
  CHECK(contains(report(result, "/p"),
                 "no user of a known plugin was found\n1 user of programs that no plugin replaces: "
                 "with --wrap, execcred-wrap runs them\n"));
  const Rewritten known = rewritten(kubeconfig("command: doctl, args: [kubernetes, cluster, "
                                               "kubeconfig, exec-credential, x]"),
                                    false);
  CHECK_FALSE(is_complete(known));
  CHECK(contains(report(known, "/p"), "0 users carried over, 1 user left\n1 user of programs"));
  const Rewritten ours = rewritten(kubeconfig("command: /plugins/execcred-aws"), false);
  CHECK_FALSE(contains(report(ours, "/p"), "--wrap"));
}

TEST_CASE("migrate --wrap: the command, its arguments and its variables are kept") {
  const Rewritten result = rewritten(kubeconfig(
      "command: /usr/bin/corp-login, args: [--format, '{\"a\":\"}\"}', ''], env: [{name: A, value: "
      "S3CRET}, {name: SSL_CERT_FILE, value: /x}, {name: EMPTY, value: ''}, {name: A, value: b}], "
      "interactiveMode: IfAvailable"));
  CHECK(exec_of(result.text) ==
        R"({"command":"/opt/plugins/execcred-wrap","args":[)"
        R"("--command=[\"/usr/bin/corp-login\",\"--format\",\"{{\\\"a\\\":\\\"}}\\\"}}\",\"\"]",)"
        R"("--allow-server=https://a.example.com:6443"],)"
        R"("env":[{"name":"SSL_CERT_FILE","value":"/x"},{"name":"EMPTY","value":""},)"
        R"({"name":"A","value":"b"}],"interactiveMode":"Never",)"
        R"("apiVersion":"client.authentication.k8s.io/v1",)"
        R"("installHint":"put the execcred plugins under /opt/plugins, or change this command to )"
        R"(where they are","provideClusterInfo":true})");
  CHECK(is_complete(result));
  const std::string told = report(result, "/p");
  CHECK_MESSAGE(contains(told,
                         "users[0].user.exec 'u': a program without a rule → /p/execcred-wrap\n"
                         "  kept     --command: '/usr/bin/corp-login' with its 3 arguments\n"),
                told);
  CHECK(contains(told, "  added    --allow-server=https://a.example.com:6443: "));
  CHECK(contains(told, "  note     --cache lets many processes run the program once"));
  CHECK(contains(told, "  note     with provideClusterInfo the program gets spec.cluster"));
  CHECK_FALSE(contains(told, "S3CRET"));
  const Rewritten second = rewritten(result.text);
  CHECK(second.findings.empty());
  CHECK(second.text == result.text);
}

TEST_CASE("migrate --wrap: a bare name becomes the path where PATH has it") {
  const Rewritten result = rewritten(kubeconfig("command: known"));
  CHECK(contains(exec_of(result.text), R"("--command=[\"/usr/bin/known\"]")"));
  CHECK(contains(report(result, "/p"), "note     PATH of this machine has 'known' there"));
  check_refused("command: unknown", "the command 'unknown'");
  check_refused("command: ./known", "the command './known'");
}

TEST_CASE("migrate --wrap: programs of other platforms are wrapped, and known plugins are not") {
  const Rewritten result =
      rewritten(kubeconfig("command: /usr/bin/doctl, args: [kubernetes, cluster, kubeconfig, "
                           "exec-credential, --version=v1beta1, 7e5a]"));
  CHECK(contains(exec_of(result.text), R"("command":"/opt/plugins/execcred-wrap")"));
  const Rewritten known = rewritten(kubeconfig("command: gke-auth-plugin"));
  CHECK(contains(exec_of(known.text), R"("command":"/opt/plugins/execcred-google")"));
  const Rewritten login =
      rewritten(kubeconfig("command: /usr/bin/pinniped, args: [login, oidc, --issuer=https://i]"));
  CHECK_FALSE(is_complete(login));
}

TEST_CASE("migrate --wrap: a secret, a terminal and malformed parts stay, with the reason") {
  check_refused("command: /x, args: [--client-secret=S3CRETS3CRET]", "--client-secret");
  check_refused("command: /x, args: [--password, S3CRET]", "--password");
  check_refused("command: /x, args: [a, ghp_S3CRET789abcdefghijABCDEFGHIJ012345]", "argument 2");
  check_refused("command: /x, interactiveMode: Always", "interactiveMode 'Always'");
  check_refused("command: /x, args: [1]", "args[0]");
  check_refused("command: /x, env: [{name: EXECCRED_TIMEOUT, value: 1s}]",
                "variable EXECCRED_TIMEOUT");
}

TEST_CASE("migrate --wrap: a mapping has no known servers, and none that appends arguments") {
  const auto mapping = [](const std::string& more) {
    return R"({"providers":[{"name":"p","execConfig":{"command":"/x"})" + more + "}]}";
  };
  const std::string told = report(rewritten(mapping("")), "/p");
  CHECK_MESSAGE(contains(told, "note     its tokens are valid at many servers"), told);
  CHECK(is_complete(rewritten(mapping(""))));
  const Rewritten appends = rewritten(mapping(R"(,"profileSourcedCLIArgsPolicy":"Append")"));
  CHECK_FALSE(is_complete(appends));
  CHECK(contains(report(appends, "/p"), "not carried over  profileSourcedCLIArgsPolicy 'Append'"));
}

}  // namespace
}  // namespace execcred::migrate
