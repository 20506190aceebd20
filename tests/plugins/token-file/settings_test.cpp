// SPDX-License-Identifier: Apache-2.0
// Where settings come from: flag > environment > spec.cluster.config > default.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace blackbox;

TEST_SUITE_BEGIN("token_file");

TEST_CASE("--show-config prints every setting with its value and origin, and gives no credential") {
  const TokenFile file;
  const Outcome outcome = file.run_with_config(
      R"({"clusterName":"c1","peer":1})",
      {"--api-version=v1beta1", "--show-config", "--from-profile", "--audience=server"},
      {"EXECCRED_TIMEOUT=5s", "EXECCRED_ALLOW_SERVER=https://10.1.2.3:6443,https://*.example.com"});
  REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.error_output == "");
  CHECK(secret_in(outcome.output) == "");
  CHECK(shown(outcome, "--token-file") == file.path() + " | --token-file");
  CHECK(shown(outcome, "--api-version") == "v1beta1 | --api-version");
  CHECK(shown(outcome, "--timeout") == "5s | EXECCRED_TIMEOUT");
  CHECK(shown(outcome, "--max-age") == "10m | default");
  CHECK(shown(outcome, "--allow-server") ==
        "https://10.1.2.3:6443,https://*.example.com | EXECCRED_ALLOW_SERVER");
  CHECK(shown(outcome, "--audience") == "server | --audience behind --from-profile");
  CHECK(shown(outcome, "--cluster") == "c1 | spec.cluster.config.clusterName");
  CHECK(shown(outcome, "--from-profile") == "true | --from-profile");
  CHECK(shown(outcome, "--server-ca-file") == "- | unset");
  for (const std::string option : {"--exec-info", "--allow-proxy", "--allow-audience", "--debug"}) {
    CAPTURE(option);
    CHECK(shown(outcome, option) != "(none)");
  }
}

TEST_CASE("--show-config works where a run would fail: no file, expired, wrong server") {
  const Outcome bare = run(token_file_command({"--show-config"}));
  CHECK_MESSAGE(bare.exit_code == 0, describe(bare));
  CHECK(shown(bare, "--token-file") == "- | unset");
  CHECK(shown(bare, "--timeout") == "8s | default");
  CHECK(run(token_file_command({"--show-config", "--token-file=/no/such"})).exit_code == 0);
  const Outcome refused = run(token_file_command(
      {"--show-config"},
      {"EXECCRED_TIMEOUT=soon", "EXECCRED_DEBUG=maybe", "EXECCRED_MAX_AGE=3m",
       "KUBERNETES_EXEC_INFO=" +
           exec_info(kV1, kServer, R"(,"config":{"tokenFile":"/x","clusterName":"c1"})")}));
  CHECK_MESSAGE(refused.exit_code == 0, describe(refused));
  CHECK(shown(refused, "--token-file") == "- | unset");
  for (const std::string told :
       {"spec.cluster.config.tokenFile sets --token-file", "EXECCRED_TIMEOUT", "EXECCRED_DEBUG",
        "--token-file is required"}) {
    CAPTURE(told);
    CHECK(refused.error_output.find(told) != std::string::npos);
  }
  CHECK(shown(refused, "--cluster") == "c1 | spec.cluster.config.clusterName");
  CHECK(shown(refused, "--max-age") == "3m | EXECCRED_MAX_AGE");
  CHECK(run(token_file_command({"--show-config"}, {"KUBERNETES_EXEC_INFO={"})).exit_code == 0);
  const TokenFile expired(jwt_for(-5));
  CHECK(expired.run_for(kServer, {"--show-config", "--allow-server=https://other"}).exit_code == 0);
}

TEST_CASE("--show-config prints the rule that would refuse the client's document") {
  const TokenFile file;
  struct Case {
    std::string server;
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Case& c :
       {Case{"http://10.1.2.3", {}, "is not https"},
        Case{"https://10.1.2.3", {"--allow-server=https://other"}, "matches no --allow-server"},
        Case{"https://10.1.2.3", {"--token-file=/tokens/{name}"}, "'{name}' is no placeholder"}}) {
    CAPTURE(c.message);
    std::vector<std::string> arguments = c.arguments;
    if (arguments.empty() || !arguments.front().starts_with("--token-file")) {
      arguments.push_back("--token-file=" + file.path());
    }
    const std::string document = "KUBERNETES_EXEC_INFO=" + exec_info(kV1, c.server);
    const Outcome refused = run(token_file_command(arguments, {document}));
    CHECK(refused.exit_code != 0);
    arguments.emplace_back("--show-config");
    const Outcome shown = run(token_file_command(arguments, {document}));
    CHECK(shown.exit_code == 0);
    CHECK(shown.error_output.find(c.message) != std::string::npos);
    CHECK(refused.error_output.find(c.message) != std::string::npos);
    // By hand, without a document, only the settings are judged.
    arguments.push_back("--allow-server=https://other");
    CHECK(run(token_file_command(arguments)).error_output == "");
  }
}

TEST_CASE("every option that has a variable is set by it, and a flag overrides the variable") {
  struct Case {
    std::string option;
    std::string one;
    std::string other;
    std::string variable;
  };
  for (const Case& row : std::vector<Case>{
           {"--token-file", "/a", "/b", "EXECCRED_TOKEN_FILE"},
           {"--audience", "a", "b", "EXECCRED_AUDIENCE"},
           {"--api-version", "v1beta1", "v1", "EXECCRED_API_VERSION"},
           {"--timeout", "5s", "6s", "EXECCRED_TIMEOUT"},
           {"--max-age", "5m", "6m", "EXECCRED_MAX_AGE"},
           {"--allow-server", "https://a", "https://b", "EXECCRED_ALLOW_SERVER"},
           {"--allow-audience", "a*", "any", "EXECCRED_ALLOW_AUDIENCE"},
           {"--cluster", "c1", "c2", "EXECCRED_CLUSTER"},
           {"--debug", "1", "0", "EXECCRED_DEBUG"},
       }) {
    CAPTURE(row.option);
    const std::vector<std::string> environment = {row.variable + "=" + row.one};
    const Outcome set = run(token_file_command({"--show-config"}, environment));
    CHECK(shown(set, row.option) == row.one + " | " + row.variable);
    const Outcome beaten =
        run(token_file_command({"--show-config", row.option + "=" + row.other}, environment));
    CHECK(shown(beaten, row.option) == row.other + " | " + row.option);
    const Outcome empty = run(token_file_command({"--show-config"}, {row.variable + "="}));
    CHECK(shown(empty, row.option).find(row.variable) == std::string::npos);
    CHECK(empty.exit_code == 0);
  }
}

TEST_CASE("no other option has a variable") {
  for (const std::string name : {"EXEC_INFO", "ALLOW_PROXY", "SERVER_CA_FILE", "FROM_PROFILE",
                                 "SHOW_CONFIG", "VERSION", "HELP"}) {
    CAPTURE(name);
    const TokenFile file;
    CHECK_SUCCESS(file.run({}, {"EXECCRED_" + name + "=true"}));
    CHECK(run(token_file_command({"--show-config"}, {"EXECCRED_" + name + "=/x"}))
              .output.find("EXECCRED_") == std::string::npos);
  }
}

TEST_CASE("an empty flag value is an error, an empty variable counts as unset") {
  const TokenFile file;
  for (const std::string option :
       {"--token-file", "--audience", "--exec-info", "--api-version", "--timeout", "--max-age",
        "--allow-server", "--allow-proxy", "--server-ca-file", "--allow-audience", "--cluster"}) {
    CAPTURE(option);
    CHECK_FAILURE(file.run({option + "="}), 2, "has an empty value");
    CHECK_FAILURE(file.run({option, ""}), 2, "has an empty value");
    CHECK(says(file.run({option + "="}), option));
    CHECK_REFUSAL(file.run({option}), 2, option);  // its value is missing
  }
  CHECK_SUCCESS(file.run({}, {"EXECCRED_API_VERSION=", "EXECCRED_TIMEOUT=", "EXECCRED_CLUSTER=",
                              "EXECCRED_TOKEN_FILE=", "EXECCRED_DEBUG="}));
  CHECK_REFUSAL(run(token_file_command({}, {"EXECCRED_TOKEN_FILE="})), 2, "--token-file");
}

TEST_CASE("--token-file is required, and may come from the environment") {
  const TokenFile file;
  const Outcome outcome = run(token_file_command({}));
  CHECK_REFUSAL(outcome, 2, "--token-file is required");
  CHECK(says(outcome, "EXECCRED_TOKEN_FILE"));
  CHECK_SUCCESS(run(token_file_command({}, {"EXECCRED_TOKEN_FILE=" + file.path()})));
}

TEST_CASE("an option given twice needs equal values") {
  const TokenFile file;
  CHECK_SUCCESS(file.run({"--token-file=" + file.path(), "--timeout=5s", "-timeout", "5s"}));
  CHECK_REFUSAL(file.run({"--token-file=/other"}), 2, "--token-file");
  for (const std::string option :
       {"--timeout=5s", "--max-age=5s", "--cluster=c", "--exec-info=-"}) {
    CAPTURE(option);
    const std::string name = option.substr(0, option.find('='));
    const Outcome outcome = file.run({option, name + "=6s"});
    CHECK_FAILURE(outcome, 2, "is given twice, with different values");
    CHECK(says(outcome, name));
  }
}

TEST_CASE("an argument that is no known option is a usage error, which does not show its value") {
  const TokenFile file;
  remember_secret("Va1ueThatNobodyShallSee");
  const std::string value = "Va1ueThatNobodyShallSee";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--tokenfile=" + value},
                                             {"--token=" + value},
                                             {"-x"},
                                             {"-x=" + value},
                                             {value},
                                             {"--Token-File=" + value},
                                             {"--TIMEOUT=5s"},
                                             {"--token_file=x"},
                                             {"--"},
                                             {"-"},
                                             {""},
                                             {"=" + value},
                                             {"--=" + value},
                                             {"---timeout=5s"},
                                             {"--no-debug"},
                                             {"get"}}) {
    CAPTURE(arguments.front());
    const Outcome outcome = file.run(arguments);
    const bool has_name = arguments.front().starts_with('-') && arguments.front() != "-";
    CHECK_REFUSAL(outcome, 2, has_name ? "option" : "argument 2 is no option");
  }
}

TEST_CASE("a value that starts with two dashes is written after an equals sign") {
  const TokenFile file;
  CHECK_REFUSAL(file.run({"--cluster", "--debug"}), 2, "--cluster");
  CHECK_REFUSAL(file.run({"--audience", "--from-profile"}), 2, "--audience");
  CHECK_REFUSAL(file.run({"--audience", "-from-profile"}), 2, "--audience");
  CHECK_REFUSAL(file.run({"--audience=--x"}), 1, "--x");
}

TEST_CASE("--version prints name and version, even if other settings are invalid") {
  for (const std::vector<std::string>& environment : std::vector<std::vector<std::string>>{
           {}, {"EXECCRED_TIMEOUT=x"}, {"KUBERNETES_EXEC_INFO=garbage"}}) {
    const Outcome outcome = run(token_file_command({"--version"}, environment));
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    std::istringstream words(outcome.output);
    std::string name;
    std::string version;
    std::string rest;
    words >> name >> version >> rest;
    CHECK(name == "execcred-token-file");
    CHECK(version.find_first_not_of("0123456789.") == std::string::npos);
    CHECK(rest == "");
    CHECK(outcome.output == name + " " + version + "\n");
    CHECK(outcome.error_output == "");
  }
}

TEST_CASE("--help lists every option, with its variable") {
  for (const std::string flag : {"--help", "-h", "-help"}) {
    const Outcome outcome = run(token_file_command({flag}));
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.error_output == "");
    for (const std::string text : {"--token-file=PATH",
                                   "EXECCRED_TOKEN_FILE",
                                   "--audience=",
                                   "EXECCRED_AUDIENCE",
                                   "--exec-info=",
                                   "--api-version=",
                                   "EXECCRED_API_VERSION",
                                   "--timeout=",
                                   "EXECCRED_TIMEOUT",
                                   "default 8s",
                                   "60s",
                                   "--max-age=",
                                   "default 10m",
                                   "EXECCRED_MAX_AGE",
                                   "--allow-server=",
                                   "EXECCRED_ALLOW_SERVER",
                                   "--allow-proxy=",
                                   "--server-ca-file=",
                                   "--allow-audience=",
                                   "EXECCRED_ALLOW_AUDIENCE",
                                   "--cluster=",
                                   "EXECCRED_CLUSTER",
                                   "--from-profile",
                                   "--show-config",
                                   "--debug",
                                   "EXECCRED_DEBUG",
                                   "--version",
                                   "--help"}) {
      CAPTURE(text);
      CHECK(outcome.output.find(text) != std::string::npos);
    }
    for (const std::string text : {"EXECCRED_ALLOW_PROXY", "EXECCRED_SERVER_CA_FILE",
                                   "EXECCRED_FROM_PROFILE", "EXECCRED_EXEC_INFO"}) {
      CHECK(outcome.output.find(text) == std::string::npos);
    }
  }
}

TEST_CASE("--debug prints the steps with times on stderr, and does not change the answer") {
  const TokenFile file;
  for (const Outcome& outcome :
       {file.run_for(kServer, {"--debug"}), file.run_for(kServer, {}, "", {"EXECCRED_DEBUG=1"})}) {
    REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(read_answer(outcome.output).problem == "");
    CHECK(secret_in(outcome.error_output) == "");
    std::istringstream lines(outcome.error_output);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      CHECK(line.starts_with("execcred-token-file: debug: "));
      CHECK(line.find(" ms: ") != std::string::npos);
    }
    CHECK(count >= 3);
    CHECK(says(outcome, std::string(kServer)));
    CHECK(says(outcome, file.path()));
  }
  CHECK_REFUSAL(file.run({}, {"EXECCRED_DEBUG=perhaps"}), 2, "EXECCRED_DEBUG");
}

TEST_SUITE_END();
