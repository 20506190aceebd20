// SPDX-License-Identifier: Apache-2.0
// Arguments and variables that a ClusterProfile adds: by the mapping's policies, in every form
// that is in use. For execcred's plugins, these are only arguments after --from-profile.
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "recorder.hpp"

#include <doctest/doctest.h>

using namespace blackbox;
using Texts = std::vector<std::string>;

namespace {

constexpr const char* kAppend = R"(,"profileSourcedCLIArgsPolicy":"Append")";

// Both spellings of the extensions' names: KEP-4322's and that of its first releases.
const Texts& argument_names() {
  static const Texts names = {std::string(kArgumentsExtension),
                              "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-args"};
  return names;
}

const Texts& variable_names() {
  static const Texts names = {std::string(kVariablesExtension),
                              "multicluster.x-k8s.io/clusterprofiles/auth/exec/additional-envs"};
  return names;
}

std::string extensions(const std::string& name, const std::string& value) {
  return ",\"extensions\":[" + extension(name, value) + "]";
}

std::string env_policy(const std::string& policy) {
  return R"(,"profileSourcedEnvVarsPolicy":")" + policy + "\"";
}

// The plugin's variables, without PATH and KUBERNETES_EXEC_INFO.
Texts given_variables(const Recorder& recorder) {
  Texts result;
  for (const std::string& entry : recorder.environment()) {
    if (!entry.starts_with("PATH=") && !entry.starts_with("KUBERNETES_EXEC_INFO=")) {
      result.push_back(entry);
    }
  }
  return result;
}

void check_ok(const Outcome& outcome) { CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome)); }

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("policy Append: the profile's arguments follow the mapping's, in every form" *
          doctest::description("promise 6")) {
  const Recorder recorder;
  struct Case {
    std::string value;
    Texts added;
  };
  for (const std::string& name : argument_names()) {
    for (const Case& row : std::vector<Case>{
             {R"(["--b=2","","c d"])", {"--b=2", "", "c d"}},
             {R"({"args":["--b=2"]})", {"--b=2"}},
             {R"({"args":null})", {}},
             {R"({"args":[]})", {}},
             {"{}", {}},
             {"[]", {}},
             {"null", {}},
             {R"(["--a=1"])", {"--a=1"}},
         }) {
      CAPTURE(name);
      CAPTURE(row.value);
      check_ok(record(recorder, R"(,"args":["--a=1"])", kAppend, extensions(name, row.value)));
      Texts expected = {"--a=1"};
      expected.insert(expected.end(), row.added.begin(), row.added.end());
      CHECK(recorder.arguments() == expected);
      check_ok(record(recorder, ",\"args\":null", kAppend, extensions(name, row.value)));
      CHECK(recorder.arguments() == row.added);
    }
  }
  check_ok(record(recorder, R"(,"args":["x"])", kAppend, ""));
  CHECK(recorder.arguments() == Texts{"x"});
}

TEST_CASE("policy Ignore, the default: the profile's arguments do not reach the plugin" *
          doctest::description("promise 6")) {
  const Recorder recorder;
  for (const std::string policy : {"", R"(,"profileSourcedCLIArgsPolicy":"Ignore")",
                                   R"(,"profileSourcedCLIArgsPolicy":null)"}) {
    for (const std::string& name : argument_names()) {
      check_ok(record(recorder, R"(,"args":["--a=1"])", policy, extensions(name, R"(["--evil"])")));
      CHECK(recorder.arguments() == Texts{"--a=1"});
    }
  }
}

TEST_CASE("policy AppendIfNotExists: only variables that the mapping does not set, in name order" *
          doctest::description("promise 6")) {
  const Recorder recorder;
  for (const std::string& name : variable_names()) {
    CAPTURE(name);
    check_ok(record(recorder, R"(,"env":[{"name":"Z","value":"mine"},{"name":"B","value":"mine"}])",
                    env_policy("AppendIfNotExists"),
                    extensions(name, R"({"C":"3","B":"theirs","A":"1=x"})")));
    CHECK(given_variables(recorder) == Texts{"Z=mine", "B=mine", "A=1=x", "C=3"});
  }
}

TEST_CASE("policy Replace: the profile's variables win" * doctest::description("promise 6")) {
  const Recorder recorder;
  for (const std::string& name : variable_names()) {
    CAPTURE(name);
    check_ok(record(recorder, R"(,"env":[{"name":"Z","value":"mine"},{"name":"B","value":"mine"}])",
                    env_policy("Replace"), extensions(name, R"({"C":"3","B":"theirs","A":""})")));
    CHECK(given_variables(recorder) == Texts{"Z=mine", "B=theirs", "A=", "C=3"});
  }
}

TEST_CASE("policy Ignore, the default: the profile's variables do not reach the plugin" *
          doctest::description("promise 6")) {
  const Recorder recorder;
  for (const std::string& policy : {std::string(), env_policy("Ignore"),
                                    std::string(R"(,"profileSourcedEnvVarsPolicy":null)")}) {
    for (const std::string& name : variable_names()) {
      check_ok(
          record(recorder, ",\"env\":null", policy, extensions(name, R"({"LD_PRELOAD":"/x"})")));
      CHECK(given_variables(recorder).empty());
    }
  }
}

TEST_CASE("a list of variables keeps its order, null and empty extensions have no effect") {
  const Recorder recorder;
  for (const std::string policy : {"AppendIfNotExists", "Replace"}) {
    for (const std::string& name : variable_names()) {
      check_ok(record(recorder, "", env_policy(policy),
                      extensions(name, R"([{"name":"B","value":"1"},{"name":"A","value":"2"}])")));
      CHECK(given_variables(recorder) == Texts{"B=1", "A=2"});
      for (const std::string value : {"null", "{}", "[]"}) {
        CAPTURE(value);
        check_ok(record(recorder, R"(,"env":[{"name":"A","value":"mine"}])", env_policy(policy),
                        extensions(name, value)));
        CHECK(given_variables(recorder) == Texts{"A=mine"});
      }
    }
  }
}

TEST_CASE("an extension that a policy ignores is not checked, even if it is malformed" *
          doctest::description("promise 6")) {
  const Recorder recorder;
  for (const std::string value : {"5", "\"x\"", "[5]", R"({"args":5})"}) {
    check_ok(record(recorder, "", "", extensions(argument_names()[0], value)));
    check_ok(record(recorder, "", "", extensions(variable_names()[0], value)));
  }
}

TEST_CASE("one ClusterProfile's arguments and variables never reach the plugin of another") {
  const Sandbox sandbox;
  const Inventory inventory(
      mapping({mapped("p", "/bin/true", R"(,"args":["--base"],"env":[{"name":"A","value":"1"}])",
                      kAppend + env_policy("AppendIfNotExists"))}),
      profile("c1", {provider("p", "https://a", extensions(argument_names()[0], R"(["--x=1"])"))}) +
          "\n---\n" +
          profile("c2",
                  {provider("p", "https://b", extensions(variable_names()[0], R"({"B":"2"})"))}) +
          "\n---\n" + profile("c3", {provider("p", "https://c")}));
  const Outcome outcome = inventory.run("resolve", {"-o", "json"});
  check_ok(outcome);
  CHECK(json_at(outcome.output, "items.0.exec.args") == R"(["--base","--x=1"])");
  CHECK(json_at(outcome.output, "items.1.exec.args") == R"(["--base"])");
  CHECK(json_at(outcome.output, "items.2.exec.args") == R"(["--base"])");
  CHECK(json_at(outcome.output, "items.0.exec.env.1") == "(missing)");
  CHECK(json_at(outcome.output, "items.1.exec.env.1.name") == "B");
  CHECK(json_at(outcome.output, "items.2.exec.env.1") == "(missing)");
}

TEST_CASE("execcred's plugins: an env policy other than Ignore is refused" *
          doctest::description("promise 6")) {
  for (const std::string command :
       {"/plugins/execcred-token-file", "/x/execcred-spiffe", "/x//execcred-aws"}) {
    for (const std::string policy : {"AppendIfNotExists", "Replace"}) {
      CAPTURE(command);
      const Inventory inventory(mapping({mapped("p", command, "", env_policy(policy))}),
                                profile("c1", {provider("p")}));
      for (const std::string subcommand : {"get", "resolve"}) {
        CHECK_REFUSAL(inventory.run(subcommand), 2, "providers[0].profileSourcedEnvVarsPolicy");
      }
    }
    const Inventory inventory(mapping({mapped("p", command, "", env_policy("Ignore"))}),
                              profile("c1", {provider("p")}));
    check_ok(inventory.run("resolve"));
  }
}

TEST_CASE("execcred's plugins: Append needs --from-profile in args") {
  const auto with_args = [](const std::string& args) {
    return Inventory(mapping({mapped("p", kTokenFile, ",\"args\":" + args, kAppend)}),
                     profile("c1", {provider("p")}));
  };
  for (const std::string args :
       {"null", "[]", R"(["--token-file=/x"])", R"(["--from-profile=true"])", R"(["from-profile"])",
        R"(["--cluster=--from-profile"])", R"(["--token-file=/x --from-profile"])"}) {
    CAPTURE(args);
    for (const std::string subcommand : {"get", "resolve"}) {
      const Outcome outcome = with_args(args).run(subcommand);
      CHECK_REFUSAL(outcome, 2, "providers[0].profileSourcedCLIArgsPolicy");
      CHECK(says(outcome, "--from-profile"));
    }
  }
  for (const std::string args : {R"(["--from-profile"])", R"(["-from-profile"])",
                                 R"(["--token-file=/x","--from-profile"])"}) {
    CAPTURE(args);
    check_ok(with_args(args).run("resolve"));
  }
}

TEST_CASE("execcred's plugins: a provider that is not chosen is not checked") {
  const Inventory inventory(
      mapping({mapped("p", "/bin/true"), mapped("q", kTokenFile, "", kAppend)}),
      profile("c1", {provider("p"), provider("q")}));
  check_ok(inventory.run("resolve"));
  CHECK_REFUSAL(inventory.run("resolve", {"--provider=q"}), 2,
                "providers[1].profileSourcedCLIArgsPolicy");
}

TEST_CASE("execcred's plugins: arguments after --from-profile can only narrow the request") {
  const Sandbox sandbox;
  const std::string token = jwt_for(3600);
  const std::string args =
      ",\"args\":[\"--token-file=" + sandbox.write("token", token) + "\",\"--from-profile\"]";
  const auto get_with = [&](const std::string& added) {
    return Inventory(mapping({mapped("p", kTokenFile, args, kAppend)}),
                     profile("c1", {provider("p", "https://10.1.2.3",
                                             extensions(argument_names()[0], added))}))
        .run("get", {"-o", "token"});
  };
  CHECK(get_with(R"(["--audience=server"])").output == token + "\n");
  CHECK(get_with(R"(["--audience=server","--audience=server"])").output == token + "\n");
  CHECK_FAILURE(get_with(R"(["--audience=other"])"), 1,
                "execcred-token-file: the token is for 'server'");
  CHECK_FAILURE(get_with(R"(["--audience=server","--audience=other"])"), 2,
                "execcred-token-file: --audience stands behind");
  CHECK_FAILURE(get_with(R"(["--token-file=/etc/hostname"])"), 2,
                "execcred-token-file: --token-file stands behind");
  CHECK_FAILURE(get_with(R"(["--from-profile","--token-file=/etc/hostname"])"), 2,
                "execcred-token-file: --from-profile is given twice");
  CHECK_FAILURE(get_with(R"(["--show-config"])"), 2,
                "execcred-token-file: --show-config stands behind");
}

TEST_SUITE_END();
