// SPDX-License-Identifier: Apache-2.0
// The mapping file, field by field: what the upstream Go library reads is accepted, and everything
// else is one clear error.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace blackbox;

namespace {

struct Bad {
  std::string mapping;
  std::string field;
};

std::string with_exec(const std::string& exec) {
  return R"({"providers":[{"name":"p","execConfig":)" + exec + "}]}";
}

std::string with_member(const std::string& member) {
  return mapping({mapped("p", "/bin/true", "," + member)});
}

void check_refused(const Bad& bad) {
  CAPTURE(bad.mapping);
  const Inventory inventory(bad.mapping, profile("c1", {provider("p")}));
  for (const std::string subcommand : {"resolve", "get"}) {
    const Outcome outcome = inventory.run(subcommand);
    CHECK_FAILURE(outcome, 2, bad.field);
    CHECK_MESSAGE(outcome.error_output.find("mapping.json") != std::string::npos,
                  describe(outcome));
    CHECK_MESSAGE(outcome.error_output.find("\n  hint: ") != std::string::npos, describe(outcome));
  }
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("a malformed mapping file is refused, with the file, the field and a hint") {
  const std::vector<Bad> cases = {
      {"", "empty"},
      {"providers:\n- name: p\n", "JSON"},
      {"[]", "object"},
      {"{}", "providers"},
      {R"({"providers":null})", "providers"},
      {R"({"providers":{}})", "providers"},
      {R"({"providers":["p"]})", "providers[0]"},
      {R"({"providers":[{}]})", "providers[0].name"},
      {R"({"providers":[{"name":""}]})", "providers[0].name"},
      {R"({"providers":[{"name":7}]})", "providers[0].name"},
      {R"({"providers":[{"name":"p"}]})", "providers[0].execConfig"},
      {R"({"providers":[{"name":"p\u0000","execConfig":{}}]})", "providers[0].name"},
      {with_exec("null"), "providers[0].execConfig"},
      {with_exec("[]"), "providers[0].execConfig"},
      {with_exec("{}"), "providers[0].execConfig.apiVersion"},
      {with_exec(R"({"apiVersion":"v1","command":"/x"})"), "providers[0].execConfig.apiVersion"},
      {with_exec(R"({"apiVersion":"client.authentication.k8s.io/v1alpha1","command":"/x"})"),
       "providers[0].execConfig.apiVersion"},
      {with_exec(R"({"apiVersion":"client.authentication.k8s.io/v1"})"),
       "providers[0].execConfig.command"},
      {mapping({mapped("p", "")}), "providers[0].execConfig.command"},
      {mapping({mapped("p", "kubelogin")}), "providers[0].execConfig.command"},
      {mapping({mapped("p", "./plugin")}), "providers[0].execConfig.command"},
      {mapping({mapped("p", "~/plugin")}), "providers[0].execConfig.command"},
      {mapping({mapped("p", "/bin/\ntrue")}), "providers[0].execConfig.command"},
      {with_member(R"("args":"--x")"), "providers[0].execConfig.args"},
      {with_member(R"("args":["a",5])"), "providers[0].execConfig.args[1]"},
      {with_member(R"("args":[null])"), "providers[0].execConfig.args[0]"},
      {with_member(R"("args":["a\u0000b"])"), "providers[0].execConfig.args[0]"},
      {with_member(R"("env":{"A":"b"})"), "providers[0].execConfig.env"},
      {with_member(R"("env":[5])"), "providers[0].execConfig.env[0]"},
      {with_member(R"("env":[{"value":"x"}])"), "providers[0].execConfig.env[0].name"},
      {with_member(R"("env":[{"name":"A=B","value":"x"}])"), "providers[0].execConfig.env[0].name"},
      {with_member(R"("env":[{"name":"A","value":true}])"), "providers[0].execConfig.env[0].value"},
      {with_member(R"("env":[{"name":"A","value":"\u0000"}])"),
       "providers[0].execConfig.env[0].value"},
      {with_member(R"("provideClusterInfo":"true")"), "providers[0].execConfig.provideClusterInfo"},
      {with_member(R"("interactiveMode":"never")"), "providers[0].execConfig.interactiveMode"},
      {with_member(R"("interactiveMode":true)"), "providers[0].execConfig.interactiveMode"},
      {with_member(R"("installHint":["x"])"), "providers[0].execConfig.installHint"},
      {with_member(R"("args":[],"args":["--evil"])"), "args"},
      {with_member(R"("args":[],"ARGS":["--evil"])"), "args"},
      {mapping({mapped("p", "/x", "", R"(,"profileSourcedCLIArgsPolicy":"append")")}),
       "providers[0].profileSourcedCLIArgsPolicy"},
      {mapping({mapped("p", "/x", "", R"(,"profileSourcedCLIArgsPolicy":"Replace")")}),
       "providers[0].profileSourcedCLIArgsPolicy"},
      {mapping({mapped("p", "/x", "", R"(,"profileSourcedEnvVarsPolicy":"Append")")}),
       "providers[0].profileSourcedEnvVarsPolicy"},
      {mapping({mapped("p", "/x", "", R"(,"profileSourcedEnvVarsPolicy":7)")}),
       "providers[0].profileSourcedEnvVarsPolicy"},
      {mapping({mapped("p", "/x"), mapped("p", "/y")}), "providers[1].name"},
      {mapping({mapped("a", "/x"), mapped("b", "relative")}), "providers[1].execConfig.command"},
      {mapping({mapped("p", "/x")}) + "{}", "JSON"},
      {"{\"providers\":" + std::string(40, '[') + std::string(40, ']') + "}", "levels"},
      {std::string(1024 * 1024 + 1, ' '), "KiB"},
      {"\xff\xfe", "JSON"},
  };
  for (const Bad& bad : cases) check_refused(bad);
}

TEST_CASE("a mapping is read as Go reads it: keys in any case, nulls, unknown fields") {
  const std::string other_case =
      R"({"PROVIDERS":[{"Name":"p","execconfig":{"APIVERSION":"client.authentication.k8s.io/v1",)"
      R"("Command":"/x","Args":["a"]},"profilesourcedcliargspolicy":"Append"}]})";
  const std::vector<std::string> mappings = {
      mapping({mapped("p", "/x", R"(,"args":null,"env":null,"installHint":null)")}),
      other_case,
      mapping({mapped("p", "/x", R"(,"unknown":{"a":1})", R"(,"other":[])")}),
      mapping({mapped("p", "/x", R"(,"interactiveMode":"")",
                      R"(,"profileSourcedCLIArgsPolicy":"","profileSourcedEnvVarsPolicy":null)")}),
      "\n\t " + mapping({mapped("p", "/x")}) + " \n",
  };
  for (const std::string& text : mappings) {
    CAPTURE(text);
    const Inventory inventory(text, profile("c1", {provider("p")}));
    const Outcome outcome = inventory.run("resolve", {"-o", "json"});
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(json_at(outcome.output, "items.0.exec.command") == "/x");
  }
}

TEST_CASE("arguments and variables of a mapping arrive byte for byte") {
  const Sandbox programs;
  const std::string seen = programs.at("seen");
  const std::string path =
      programs.script("plugin", "printf '%s|' \"$@\" \"$TEXT\" > " + seen + "\n" + printing("t"));
  const std::vector<std::string> arguments = {
      "",  " ", "two\nlines", "tab\t", "quote\"'`$x", "\xc3\xa9", "--from-profile", "{clusterName}",
      "*", "\\"};
  std::string list;
  std::string expected;
  for (const std::string& argument : arguments) {
    list += (list.empty() ? "" : ",") + json_string(argument);
    expected += argument + "|";
  }
  const std::string value = "a=b;\n$(c) \"d\" \x01";
  const Inventory inventory(
      mapping({mapped("p", path,
                      ",\"args\":[" + list + R"(],"env":[{"name":"TEXT","value":)" +
                          json_string(value) + "}]")}),
      profile("c1", {provider("p")}));
  const Outcome outcome = inventory.run("get");
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(read_text(seen) == expected + value + "|");
}

TEST_CASE("a mapping that others may have written is refused") {
  const Inventory inventory(mapping({mapped("p", "/x")}), profile("c1", {provider("p")}));
  const std::string path = inventory.sandbox().at("mapping.json");
  for (const unsigned mode : {0666U, 0664U, 0646U}) {
    std::filesystem::permissions(path, std::filesystem::perms(mode));
    CHECK_FAILURE(inventory.run("resolve"), 2, "it is writable by other users");
  }
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  CHECK(inventory.run("resolve").exit_code == 0);
}

TEST_SUITE_END();
