// SPDX-License-Identifier: Apache-2.0
// Inputs that a client may send, and inputs that no client should send.
#include "client.hpp"
#include "rules.hpp"
#include "sandbox.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <string>
#include <vector>

using namespace blackbox;

namespace {

constexpr const char* kServer = "https://10.1.2.3:6443";

std::string with_cluster(const std::string& cluster) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{)"
         R"("cluster":)" +
         cluster + R"(,"interactive":false}})";
}

std::string nested(std::size_t depth) {
  std::string text = R"(,"config":)";
  text.append(depth, '[').append(depth, ']');
  return with_cluster(cluster_with("https://10.1.2.3", text));
}

}  // namespace

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("the answer has the version that the client asked for") {
  for (const std::string_view version : {kV1, kV1Beta1}) {
    CAPTURE(version);
    for (const std::string& document : {client_info(version), client_info(version, kServer)}) {
      const Outcome outcome = run(plugin_command_with(document));
      CHECK_SUCCESS(outcome, version);
      const std::string answered = read_any_answer(outcome.output).version;
      CHECK_RULE(answered == version, "it answered in version '" + answered + "'");
    }
  }
}

TEST_CASE("without a client's document there is an answer in a version of the API") {
  if (needs_cluster()) {
    MESSAGE("skipped: an answer, for which the plugin needs cluster information");
  }
  CHECK_WITHOUT_CLUSTER(run(plugin_command()));
  CHECK_WITHOUT_CLUSTER(run(plugin_command_with("")));
}

TEST_CASE("without a client's document the version comes from the flag, the environment, or is v1" *
          kOwnRules) {
  CHECK_SUCCESS(run(answered_command()), kV1);
  CHECK_WITHOUT_CLUSTER(run(plugin_command_with("")), kV1);
  const std::string document = client_info_without_version();
  for (const std::string& version : {std::string("v1beta1"), std::string(kV1Beta1)}) {
    CAPTURE(version);
    CHECK_SUCCESS(run(answered_command({"--api-version=" + version})), kV1Beta1);
    CHECK_SUCCESS(run(answered_command({}, {"EXECCRED_API_VERSION=" + version})), kV1Beta1);
    CHECK_SUCCESS(
        run(answered_command({"--api-version", "v1"}, {"EXECCRED_API_VERSION=" + version})), kV1);
    // The client's version takes precedence over the flag.
    CHECK_SUCCESS(run(plugin_command_with(client_info(kV1), {"--api-version=" + version})), kV1);
    CHECK_SUCCESS(run(plugin_command_with(document, {"--api-version=" + version})), kV1Beta1);
  }
}

TEST_CASE("every document that a known client sends is understood") {
  const std::vector<std::string> without_cluster = {
      "{}",
      "{\"kind\":null}",
      R"({"kind":null,"apiVersion":null,"spec":null})",
      R"({"apiVersion":"client.authentication.k8s.io/v1"})",
      R"({"kind":"ExecCredentials","apiVersion":"client.authentication.k8s.io/v1","spec":{}})",
      R"({"apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":true},"kind":"ExecCredential"})",
      R"({"spec":{"interactive":null,"response":{"code":401},"cluster":null},"status":{},"x":[1]})",
      "{\n  \"kind\": \"ExecCredential\",\n  \"spec\": {\n    \"interactive\": false\n  }\n}\n",
  };
  std::vector<std::string> about_cluster = {
      with_cluster(cluster_with(kServer, R"(,"config":null)")),
      with_cluster(cluster_with(kServer)),
      // The Python client passes its kubeconfig's cluster as it is.
      with_cluster(cluster_with(kServer, R"(,"certificate-authority":"/ca.crt",)"
                                         R"("extensions":[{"name":"x","extension":{"a":1}}])")),
      " \t\r\n" + client_info(kV1, kServer) + "\r\n \n",
  };
  if (needs_cluster()) {
    MESSAGE("skipped: a proxy and no TLS verification, with which no request reaches the cluster");
  } else {
    about_cluster.push_back(with_cluster(
        R"({"server":"https://10.1.2.3:6443","tls-server-name":"bar",)"
        R"("certificate-authority-data":"bm90aGluZw==","proxy-url":"http://u:p@h:9/p?a=b\u0026c=d",)"
        R"("disable-compression":true,"insecure-skip-tls-verify":true,"config":{"peer":"x"}})"));
  }
  for (const std::string& document : without_cluster) {
    CAPTURE(document);
    CHECK_WITHOUT_CLUSTER(run(plugin_command_with(document)));
  }
  for (const std::string& document : about_cluster) {
    CAPTURE(document);
    CHECK_SUCCESS(run(plugin_command_with(document)));
  }
}

TEST_CASE("the extension may be JSON of any type") {
  const std::vector<std::string> configs = {"null",
                                            "true",
                                            "0",
                                            "-0",
                                            "1.5e-7",
                                            "123456789012345678901234567890",
                                            "\"text\"",
                                            "[]",
                                            "[1,[2,{}]]",
                                            "{}",
                                            R"({"unknown":{"deep":[null]}})",
                                            R"("\ud83d\ude00")",
                                            R"({"TOKEN":"x","Audience2":5})"};
  for (const std::string& config : configs) {
    CAPTURE(config);
    CHECK_SUCCESS(run(plugin_command_with(client_info(kV1, kServer, R"(,"config":)" + config))));
  }
}

TEST_CASE("the document may come from a file or from standard input" * kOwnRules) {
  const Sandbox sandbox;
  const std::string path = sandbox.write("info.json", client_info(kV1Beta1, kServer));
  CHECK_SUCCESS(run(answered_command({"--exec-info=" + path})), kV1Beta1);
  Command command = answered_command({"--exec-info", "-"});
  command.input = client_info(kV1Beta1, kServer);
  CHECK_SUCCESS(run(command), kV1Beta1);
  // The flag is used, and the variable is not read.
  command.environment.push_back("KUBERNETES_EXEC_INFO=garbage");
  CHECK_SUCCESS(run(command), kV1Beta1);
  CHECK_FAILURE(run(answered_command({"--exec-info=" + sandbox.at("none")})), 2,
                sandbox.at("none"));
  CHECK_FAILURE(run(answered_command({"--exec-info=" + sandbox.path().native()})), 2,
                sandbox.path().native());
  CHECK_FAILURE(run(answered_command({"--exec-info=/dev/zero"})), 2, "/dev/zero");
  CHECK_FAILURE(run(answered_command({"--exec-info=" + sandbox.write("empty", "")})), 2, "empty");
  command.input = "";
  CHECK_FAILURE(run(command), 2, "empty");
  CHECK_SUCCESS(run(answered_command({}, {"EXECCRED_EXEC_INFO=" + sandbox.at("none")})));
}

TEST_CASE("a malformed document is a configuration error that names the field" * kOwnRules) {
  struct Case {
    std::string document;
    std::string field;
  };
  const std::vector<Case> cases = {
      {"garbage", "JSON"},
      {"[]", "object"},
      {"null", "object"},
      {"\"text\"", "object"},
      {"{", "JSON"},
      {"{}{}", "JSON"},
      {client_info(kV1) + "x", "JSON"},
      {"{\"kind\":\"ExecCredential\"", "JSON"},
      {"{'kind':'ExecCredential'}", "JSON"},
      {"{\"a\":\"\xff\"}", "JSON"},
      {"{\"a\":\"\xc0\xaf\"}", "JSON"},
      {R"({"a":01})", "JSON"},
      {R"({"a":NaN})", "JSON"},
      {R"({"a":1,})", "JSON"},
      {R"({"kind":"Secret"})", "kind"},
      {R"({"kind":5})", "kind"},
      {R"({"apiVersion":"client.authentication.k8s.io/v1alpha1"})", "apiVersion"},
      {R"({"apiVersion":"client.authentication.k8s.io/v2"})", "apiVersion"},
      {R"({"apiVersion":"v1"})", "apiVersion"},
      {R"({"apiVersion":["client.authentication.k8s.io/v1"]})", "apiVersion"},
      {R"({"spec":"x"})", "spec"},
      {R"({"spec":{"interactive":"false"}})", "spec.interactive"},
      {R"({"spec":{"interactive":0}})", "spec.interactive"},
      {R"({"spec":{"cluster":"https://10.1.2.3"}})", "spec.cluster"},
      {R"({"spec":{"cluster":[]}})", "spec.cluster"},
      {with_cluster("{}"), "spec.cluster.server"},
      {with_cluster(R"({"server":""})"), "spec.cluster.server"},
      {with_cluster(R"({"server":null})"), "spec.cluster.server"},
      {with_cluster(R"({"server":6443})"), "spec.cluster.server"},
      {with_cluster(R"({"server":"https://10.1.2.3\n"})"), "spec.cluster.server"},
      {with_cluster(R"({"server":"https://a\u0000b"})"), "spec.cluster.server"},
      {with_cluster(R"({"server":"https://h","tls-server-name":1})"), "tls-server-name"},
      {with_cluster(R"({"server":"https://h","tls-server-name":"a\tb"})"), "tls-server-name"},
      {with_cluster(R"({"server":"https://h","insecure-skip-tls-verify":"true"})"),
       "insecure-skip-tls-verify"},
      {with_cluster(R"({"server":"https://h","disable-compression":1})"), "disable-compression"},
      {with_cluster(R"({"server":"https://h","proxy-url":{}})"), "proxy-url"},
      {with_cluster(R"({"server":"https://h","proxy-url":"http://\u0007"})"), "proxy-url"},
      {with_cluster(R"({"server":"https://h","certificate-authority-data":[]})"),
       "certificate-authority-data"},
      {R"({"kind":"ExecCredential","kind":"ExecCredential"})", "kind"},
      {R"({"spec":{"cluster":{"server":"https://h","server":"https://evil"}}})", "server"},
      {with_cluster(R"({"server":"https://h","config":{"a":{"b":1,"b":2}}})"), "'b'"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.document);
    const Outcome outcome = run(plugin_command_with(bad.document));
    CHECK_FAILURE(outcome, 2, "reading KUBERNETES_EXEC_INFO");
    CHECK(outcome.error_output.find(bad.field) != std::string::npos);
    CHECK(outcome.error_output.find("\n  hint: ") != std::string::npos);
  }
}

TEST_CASE("a document is bounded in size and depth" * kOwnRules) {
  CHECK_SUCCESS(run(plugin_command_with(nested(20))));
  for (const std::size_t depth : {40U, 1000U, 50'000U}) {
    CAPTURE(depth);
    CHECK_FAILURE(run(plugin_command_with(nested(depth))), 2, "nested");
  }
  const Sandbox sandbox;
  const std::string deep(1'000'000, '[');
  CHECK_FAILURE(run(answered_command({"--exec-info=" + sandbox.write("deep", deep)})), 2,
                "larger than");
  Command command = answered_command({"--exec-info=-"});
  std::string head = client_info_without_version();
  head.pop_back();
  head += (head == "{" ? "" : ",") + std::string(R"("pad":")");
  command.input = head + std::string(128 * 1024 - head.size() - 2, 'x') + "\"}";
  CHECK_SUCCESS(run(command));
  command.input = " " + *command.input;
  CHECK_FAILURE(run(command), 2, "standard input");
}

TEST_CASE("a NUL byte does not end the document early" * kOwnRules) {
  const Sandbox sandbox;
  std::string text = client_info(kV1);
  text.push_back('\0');
  text += "{\"spec\":{\"cluster\":{\"server\":\"http://evil\"}}}";
  CHECK_FAILURE(run(answered_command({"--exec-info=" + sandbox.write("info", text)})), 2, "line 2");
}

TEST_CASE("standard input that nobody offered is left alone") {
  const Pipe never_ends;
  Command command = plugin_command_with(client_info(kV1, kServer));
  command.before_exec = [&never_ends] { replace_descriptor(0, never_ends.read_end()); };
  CHECK_SUCCESS(run(command));
  Command piped = plugin_command_with(
      needs_cluster() ? R"({"spec":{"interactive":true,"cluster":)" + cluster_with("") + "}}"
                      : R"({"kind":"ExecCredential","spec":{"interactive":true}})");
  piped.before_exec = command.before_exec;
  const std::string manifest = "a manifest that kubectl reads after us";
  REQUIRE(write(never_ends.write_end(), manifest.data(), manifest.size()) > 0);
  CHECK_SUCCESS(run(piped));
  CHECK_RULE(never_ends.pending() == static_cast<int>(manifest.size()), "it read standard input");
}

TEST_SUITE_END();
