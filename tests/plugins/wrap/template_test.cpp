// SPDX-License-Identifier: Apache-2.0
// The arguments of the program, and what a ClusterProfile may put into them.
#include "wrap.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

Ask ask_with(const Wrap& rig, const Texts& arguments, const std::string& config,
             const Texts& allowed = {}) {
  return {.arguments = Texts{rig.command_with(arguments)} + allowed,
          .config = config,
          .has_command = false};
}

}  // namespace

TEST_CASE("template: names and allowed fields fill a part of one argument each") {
  const Wrap rig;
  const Ask ask = ask_with(
      rig, {"--cluster={clusterName}", "{server.host}", "{config.team}", "a{{b}}", "x y", ""},
      R"({"clusterName":"spoke-1","team":"fleet-$(id);'x'"})",
      {"--allow-config=team=other", "--allow-config=team=fleet-$(id);'x'"});
  CHECK_SUCCESS(rig.run(ask));
  CHECK(rig.arguments_seen() ==
        "--cluster=spoke-1\nspoke-1.example.com\nfleet-$(id);'x'\na{b}\nx y\n\n");
}

TEST_CASE("template: a brace that is written twice does not tie the credential to the server") {
  const Wrap rig;
  Ask ask = ask_with(rig, {"{{server.host}}", "{{clusterName}}"}, "");
  ask.more_of_cluster = R"(,"proxy-url":"http://proxy.example.com:3128")";
  CHECK_SUCCESS(rig.run(ask));
  CHECK(rig.arguments_seen() == "{server.host}\n{clusterName}\n");
  ask.arguments = {rig.command_with({"{server.host}"})};
  CHECK_FAILURE(rig.run(ask), 1, "proxy-url");
  ask.arguments = {rig.command_with({"{{server.host}}"}), "--show-config"};
  CHECK(rig.run(ask).error_output.find("--allow-server is not set") != std::string::npos);
}

TEST_CASE("template: --cluster names the cluster, and braces of another template can be escaped") {
  const Wrap rig;
  Ask ask = ask_with(rig, {"{clusterName}", "{{{{.token}}}}"}, "");
  ask.arguments.emplace_back("--cluster=spoke-2");
  CHECK_SUCCESS(rig.run(ask));
  CHECK(rig.arguments_seen() == "spoke-2\n{{.token}}\n");
}

TEST_CASE("template: values and templates that are refused, before the program runs" *
          doctest::description("promise 6")) {
  const Wrap rig;
  struct Case {
    Texts arguments;
    std::string config;
    Texts allowed;
    int exit_code;
    std::string_view part;
  };
  const std::string long_value(254, 'a');
  const Texts any = {"--allow-config=x=a*", "--allow-config=x=-*"};
  const std::vector<Case> cases = {
      {{"{config.x}"}, R"({"x":"a"})", {}, 2, "there is no --allow-config"},
      {{"{config.x}"}, R"({"x":"a"})", {"--allow-config=y=a"}, 2, "there is no --allow-config"},
      {{"{config.x}"}, R"({"y":"a"})", any, 2, "which is missing"},
      {{"{config.x}"}, R"({"x":null})", any, 2, "which is missing"},
      {{"{config.x}"}, R"({"x":""})", any, 2, "which is empty"},
      {{"{config.x}"}, R"({"x":["a"]})", any, 2, "must be a string, not an array"},
      {{"{config.x}"}, R"({"x":7})", any, 2, "must be a string, not a number"},
      {{"{config.x}"}, R"({"x":"b"})", any, 1, "matches no --allow-config"},
      {{"{config.x}"}, R"({"x":"a b"})", any, 1, "other than visible ASCII"},
      {{"{config.x}"}, R"({"x":"a\n"})", any, 1, "other than visible ASCII"},
      {{"{config.x}"}, R"({"x":"a\u0000"})", any, 1, "other than visible ASCII"},
      {{"{config.x}"}, R"({"x":"ä"})", any, 1, "other than visible ASCII"},
      {{"{config.x}"}, R"({"x":")" + long_value + "\"}", any, 1, "longer than 253"},
      {{"{config.x}"}, R"({"x":"a/../b"})", any, 1, "matches no --allow-config"},
      {{"{config.x}"}, R"({"x":"-rf"})", any, 1, "begins with '-'"},
      {{"{config.x}y"}, R"({"x":"-rf"})", any, 1, "begins with '-'"},
      {{"--{config.x}"}, R"({"x":"a"})", any, 2, "be an option's name"},
      {{"-{config.x}=1"}, R"({"x":"a"})", any, 2, "be an option's name"},
      {{"{clusterName}"}, R"({"clusterName":"A_b"})", {}, 2, "is no DNS name"},
      {{"{clusterName}"}, R"({"clusterName":"-rf"})", {}, 2, "is no DNS name"},
      {{"{clusterName}"}, "{}", {}, 2, "needs the cluster's name"},
      {{"{cluster}"}, "{}", {}, 2, "'{cluster}' is no placeholder"},
      {{"{config.}"}, "{}", {}, 2, "is no placeholder"},
      {{"a}"}, "{}", {}, 2, "a brace has no counterpart"},
      {{"{a"}, "{}", {}, 2, "a brace has no counterpart"},
      {{"{{.x}}"}, "{}", {}, 2, "template that nobody expanded"},
      {{"a"}, "{}", {"--allow-config=timeout=a"}, 2, "is the option --timeout"},
      {{"a"}, "{}", {"--allow-config=allowServer=a"}, 2, "is the option --allow-server"},
      {{"a"}, "{}", {"--allow-config=clusterName=a"}, 2, "is the option --cluster"},
      {{"a"}, "{}", {"--allow-config=x"}, 2, "is no FIELD=PATTERN"},
      {{"a"}, "{}", {"--allow-config=x="}, 2, "is no FIELD=PATTERN"},
      {{"a"}, "{}", {"--allow-config=x=*"}, 2, "is no pattern"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.arguments.front());
    CAPTURE(c.config);
    const Outcome outcome = rig.run(ask_with(rig, c.arguments, c.config, c.allowed));
    CHECK_FAILURE(outcome, c.exit_code, c.part);
  }
  CHECK(rig.runs() == 0);
}

TEST_CASE("template: no part of a long option's name comes from a ClusterProfile" *
          doctest::description("promise 6")) {
  const Wrap rig;
  const Texts allowed = {"--allow-config=x=a"};
  for (const std::string argument :
       {"--{config.x}", "--x{config.x}", "--x{config.x}=1", "--{clusterName}=1", "--x{clusterName}",
        "--x-{server.host}={config.x}", "--{{{config.x}=1"}) {
    CAPTURE(argument);
    CHECK_FAILURE(rig.run(ask_with(rig, {argument}, R"({"x":"a","clusterName":"c"})", allowed)), 2,
                  "be an option's name");
  }
  CHECK(rig.runs() == 0);
  CHECK_SUCCESS(rig.run(ask_with(rig, {"--x{{y}}={config.x}", "-p{config.x}", "y{config.x}=1"},
                                 R"({"x":"a"})", allowed)));
  CHECK(rig.arguments_seen() == "--x{y}=a\n-pa\nya=1\n");
}

TEST_CASE("template: a prefix allows what begins with it, and 253 characters are allowed") {
  const Wrap rig;
  const std::string value(253, 'a');
  CHECK_SUCCESS(rig.run(
      ask_with(rig, {"--x={config.x}"}, R"({"x":")" + value + "\"}", {"--allow-config=x=aa*"})));
  CHECK(rig.arguments_seen() == "--x=" + value + "\n");
  CHECK_SUCCESS(
      rig.run(ask_with(rig, {"--x={config.x}"}, R"({"x":"-rf"})", {"--allow-config=x=-rf"})));
}

TEST_CASE("template: without cluster information, a field is missing") {
  const Wrap rig;
  Ask ask = ask_with(rig, {"{config.x}"}, "", {"--allow-config=x=a"});
  ask.has_cluster = false;
  CHECK_REFUSAL(rig.run(ask), 2, "{config.x} needs the cluster's information");
}

TEST_CASE("boundary: a ClusterProfile sets no option, and its fields of other options are ignored" *
          doctest::description("promise 6")) {
  const Wrap rig;
  const std::string config =
      R"({"timeout":7,"command":["/bin/false"],"output":"token","cacheDir":"/x","cluster":"x"})";
  CHECK_SUCCESS(rig.run({.config = config}));
  for (const std::string argument : {"--cluster=a", "--output=exec-credential", "--timeout=8s"}) {
    CAPTURE(argument);
    CHECK_REFUSAL(rig.run({.arguments = {"--from-profile", argument}}), 2, "--from-profile");
  }
  CHECK(rig.runs() == 1);
}

}  // namespace execcred::test
