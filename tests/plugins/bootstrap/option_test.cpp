// SPDX-License-Identifier: Apache-2.0
// Required options, refused ones, and those that a ClusterProfile cannot set.
#include "bootstrap.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("options: a missing option is named, and no server is called") {
  const Bootstrap rig;
  CHECK_REFUSAL(rig.run({.via = ""}), 2, "--via is required");
  CHECK_REFUSAL(rig.run({.has_credential = false}), 2, "--credential is required");
  CHECK_REFUSAL(rig.run({.has_identity = false}), 2, "--via=token-request needs --service-account");
  CHECK_REFUSAL(rig.run(csr({.has_identity = false})), 2, "--via=csr needs --user");
  for (const Ask& ask : {Ask{.has_allow = false}, csr({.has_allow = false})}) {
    CHECK_REFUSAL(rig.run(ask), 2, "whichever server a ClusterProfile names");
    CHECK(says(rig.run(ask), "--allow-server=PATTERN"));
  }
  CHECK_REFUSAL(rig.run({.has_cluster = false}), 2, "provideClusterInfo: true");
  CHECK(rig.inner_runs() == 0);
  CHECK(rig.api.server.connections() == 0);
}

TEST_CASE("options: --allow-server may come from the environment") {
  const Bootstrap rig;
  CHECK_SUCCESS(
      rig.run({.variables = {"EXECCRED_ALLOW_SERVER=https://127.0.0.1:*"}, .has_allow = false}));
}

TEST_CASE("options: invalid values are refused") {
  const Bootstrap rig;
  struct Case {
    Ask ask;
    std::string_view part;
  };
  const auto with = [](const std::string& argument, bool is_csr) {
    return Ask{
        .via = is_csr ? "csr" : "token-request",
        .arguments = {argument},
        .has_identity = argument.find("--user") != 0 && argument.find("--service-account") != 0};
  };
  for (const Case& c : {
           Case{{.via = "magic"}, "--via: 'magic' is neither token-request nor csr"},
           Case{with("--lifetime=9m59s", false), "--lifetime: '9m59s' is not between 10m and 24h"},
           Case{with("--lifetime=24h1s", true), "--lifetime: '24h1s' is not between 10m and 24h"},
           Case{with("--lifetime=soon", true), "--lifetime"},
           Case{with("--service-account=controller", false), "--service-account: 'controller'"},
           Case{with("--service-account=a.b/c", false), "--service-account: 'a.b/c'"},
           Case{with("--service-account=fleet/../x", false), "--service-account: 'fleet/../x'"},
           Case{with("--user=" + std::string(257, 'x'), true), "--user: 'xxx"},
           Case{with("--user=\xff", true), "--user: '\\xff' is no UTF-8"},
           Case{with("--group=\xc0\x80", true), "is no UTF-8"},
           Case{with("--signer=mine", true), "--signer: 'mine' is no signer's name"},
           Case{with("--signer=example.com/", true), "--signer: 'example.com/'"},
           Case{with("--key-type=dsa", true), "--key-type: 'dsa' is no type of key"},
       }) {
    CAPTURE(c.part);
    CHECK_FAILURE(rig.run(c.ask), 2, c.part);
  }
  CHECK(rig.api.server.connections() == 0);
}

TEST_CASE("options: --credential is the command of a program, by its absolute path") {
  const Bootstrap rig;
  const auto run = [&rig](const std::string& credential) {
    return rig.run({.arguments = {"--credential=" + credential}, .has_credential = false});
  };
  CHECK_REFUSAL(run(R"(["execcred-static-secret"])"), 2, "is no absolute path");
  CHECK_REFUSAL(run(R"(["./bin/plugin"])"), 2, "is no absolute path");
  CHECK_REFUSAL(run(R"(/plugins/execcred-static-secret)"), 2, "--credential: the command");
  CHECK_REFUSAL(run("[]"), 2, "must be a JSON array of strings");
  CHECK_FAILURE(run(R"(["/bin/sh",5])"), 2, "has a part that is no string");
}

TEST_CASE("options: one of the other --via is refused as a flag, and ignored as a variable") {
  const Bootstrap rig;
  for (const std::string option :
       {"--user=x", "--group=x", "--signer=a.example/b", "--key-type=ed25519"}) {
    CAPTURE(option);
    const std::string name = option.substr(0, option.find('='));
    CHECK_REFUSAL(rig.run({.arguments = {option}}), 2,
                  name + " has no use with --via=token-request");
  }
  for (const std::string option : {"--service-account=a/b", "--audience=x"}) {
    CAPTURE(option);
    const std::string name = option.substr(0, option.find('='));
    CHECK_REFUSAL(rig.run(csr({.arguments = {option}})), 2, name + " has no use with --via=csr");
  }
  // A variable with an invalid value is ignored too.
  CHECK_SUCCESS(rig.run({.variables = {"EXECCRED_USER=x", "EXECCRED_KEY_TYPE=dsa",
                                       "EXECCRED_SIGNER=none", "EXECCRED_GROUP=a,b"}}));
  CHECK_SUCCESS(rig.run(csr(
      {.variables = {"EXECCRED_SERVICE_ACCOUNT=none", "EXECCRED_AUDIENCE=https://elsewhere"}})));
}

TEST_CASE("options: all required ones may come from the environment") {
  Bootstrap rig;
  const Outcome outcome = rig.run(
      {.via = "",
       .variables = {"EXECCRED_VIA=token-request", "EXECCRED_SERVICE_ACCOUNT=fleet/controller",
                     "EXECCRED_CREDENTIAL=" + command_json({rig.inner_path}),
                     "EXECCRED_LIFETIME=20m"},
       .has_credential = false});
  CHECK_SUCCESS(outcome);
  CHECK(is_about(claimed_seconds(outcome), claim_for(1200)));
}

TEST_CASE("profile: no field of spec.cluster.config is read, and none is refused") {
  const Bootstrap rig;
  for (const std::string config :
       {R"({"lifetime":"20m","via":"csr","serviceAccount":"kube-system/admin","user":"admin"})",
        R"({"audience":"https://elsewhere","allowServer":"any","credential":["/bin/false"]})",
        R"({"clusterName":5,"timeout":[],"lifetime":{}})", R"({"clusterName":"NOT A NAME"})",
        R"("text")", "7", "[1]", "null"}) {
    CAPTURE(config);
    const Outcome outcome = rig.run({.config = config});
    CHECK_SUCCESS(outcome);
    CHECK(blackbox::json_at(rig.inner_document(), "spec.cluster.config") != "(missing)");
    const Received sent = rig.api.server.last(kTokenPath);
    CHECK(blackbox::json_at(sent.body, "spec.expirationSeconds") == "3600");
    CHECK(blackbox::json_at(sent.body, "spec.audiences") == "(missing)");
  }
}

TEST_CASE("profile: no option may follow --from-profile, not even with an unchanged value") {
  const Bootstrap rig;
  CHECK_SUCCESS(rig.run({.arguments = {"--from-profile"}}));
  for (const std::string option :
       {"--lifetime=1h", "--service-account=fleet/controller", "--via=token-request",
        "--audience=x", "--debug", "--help", "--version", "--cluster=x", "--timeout=8s",
        "--allow-server=https://127.0.0.1:*"}) {
    CAPTURE(option);
    const Outcome outcome = rig.run({.arguments = {"--from-profile", option}});
    CHECK_REFUSAL(outcome, 2, option.substr(0, option.find('=')) + " stands behind --from-profile");
  }
  CHECK_REFUSAL(rig.run({.arguments = {"--from-profile", "--from-profile"}}), 2, "given twice");
  CHECK_FAILURE(rig.run({.arguments = {"--from-profile", "--wat=1"}}), 2, "unknown option '--wat'");
}

TEST_CASE("cluster: without its CA, or without verification, nothing is sent") {
  const Bootstrap rig;
  for (const char* via : {"token-request", "csr"}) {
    CAPTURE(via);
    const auto run = [&](const std::string& authority, const std::string& more = "",
                         const std::string& server = "") {
      return rig.run(
          {.via = via, .more_of_cluster = more, .server = server, .authority = authority});
    };
    CHECK_REFUSAL(run("-"), 2, "spec.cluster.certificate-authority-data is missing");
    CHECK_REFUSAL(run(blackbox::base64("\n")), 2, "spec.cluster.certificate-authority-data");
    CHECK_REFUSAL(run(blackbox::base64("no PEM")), 2, "spec.cluster.certificate-authority-data");
    CHECK_REFUSAL(run("%%%"), 2, "spec.cluster.certificate-authority-data is no base64");
    CHECK_REFUSAL(run("", R"(,"insecure-skip-tls-verify":true)"), 2,
                  "spec.cluster.insecure-skip-tls-verify is set");
    CHECK_REFUSAL(run("-", R"(,"insecure-skip-tls-verify":true)"), 2, "insecure-skip-tls-verify");
    // This check comes before those of --allow-server.
    CHECK_REFUSAL(run("-", "", kSpoke), 2, "certificate-authority-data is missing");
    CHECK_REFUSAL(run("", R"(,"insecure-skip-tls-verify":true)", kSpoke), 2, "insecure-skip");
    CHECK_REFUSAL(run("", "", rig.api.server.url() + "?x=y"), 2, "has a query");
    CHECK_REFUSAL(run("", "", kSpoke), 1, "matches no --allow-server");
  }
  CHECK(rig.inner_runs() == 0);
  CHECK(rig.api.server.connections() == 0);
}

TEST_CASE("cluster: a server with a certificate of another CA gets no request") {
  const Bootstrap rig;
  const Bootstrap other;
  CHECK_FAILURE(rig.run({.authority = blackbox::base64(other.api.server.ca_pem())}), 3,
                "cannot verify https://127.0.0.1");
  CHECK(rig.api.server.requests().empty());
}

TEST_CASE("cluster: variables of proxies are ignored, and a proxy-url needs --allow-proxy" *
          doctest::description("promise 6")) {
  const Bootstrap rig;
  const ScriptedServer proxy(ScriptedServer::Transport::plain);
  Texts variables;
  for (const char* name :
       {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}) {
    variables.push_back(std::string(name) + "=" + proxy.url(""));
  }
  CHECK_SUCCESS(rig.run({.variables = variables}));
  CHECK(proxy.connections() == 0);
  const std::string more = R"(,"proxy-url":")" + proxy.url("") + "\"";
  CHECK_REFUSAL(rig.run_cold({.more_of_cluster = more}), 1, "--allow-proxy");
  CHECK(proxy.connections() == 0);
  CHECK_FAILURE(
      rig.run_cold({.arguments = {"--allow-proxy=http://127.0.0.1:" + proxy.authority().substr(10)},
                    .more_of_cluster = more}),
      3, "the proxy http://127.0.0.1");
  CHECK(proxy.connections() == 1);
}

TEST_CASE("cluster: a redirect is not followed" * doctest::description("promises 5, 14")) {
  Bootstrap rig;
  const ScriptedServer thief;
  for (const int status : {301, 302, 303, 307, 308}) {
    CAPTURE(status);
    rig.api.server.on(kTokenPath, redirect(status, thief.url("/")));
    CHECK_FAILURE(rig.run_cold(), 1, "the cluster answered " + std::to_string(status));
    rig.api.server.on(kSigningPath, redirect(status, thief.url("/")));
    CHECK_FAILURE(rig.run_cold(csr()), 1, "the cluster answered " + std::to_string(status));
  }
  CHECK(thief.connections() == 0);
}

}  // namespace execcred::test
