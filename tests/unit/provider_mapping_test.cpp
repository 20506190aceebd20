// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/provider_mapping.hpp>

#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;
using Texts = std::vector<std::string>;

constexpr auto kConfiguration = Error::Kind::configuration;
const std::string kExec = R"("apiVersion":"client.authentication.k8s.io/v1","command":"/p")";

// A mapping of one provider. `exec` has members of its execConfig, `provider` more of its members.
std::string mapping(const std::string& exec, const std::string& provider = {}) {
  return R"({"providers":[{"name":"x","execConfig":{)" + exec + "}" + provider + "}]}";
}

MappedProvider parse_one(const std::string& text) {
  Result<ProviderMapping> parsed = parse_provider_mapping(text);
  CAPTURE(text);
  if (!parsed) FAIL(test::full_text(parsed.error()));
  REQUIRE(parsed->providers.size() == 1);
  return std::move(parsed->providers.front());
}

TEST_CASE("parse_provider_mapping: reads the file that upstream's library reads") {
  const MappedProvider provider = parse_one(R"({"providers":[{
    "name": "spire-agent",
    "execConfig": {
      "apiVersion": "client.authentication.k8s.io/v1beta1",
      "command": "/plugins/execcred-spiffe",
      "args": ["--type=jwt", "", "a b\nc"],
      "env": [{"name":"B","value":"2\n"},{"name":"A","value":""},{"name":"C"}],
      "provideClusterInfo": true, "interactiveMode": "IfAvailable", "installHint": "line\nline"
    },
    "profileSourcedCLIArgsPolicy": "Append",
    "profileSourcedEnvVarsPolicy": "AppendIfNotExists"
  }]})");
  CHECK(provider.name == "spire-agent");
  CHECK(provider.path == "providers[0]");
  CHECK(provider.exec.api_version == ApiVersion::v1beta1);
  CHECK(provider.exec.command == "/plugins/execcred-spiffe");
  CHECK(provider.exec.args == Texts{"--type=jwt", "", "a b\nc"});
  REQUIRE(provider.exec.env.size() == 3);
  CHECK(provider.exec.env[0].name == "B");
  CHECK(provider.exec.env[0].value == "2\n");
  CHECK(provider.exec.env[1].name == "A");
  CHECK(provider.exec.env[1].value.empty());
  CHECK(provider.exec.env[2].value.empty());
  CHECK(provider.exec.provide_cluster_info);
  CHECK(provider.exec.interactive_mode == "IfAvailable");
  CHECK(provider.exec.install_hint == "line\nline");
  CHECK(provider.arguments_policy == ArgumentsPolicy::append);
  CHECK(provider.variables_policy == VariablesPolicy::append_if_not_exists);
}

TEST_CASE("parse_provider_mapping: an absent, null or empty field has Go's zero value") {
  for (
      const std::string& text :
      {mapping(kExec),
       mapping(
           kExec +
               R"(,"args":null,"env":null,"provideClusterInfo":null,"installHint":null,"interactiveMode":null)",
           R"(,"profileSourcedCLIArgsPolicy":null,"profileSourcedEnvVarsPolicy":null)"),
       mapping(kExec + R"(,"args":[],"env":[],"interactiveMode":"","installHint":"")",
               R"(,"profileSourcedCLIArgsPolicy":"","profileSourcedEnvVarsPolicy":"")")}) {
    const MappedProvider provider = parse_one(text);
    CHECK(provider.exec.args.empty());
    CHECK(provider.exec.env.empty());
    CHECK_FALSE(provider.exec.provide_cluster_info);
    CHECK(provider.arguments_policy == ArgumentsPolicy::ignore);
    CHECK(provider.variables_policy == VariablesPolicy::ignore);
  }
}

TEST_CASE("parse_provider_mapping: each policy is read by its name") {
  const auto arguments = [](const std::string& policy) {
    return parse_one(mapping(kExec, R"(,"profileSourcedCLIArgsPolicy":")" + policy + R"(")"))
        .arguments_policy;
  };
  const auto variables = [](const std::string& policy) {
    return parse_one(mapping(kExec, R"(,"profileSourcedEnvVarsPolicy":")" + policy + R"(")"))
        .variables_policy;
  };
  CHECK(arguments("Append") == ArgumentsPolicy::append);
  CHECK(arguments("Ignore") == ArgumentsPolicy::ignore);
  CHECK(variables("AppendIfNotExists") == VariablesPolicy::append_if_not_exists);
  CHECK(variables("Replace") == VariablesPolicy::replace);
  CHECK(variables("Ignore") == VariablesPolicy::ignore);
}

TEST_CASE("parse_provider_mapping: keys match in any case, unknown keys are ignored, as in Go") {
  const MappedProvider provider = parse_one(
      R"({"PROVIDERS":[{"Name":"x","EXECCONFIG":{"apiversion":"client.authentication.k8s.io/v1",)"
      R"("Command":"/p","ARGS":["a"],"Env":[{"NAME":"N","Value":"v"}],"ProvideClusterInfo":true},)"
      R"("profilesourcedcliargspolicy":"Append","description":"…"}],"version":2})");
  CHECK(provider.exec.args == Texts{"a"});
  CHECK(provider.exec.env.front().name == "N");
  CHECK(provider.exec.env.front().value == "v");
  CHECK(provider.exec.provide_cluster_info);
  CHECK(provider.arguments_policy == ArgumentsPolicy::append);
}

TEST_CASE("parse_provider_mapping: keeps the order of providers, and accepts an empty list") {
  const std::string exec = R"("execConfig":{)" + kExec + "}}";
  const Result<ProviderMapping> parsed =
      parse_provider_mapping(R"({"providers":[{"name":"b",)" + exec + R"(,{"name":"a",)" + exec +
                             R"(,{"name":"B",)" + exec + "]}");
  REQUIRE(parsed);
  REQUIRE(parsed->providers.size() == 3);
  CHECK(parsed->providers[0].name == "b");
  CHECK(parsed->providers[1].name == "a");
  CHECK(parsed->providers[2].name == "B");
  CHECK(parsed->providers[2].path == "providers[2]");
  CHECK(parse_provider_mapping(R"({"providers":[]})"));
}

TEST_CASE("parse_provider_mapping: an invalid field is an error with its path") {
  struct Case {
    std::string text;
    std::string_view told;
  };
  const std::string exec = R"("execConfig":{)" + kExec + "}}";
  const std::string version = R"("apiVersion":"client.authentication.k8s.io/v1")";
  for (const Case& c : std::vector<Case>{
           {"", "the document"},
           {"[]", "the document"},
           {"{}", "providers is missing"},
           {R"({"providers":{}})", "providers must be an array"},
           {R"({"providers":[null]})", "providers[0]"},
           {mapping(kExec) + "x", "the document"},
           {R"({"providers":[{)" + exec + "]}", "providers[0].name is missing"},
           {R"({"providers":[{"name":"",)" + exec + "]}", "providers[0].name is empty"},
           {R"({"providers":[{"name":"a",)" + exec + R"(,{"name":"b",)" + exec +
                R"(,{"name":"a",)" + exec + "]}",
            "providers[2].name"},
           {R"({"providers":[{"name":"a"}]})", "providers[0].execConfig is missing"},
           {R"({"providers":[{"name":"a","execConfig":null}]})", "providers[0].execConfig"},
           {mapping(R"("command":"/p")"), "providers[0].execConfig.apiVersion is missing"},
           {mapping(R"("apiVersion":"","command":"/p")"), "execConfig.apiVersion is empty"},
           {mapping(R"("apiVersion":"v1","command":"/p")"), "execConfig.apiVersion"},
           {mapping(R"("apiVersion":"client.authentication.k8s.io/v1alpha1","command":"/p")"),
            "execConfig.apiVersion"},
           {mapping(version), "execConfig.command is missing"},
           {mapping(version + R"(,"command":"")"), "execConfig.command is empty"},
           {mapping(version + R"(,"command":"plugin")"), "no absolute path"},
           {mapping(version + R"(,"command":"./plugin")"), "no absolute path"},
           {mapping(version + R"(,"command":"~/plugin")"), "no absolute path"},
           {mapping(version + R"(,"command":["/p"])"), "execConfig.command"},
           {mapping(kExec + R"(,"args":"-x")"), "execConfig.args"},
           {mapping(kExec + R"(,"args":["a",null])"), "execConfig.args[1]"},
           {mapping(kExec + R"(,"args":[1])"), "execConfig.args[0]"},
           {mapping(kExec + R"(,"args":["\u0000"])"), "execConfig.args[0]"},
           {mapping(kExec + R"(,"env":{"A":"1"})"), "execConfig.env"},
           {mapping(kExec + R"(,"env":[{"value":"1"}])"), "execConfig.env[0].name"},
           {mapping(kExec + R"(,"env":[{"name":"A=B"}])"), "execConfig.env[0].name"},
           {mapping(kExec + R"(,"env":[{"name":"A","value":1}])"), "execConfig.env[0].value"},
           {mapping(kExec + R"(,"env":[{"name":"A","value":"\u0000"}])"),
            "execConfig.env[0].value"},
           {mapping(kExec + R"(,"interactiveMode":"never")"), "execConfig.interactiveMode"},
           {mapping(kExec + R"(,"provideClusterInfo":"true")"), "execConfig.provideClusterInfo"},
           {mapping(kExec, R"(,"profileSourcedCLIArgsPolicy":"append")"),
            "providers[0].profileSourcedCLIArgsPolicy"},
           {mapping(kExec, R"(,"profileSourcedCLIArgsPolicy":"Replace")"),
            "providers[0].profileSourcedCLIArgsPolicy"},
           {mapping(kExec, R"(,"profileSourcedEnvVarsPolicy":"Append")"),
            "providers[0].profileSourcedEnvVarsPolicy"},
           {mapping(kExec + R"(,"command":"/q")"), "more than once"},
           {mapping(kExec + R"(,"Command":"/q")"), "more than once"},
           {mapping(kExec, R"(,"NAME":"y")"), "more than once"},
           {mapping(kExec, R"(,"unknown":1,"Unknown":2)"), "more than once"},
           {R"({"providers":[],"Providers":[]})", "more than once"}}) {
    CAPTURE(c.text);
    check_fails(parse_provider_mapping(c.text), kConfiguration, c.told);
  }
}

TEST_CASE("to_json: writes the exec section of a kubeconfig's user without empty fields") {
  const MappedProvider full = parse_one(
      mapping(kExec + R"(,"args":["a"],"env":[{"name":"N","value":"v"}],"installHint":"h",)"
                      R"("interactiveMode":"Always","provideClusterInfo":true)"));
  const json::Value written = to_json(full.exec);
  const MappedProvider again =
      parse_one(R"({"providers":[{"name":"x","execConfig":)" + json::to_text(written) + "}]}");
  CHECK(json::to_text(to_json(again.exec)) == json::to_text(written));
  CHECK(again.exec.args == Texts{"a"});
  CHECK(again.exec.env.front().value == "v");
  CHECK(again.exec.install_hint == "h");
  CHECK(again.exec.interactive_mode == "Always");
  CHECK(again.exec.provide_cluster_info);

  const json::Value little = to_json(parse_one(mapping(kExec)).exec);
  CHECK(little.find("args") == nullptr);
  CHECK(little.find("env") == nullptr);
  CHECK(little.find("installHint") == nullptr);
  // v1 requires interactiveMode, and a controller has no terminal.
  CHECK(*little.find("interactiveMode")->string() == "Never");
}

TEST_CASE("relative commands: which of them clients look up in PATH") {
  struct Case {
    std::string command;
    std::string name;
  };
  for (const Case& c : std::vector<Case>{{"plugin", "plugin"},
                                         {"./plugin", "plugin"},
                                         {".//./plugin/", "plugin"},
                                         {"bin/../plugin", "plugin"},
                                         {"./bin/plugin", ""},
                                         {"bin/plugin", ""},
                                         {"../plugin", ""},
                                         {"~/plugin", ""},
                                         {"/plugin", ""}}) {
    CAPTURE(c.command);
    CHECK(name_in_path(c.command) == c.name);
  }
}

TEST_CASE("relative commands: the hint mentions PATH if clients search it") {
  const auto hint_for = [](const std::string& command) {
    const Result<ProviderMapping> parsed =
        parse_provider_mapping(R"({"providers":[{"name":"a","execConfig":{"apiVersion":)"
                               R"("client.authentication.k8s.io/v1","command":")" +
                               command + R"("}}]})");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().message ==
          "providers[0].execConfig.command is '" + command + "', no absolute path");
    return parsed.error().hint;
  };
  CHECK(hint_for("plugin") == "clients look a relative command up in PATH, which others may set");
  for (const std::string command : {"./bin/plugin", "bin/plugin", "../plugin"}) {
    CAPTURE(command);
    CHECK(hint_for(command) ==
          "write its absolute path: clients start it from the folder that their caller is in");
  }
  for (const std::string command : {"aws eks get-token", "./plugin -x"}) {
    CAPTURE(command);
    CHECK(hint_for(command) ==
          "write only the program as the command, and its arguments under args");
  }
  CHECK(hint_for("./plugin") ==
        "write its absolute path: clients start it from the folder that their caller is in, and "
        "client-go 0.35 and newer looks 'plugin' up in PATH instead");
}

}  // namespace
}  // namespace execcred
