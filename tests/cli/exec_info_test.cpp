// SPDX-License-Identifier: Apache-2.0
// What `execcred get` passes to a plugin: KUBERNETES_EXEC_INFO byte for byte as client-go writes
// it, the environment, standard input and working directory.
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "recorder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

using namespace blackbox;
using Texts = std::vector<std::string>;

namespace {

constexpr const char* kWithInfo = R"(,"provideClusterInfo":true)";

std::string info_with(const std::string& cluster_members, std::string_view version = kV1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) +
         R"(","spec":{"cluster":{"server":"https://10.1.2.3:6443")" + cluster_members +
         R"(},"interactive":false}})" + "\n";
}

std::string config_extension(const std::string& json) {
  return ",\"extensions\":[" + extension(kExecExtension, json) + "]";
}

void check_given(const Outcome& outcome) {
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output == "t0ken\n");
  CHECK(outcome.error_output == "");
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("exec info: without provideClusterInfo the plugin gets no cluster information") {
  const Recorder recorder;
  for (const std::string more :
       {"", R"(,"provideClusterInfo":false)", R"(,"provideClusterInfo":null)"}) {
    check_given(record(recorder, more, "", config_extension(R"({"a":1})")));
    CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{exec_info(kV1)});
  }
}

TEST_CASE(
    "exec info: every field of the cluster, in client-go's order, and no field that is absent") {
  const Recorder recorder;
  check_given(record(recorder, kWithInfo, "", ""));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{info_with(",\"config\":null")});
  const std::string data = base64("not parsed");
  check_given(record(recorder, kWithInfo, "",
                     R"(,"proxy-url":"http://u:p@h:9/p?a=b&c=d","disable-compression":true)" +
                         config_extension(R"({"audience":"x"})") +
                         R"(,"certificate-authority-data":")" + data +
                         R"(","tls-server-name":"bar")"));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") ==
        Texts{info_with(R"(,"tls-server-name":"bar","certificate-authority-data":")" + data +
                        R"(","proxy-url":"http://u:p@h:9/p?a=b\u0026c=d",)"
                        R"("disable-compression":true,"config":{"audience":"x"})")});
  check_given(record(recorder, kWithInfo, "", R"(,"insecure-skip-tls-verify":true)"));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") ==
        Texts{info_with(R"(,"insecure-skip-tls-verify":true,"config":null)")});
  check_given(
      record(recorder, kWithInfo, "",
             R"(,"tls-server-name":"","insecure-skip-tls-verify":false,)"
             R"("certificate-authority-data":"","proxy-url":"","disable-compression":false)"));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{info_with(",\"config\":null")});
}

TEST_CASE("exec info: the API version is the one of the mapping") {
  const Recorder recorder;
  const Sandbox programs;
  const std::string seen = programs.at("seen");
  const std::string path = programs.script(
      "plugin", "printf %s \"$KUBERNETES_EXEC_INFO\" > " + seen + "\n" + printing("t", "v1beta1"));
  std::string entries = mapping({mapped("p", path, kWithInfo)});
  entries.replace(entries.find("k8s.io/v1"), 9, "k8s.io/v1beta1");
  const Inventory inventory(entries, profile("c1", {provider("p")}));
  const Outcome outcome = inventory.run("get");
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(read_text(seen) == info_with(",\"config\":null", kV1Beta1));
  CHECK(json_at(outcome.output, "apiVersion") == kV1Beta1);
}

TEST_CASE("exec info: the extension may be any JSON, and arrives as client-go writes it") {
  struct Case {
    std::string given;
    std::string arrives;  // empty: as given
  };
  const Recorder recorder;
  for (const Case& row : std::vector<Case>{
           {"null", ""},
           {"true", ""},
           {"0", ""},
           {"123456789012345678901234567890", ""},
           {"-9223372036854775809", ""},
           {"1.10", ""},
           {"1E+2", ""},
           {"-0", ""},
           {"\"\"", ""},
           {"[]", ""},
           {"{}", ""},
           {R"({"b":1,"a":{"z":[1,2,{"y":null}],"c":"d"}})", ""},
           {R"({"":"empty name","A":1,"a":2})", ""},
           {R"("quote \" backslash \\ slash /")", ""},
           {R"("a<b>&c")", R"("a\u003cb\u003e\u0026c")"},
           {R"({"<":"&"})", R"({"\u003c":"\u0026"})"},
           {"\"\xe2\x80\xa8\xe2\x80\xa9\"", R"("\u2028\u2029")"},
           {"\"\xc3\xa9 \xf0\x9f\x98\x80\"", ""},
           {R"("tab\t newline\n return\r")", ""},
           {"{ \"spaced\" : [ 1 , 2 ] }", R"({"spaced":[1,2]})"},
       }) {
    CAPTURE(row.given);
    check_given(record(recorder, kWithInfo, "", config_extension(row.given)));
    const std::string& arrives = row.arrives.empty() ? row.given : row.arrives;
    CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{info_with(",\"config\":" + arrives)});
  }
}

TEST_CASE("exec info: only the extension client.authentication.k8s.io/exec is passed on") {
  const Recorder recorder;
  check_given(record(recorder, kWithInfo, "",
                     ",\"extensions\":[" + extension("other", R"({"a":1})") + "," +
                         extension(kExecExtension, "{\"b\":2}") + "," +
                         extension("client.authentication.k8s.io/exec2", "3") + "]"));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{info_with(R"(,"config":{"b":2})")});
  check_given(record(recorder, kWithInfo, "", ",\"extensions\":null"));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{info_with(",\"config\":null")});
}

TEST_CASE("exec info: YAML values arrive as the corresponding JSON values") {
  const Recorder recorder;
  const Inventory inventory(mapping({mapped("p", recorder.command(), kWithInfo)}), R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata:
  name: c1
  namespace: fleet
status:
  accessProviders:
  - name: p
    cluster:
      server: https://10.1.2.3:6443
      extensions:
      - name: client.authentication.k8s.io/exec
        extension:
          big: 123456789012345678901234567890
          text: "123"
          single: 'it''s'
          plain: some words
          flag: true
          none: null
          nested: [1, {two: "2"}]
          folded: >-
            one
            line
)");
  check_given(inventory.run("get", {"-o", "token"}));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") ==
        Texts{info_with(R"(,"config":{"big":123456789012345678901234567890,"text":"123",)"
                        R"("single":"it's","plain":"some words","flag":true,"none":null,)"
                        R"("nested":[1,{"two":"2"}],"folded":"one line"})")});
}

TEST_CASE("exec info: the caller's environment is passed on, except KUBERNETES_EXEC_INFO") {
  const Recorder recorder;
  check_given(record(recorder,
                     R"(,"env":[{"name":"SET","value":"new"},{"name":"EMPTY","value":""}])", "", "",
                     {"KEPT=a=b", "SET=old", "KUBERNETES_EXEC_INFO=stale"}));
  CHECK(recorder.values_of("KEPT") == Texts{"a=b"});
  CHECK(recorder.values_of("SET") == Texts{"new"});
  CHECK(recorder.values_of("EMPTY") == Texts{""});
  CHECK(recorder.values_of("PATH") == Texts{"/usr/bin:/bin"});
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{exec_info(kV1)});
  CHECK(recorder.environment().size() == 5);
}

TEST_CASE("exec info: a mapping cannot set KUBERNETES_EXEC_INFO") {
  const Recorder recorder;
  check_given(
      record(recorder, R"(,"env":[{"name":"KUBERNETES_EXEC_INFO","value":"mine"}])", "", ""));
  CHECK(recorder.values_of("KUBERNETES_EXEC_INFO") == Texts{exec_info(kV1)});
}

TEST_CASE("exec info: standard input is /dev/null, the working directory is the caller's") {
  const Recorder recorder;
  const Sandbox elsewhere;
  const Inventory inventory(mapping({mapped("p", recorder.command())}),
                            profile("c1", {provider("p")}));
  Command command = inventory.command("get", {"-o", "token"});
  command.input = "a manifest for somebody else";
  command.before_exec = [&elsewhere] {
    if (chdir(elsewhere.path().c_str()) != 0) _exit(125);
  };
  check_given(run(command));
  CHECK(recorder.standard_input() == "/dev/null\n");
  CHECK(recorder.working_directory() == elsewhere.path().native() + "\n");
}

TEST_CASE("exec info: repeated runs get the same environment, in the same order") {
  const Recorder recorder;
  const std::string variables =
      ",\"extensions\":[" + extension(kVariablesExtension, R"({"Z":"1","A":"2","M":"3","B":"4"})") +
      "]";
  const std::string policy = R"(,"profileSourcedEnvVarsPolicy":"AppendIfNotExists")";
  check_given(record(recorder, kWithInfo, policy, variables));
  const Texts first = recorder.environment();
  for (int i = 0; i < 5; ++i) {
    check_given(record(recorder, kWithInfo, policy, variables));
    CHECK(recorder.environment() == first);
  }
}

TEST_SUITE_END();
