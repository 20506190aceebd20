// SPDX-License-Identifier: Apache-2.0
// {clusterName} and {server.host} in --token-file: each cluster gets its own token, and no name
// leads out of the folder.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

namespace {

class TokenFolder {
 public:
  TokenFolder() {
    for (const std::string name : {"c1", "c2", "h.example.com", "10.1.2.3"}) {
      sandbox_.write("tokens/" + name + "/token", "token-of-" + name);
    }
    sandbox_.write("secret/token", "token-of-nobody");
    remember_secret("token-of-nobody");
  }

  Outcome run(const std::string& pattern, std::vector<std::string> arguments = {},
              std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), "--token-file=" + at(pattern));
    return blackbox::run(token_file_command(std::move(arguments), std::move(environment)));
  }

  Outcome run_for(const std::string& pattern, std::string_view server,
                  const std::string& config = "null") const {
    return run(pattern, {},
               {"KUBERNETES_EXEC_INFO=" + exec_info(kV1, server, ",\"config\":" + config)});
  }

  std::string at(const std::string& pattern) const { return sandbox_.at("tokens/" + pattern); }

 private:
  Sandbox sandbox_;
};

std::string token_in(const Outcome& outcome) { return read_answer(outcome.output).token; }

std::string named(const std::string& name) { return "{\"clusterName\":" + json_string(name) + "}"; }

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("templates: {clusterName} is the flag's, else the environment's, else the profile's") {
  const TokenFolder folder;
  const std::string pattern = "{clusterName}/token";
  CHECK(token_in(folder.run(pattern, {"--cluster=c1"})) == "token-of-c1");
  CHECK(token_in(folder.run(pattern, {}, {"EXECCRED_CLUSTER=c2"})) == "token-of-c2");
  CHECK(token_in(folder.run(pattern, {"--cluster=c1"}, {"EXECCRED_CLUSTER=c2"})) == "token-of-c1");
  CHECK(token_in(folder.run_for(pattern, kServer, named("c2"))) == "token-of-c2");
  const std::string info =
      "KUBERNETES_EXEC_INFO=" + exec_info(kV1, kServer, ",\"config\":" + named("c2"));
  CHECK(token_in(folder.run(pattern, {"--cluster=c1"}, {info})) == "token-of-c1");
  CHECK(token_in(folder.run(pattern, {}, {info, "EXECCRED_CLUSTER=c1"})) == "token-of-c1");
}

TEST_CASE("templates: {server.host} is the server's host, without its port") {
  const TokenFolder folder;
  const std::string pattern = "{server.host}/token";
  CHECK(token_in(folder.run_for(pattern, "https://h.example.com")) == "token-of-h.example.com");
  CHECK(token_in(folder.run_for(pattern, "https://h.example.com:6443/path")) ==
        "token-of-h.example.com");
  CHECK(token_in(folder.run_for(pattern, "https://10.1.2.3:6443")) == "token-of-10.1.2.3");
  CHECK(token_in(folder.run_for("{server.host}/../{clusterName}/token", "https://h.example.com",
                                named("c1"))) == "token-of-c1");
}

TEST_CASE("templates: a value that is no DNS-1123 name never becomes part of a path") {
  const TokenFolder folder;
  for (const std::string name : {"../secret", "..",
                                 ".",         "c1/../../secret",
                                 "/etc",      "C1",
                                 "c_1",       "c1.",
                                 ".c1",       "-c1",
                                 "c1-",       "c 1",
                                 "c1\\",      "{clusterName}",
                                 "%2e%2e",    "c1,c2",
                                 "c\xc3\xa9", "*",
                                 "c1;x",      "~"}) {
    CAPTURE(name);
    const Outcome from_profile = folder.run_for("{clusterName}/token", kServer, named(name));
    CHECK_FAILURE(from_profile, 2, "the value of {clusterName}");
    CHECK(says(from_profile, "{clusterName}"));
    CHECK_FAILURE(folder.run("{clusterName}/token", {"--cluster=" + name}), 2,
                  "the value of {clusterName}");
    CHECK_FAILURE(folder.run("{clusterName}/token", {}, {"EXECCRED_CLUSTER=" + name}), 2,
                  "the value of {clusterName}");
  }
  CHECK_FAILURE(folder.run("{clusterName}/token", {"--cluster=" + std::string(254, 'a')}), 2,
                "the value of {clusterName}");
  for (const std::string server :
       {"https://[::1]:6443", "https://my_host", "https://[fe80::1%25x]"}) {
    CAPTURE(server);
    const Outcome outcome = folder.run_for("{server.host}/token", server);
    CHECK_FAILURE(outcome, 2, "the value of {server.host}");
    CHECK(says(outcome, "server"));
  }
}

TEST_CASE("templates: {server.host} chooses a token, and binds it to no connection") {
  const TokenFolder folder;
  const auto run = [&folder](const std::string& more_of_cluster,
                             std::vector<std::string> arguments = {}) {
    return folder.run(
        "{server.host}/token", std::move(arguments),
        {"KUBERNETES_EXEC_INFO=" + exec_info(kV1, "https://h.example.com:6443", more_of_cluster)});
  };
  const std::string proxy = R"(,"proxy-url":"http://evil:3128")";
  const std::string insecure = R"(,"insecure-skip-tls-verify":true)";
  CHECK(token_in(run("")) == "token-of-h.example.com");
  CHECK_REFUSAL(run(proxy), 1, "spec.cluster.proxy-url 'http://evil:3128' matches no --allow-");
  CHECK_REFUSAL(run(proxy + insecure), 1, "spec.cluster.insecure-skip-tls-verify is set");
  CHECK(token_in(run(proxy, {"--allow-proxy=http://evil:3128"})) == "token-of-h.example.com");
  CHECK_REFUSAL(run(proxy + insecure, {"--allow-proxy=http://evil:3128"}), 1,
                "spec.cluster.insecure-skip-tls-verify is set");
  // The variable is named as it is typed.
  const TokenFile file;
  const Outcome outcome = blackbox::run(token_file_command(
      {}, {"EXECCRED_TOKEN_FILE=" + folder.at("{server.host}/token"),
           "KUBERNETES_EXEC_INFO=" + exec_info(kV1, "https://h.example.com", proxy)}));
  CHECK_REFUSAL(outcome, 1, "with {server.host} in EXECCRED_TOKEN_FILE a proxy must be");
  // No name of a server chooses these.
  for (const std::string pattern : {"c1/token", "{clusterName}/token"}) {
    CHECK(token_in(folder.run(pattern, {"--cluster=c1"},
                              {"KUBERNETES_EXEC_INFO=" +
                               exec_info(kV1, "https://h.example.com", proxy + insecure)})) ==
          "token-of-c1");
  }
}

TEST_CASE("templates: a name of another type, or with control characters, is an error" *
          doctest::description("promise 20")) {
  const TokenFolder folder;
  for (const std::string value : {"5", "true", "[\"c1\"]", "{}", "\"c1\\n\"", "\"c1\\u0000\""}) {
    CAPTURE(value);
    const Outcome outcome =
        folder.run_for("{clusterName}/token", kServer, "{\"clusterName\":" + value + "}");
    CHECK_FAILURE(outcome, 2, "spec.cluster.config.clusterName");
    CHECK(says(outcome, "spec.cluster.config.clusterName"));
  }
}

TEST_CASE("templates: a missing value is an error that names the remedy") {
  const TokenFolder folder;
  CHECK_REFUSAL(folder.run("{clusterName}/token"), 2, "provideClusterInfo: true");
  CHECK_REFUSAL(folder.run("{server.host}/token"), 2, "provideClusterInfo: true");
  const Outcome nameless = folder.run_for("{clusterName}/token", kServer, "{}");
  CHECK_REFUSAL(nameless, 2, "{clusterName}");
  CHECK(says(nameless, "--cluster"));
}

TEST_CASE("templates: unknown placeholders and lone braces are usage errors") {
  const TokenFolder folder;
  for (const std::string pattern :
       {"{}", "{name}", "{clustername}", "{ clusterName }", "{server}", "{server.port}",
        "{clusterName", "clusterName}", "{{clusterName}}", "{clusterName}}", "{", "}"}) {
    CAPTURE(pattern);
    const Outcome outcome = folder.run(pattern + "/token", {"--cluster=c1"});
    CHECK_FAILURE(outcome, 2, "expanding --token-file");
    CHECK(says(outcome, "--token-file"));
    CHECK(says(outcome, "{clusterName}"));
  }
}

TEST_CASE("templates: Argo CD's placeholders that were not replaced are refused in any option") {
  const TokenFile file;
  constexpr const char* kTold = " has a template that nobody expanded";
  const auto refuses = [](const Outcome& outcome, const std::string& where) {
    CHECK_REFUSAL(outcome, 2, where + kTold);
    CHECK(says(outcome, "hint: Argo CD replaces {{ .ClusterProfileName }}"));
  };
  for (const std::string option : {"cluster", "audience", "allow-server"}) {
    refuses(file.run({"--" + option + "={{ .ClusterProfileServer }}"}), "--" + option);
  }
  refuses(file.run({"--audience=x{{.ClusterProfileName}}"}), "--audience");
  refuses(file.run_with_config(R"({"audience":"{{ .ClusterProfileServer }}"})"),
          "spec.cluster.config.audience");
}

TEST_CASE("templates: without a placeholder, an invalid cluster name is ignored") {
  const TokenFile file;
  CHECK_SUCCESS(file.run_with_config(named("../secret")));
  CHECK_SUCCESS(file.run({"--cluster=../secret"}));
}

TEST_SUITE_END();
