// SPDX-License-Identifier: Apache-2.0
// Credentials of the platform: those of an instance and those of a container.
#include "platform.hpp"
#include "rights.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

Outcome run_on(const Rig& rig, const Instance& instance, const Texts& arguments = {}) {
  return rig.run_cold(
      {.arguments = arguments, .variables = instance.variables(), .has_keys = false});
}

Outcome run_in(const Rig& rig, const Texts& variables, const Texts& arguments = {}) {
  return rig.run_cold({.arguments = arguments, .variables = variables, .has_keys = false});
}

}  // namespace

TEST_CASE("instance: IMDSv2 gives the session of its role, which signs tokens and is cached") {
  Rig rig;
  Instance instance(rig);
  const Outcome outcome = run_on(rig, instance);
  CHECK(rig.problem(outcome) == "");
  CHECK(rig.verdict(outcome).key_id == "ASIAINSTANCE");
  Texts asked;
  for (const Received& request : instance.requests()) {
    asked.push_back(request.method + " " + request.target);
  }
  CHECK(asked == Texts{std::string("PUT ") + kMetadataToken, std::string("GET ") + kRolePath,
                       std::string("GET ") + kRolePath + "node-role"});
  // The next run uses the cached session.
  CHECK(rig.problem(rig.run({.variables = instance.variables(), .has_keys = false})) == "");
  CHECK(instance.requests().size() == 3);
}

TEST_CASE("instance: its credentials assume a role, and it names the region") {
  Rig rig;
  Instance instance(rig);
  const Ask ask = {.region = "",
                   .arguments = {std::string("--role-arn=") + kRole},
                   .variables = instance.variables(),
                   .has_keys = false};
  for (int i = 0; i < 2; ++i) {
    const TokenVerdict verdict = rig.verdict(rig.run(ask));
    CHECK(verdict.problem == "");
    CHECK(verdict.region == "us-east-2");
  }
  CHECK(rig.sts.problem() == "");
  CHECK(rig.sts.calls() == 1);
  CHECK(instance.count(kZone) == 1);
  const Texts credentials = {"role_arn = " + std::string(kRole),
                             "credential_source = Ec2InstanceMetadata"};
  rig.set_config("[default]\n" + credentials[0] + "\n" + credentials[1] + "\n");
  CHECK(rig.problem(run_on(rig, instance)) == "");
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("instance, container: cached values serve only the machine that requested them") {
  Rig rig;
  Instance instance(rig);
  const Ask on_instance = {.region = "", .variables = instance.variables(), .has_keys = false};
  CHECK(rig.problem(rig.run(on_instance)) == "");
  const std::size_t calls = instance.requests().size();
  CHECK(rig.problem(rig.run(on_instance)) == "");
  CHECK(instance.requests().size() == calls);
  const auto elsewhere = blackbox::run_on_another_host(rig.command(on_instance));
  if (!elsewhere) return;
  CHECK(rig.problem(*elsewhere) == "");
  CHECK(instance.count(kZone) == 2);
  CHECK(instance.requests().size() == 2 * calls);

  Agent agent(rig, "");
  const Ask in_container = {.variables = agent.variables(), .has_keys = false};
  CHECK(rig.problem(rig.run(in_container)) == "");
  CHECK(rig.problem(rig.run(in_container)) == "");
  CHECK(agent.calls() == 1);
  const auto other_container = blackbox::run_on_another_host(rig.command(in_container));
  REQUIRE(other_container);
  CHECK(rig.problem(*other_container) == "");
  CHECK(agent.calls() == 2);
}

TEST_CASE("a role's cached session serves every machine that has the keys") {
  const Rig rig;
  const Ask ask = {.arguments = {std::string("--role-arn=") + kRole}};
  CHECK(rig.problem(rig.run(ask)) == "");
  const auto elsewhere = blackbox::run_on_another_host(rig.command(ask));
  if (!elsewhere) return;
  CHECK(rig.problem(*elsewhere) == "");
  CHECK(rig.sts.calls() == 1);
}

TEST_CASE("instance: a missing role and invalid replies are errors") {
  Rig rig;
  Instance instance(rig);
  instance.give(kRolePath, "<html>404</html>", 404);
  CHECK_REFUSAL(run_on(rig, instance), 1, "answered 404: no role is attached");
  for (const std::string role : {"", "<html>", "../x", "a b", "a/b", "..", "a\nb", "a?b"}) {
    CAPTURE(role);
    instance.give(kRolePath, role);
    CHECK_FAILURE(run_on(rig, instance), 1, "answered is no name of a role");
  }
  instance.give(kRolePath, "node-role\n");
  const std::string path = std::string(kRolePath) + "node-role";
  struct Bad {
    std::string body;
    std::string said;
  };
  for (const Bad& bad :
       {Bad{"<html>", "no valid JSON"}, Bad{"[]", "the credentials are an array"},
        Bad{"{}", "there is no access key id"}, Bad{"", "answered is empty"},
        Bad{R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"no"})",
            "its code is 'AssumeRoleUnauthorizedAccess'"},
        Bad{R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":1})",
            "'SecretAccessKey' is a number"},
        Bad{platform_credentials("A", rig.secret, ""), "lack a session token"},
        Bad{platform_credentials("A", rig.secret, "t", -5), "has ended already"}}) {
    CAPTURE(bad.body);
    instance.give(path, bad.body);
    CHECK_FAILURE(run_on(rig, instance), 1, bad.said);
  }
  instance.give(path, "no", 403);
  CHECK_FAILURE(run_on(rig, instance), 1, "answered 403");
  instance.give(path, "down", 503);
  CHECK_FAILURE(run_on(rig, instance, {"--timeout=2s"}), 3, "answered 503");
}

TEST_CASE("instance: the metadata token is not shown, even if the reply repeats it") {
  Rig rig;
  Instance instance(rig);
  blackbox::remember_secret(instance.token);
  instance.give(std::string(kRolePath) + "node-role", R"({"Code":")" + instance.token + "\"}");
  const Outcome outcome = run_on(rig, instance);
  CHECK_FAILURE(outcome, 1, "its code is '***', not 'Success'");
  CHECK(blackbox::secret_in(outcome.error_output) == "");
}

TEST_CASE("instance: a metadata token that is refused, invalid or never sent is an error in time") {
  Rig rig;
  Instance instance(rig);
  for (const int status : {400, 403, 404, 405}) {
    CAPTURE(status);
    instance.on(kMetadataToken, reply(status, "no"));
    CHECK_FAILURE(run_on(rig, instance), 1,
                  "looking for credentials: neither variables nor a profile");
    // The plugin does not fall back to IMDSv1.
    CHECK(instance.count(kRolePath) == 0);
  }
  instance.on(kMetadataToken, reply(200, "two words"));
  CHECK_FAILURE(run_on(rig, instance), 1, "answered is no metadata token");
  instance.on(kMetadataToken, reply(200, ""));
  CHECK_FAILURE(run_on(rig, instance), 1, "answered is no metadata token");
  // A hop limit that is too small has this effect.
  instance.on(kMetadataToken, [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome silent = run_on(rig, instance);
  CHECK_REFUSAL(silent, 3, "timed out");
  CHECK(blackbox::says(silent, "hop-limit"));
  CHECK(silent.elapsed < blackbox::kNoWait);
}

TEST_CASE("instance: an endpoint that refuses connections, is another machine, or is no URL") {
  Rig rig;
  const auto at = [&](const std::string& endpoint) {
    return run_in(
        rig, {"AWS_EC2_METADATA_DISABLED=false", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + endpoint},
        {"--timeout=3s"});
  };
  CHECK_REFUSAL(at("http://127.0.0.1:1"), 3, "127.0.0.1:1");
  CHECK_REFUSAL(at("http://metadata.evil.example"), 2, "plain http to another machine");
  CHECK_FAILURE(at("ftp://127.0.0.1"), 2, "/latest/api/token");
  CHECK_FAILURE(at("nothing"), 2, "'nothing/latest/api/token' has no scheme://");
}

TEST_CASE("container: the token for EKS's agent is read from its file in each run") {
  Rig rig;
  const std::string first = new_web_identity("system:serviceaccount:ns:pod");
  const std::string path = rig.sandbox.write("pod-token", first + "\n");
  Agent agent(rig, first);
  const Texts variables =
      agent.variables() + Texts{"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + path,
                                "AWS_CONTAINER_AUTHORIZATION_TOKEN=not-this-one"};
  const Outcome outcome = run_in(rig, variables);
  CHECK(rig.problem(outcome) == "");
  CHECK(rig.verdict(outcome).key_id == "ASIACONTAINER");
  CHECK(agent.requests().front().header("Accept") == "application/json");
  // A renewed token of the same identity finds the entry; the token of another one does not.
  rig.sandbox.write("pod-token", new_web_identity("system:serviceaccount:ns:pod"));
  CHECK(rig.problem(rig.run({.variables = variables, .has_keys = false})) == "");
  CHECK(agent.calls() == 1);
  rig.sandbox.write("pod-token", new_web_identity("system:serviceaccount:ns:other"));
  CHECK_FAILURE(rig.run({.variables = variables, .has_keys = false}), 1, "answered 401");
  CHECK(agent.calls() == 2);
}

TEST_CASE("container: a token of a variable, no token, and a role assumed with the credentials") {
  Rig rig;
  const std::string token = new_secret();
  Agent agent(rig, "Basic " + token);
  CHECK(rig.problem(run_in(
            rig, agent.variables() + Texts{"AWS_CONTAINER_AUTHORIZATION_TOKEN=Basic " + token})) ==
        "");
  CHECK_FAILURE(run_in(rig, agent.variables() + Texts{"AWS_CONTAINER_AUTHORIZATION_TOKEN=x\ny"}), 2,
                "AWS_CONTAINER_AUTHORIZATION_TOKEN is no value of a header");
  Agent open(rig, "");
  CHECK(rig.problem(run_in(rig, open.variables(), {std::string("--role-arn=") + kRole})) == "");
  CHECK(rig.sts.problem() == "");
  rig.set_config("[default]\nrole_arn = " + std::string(kRole) +
                 "\ncredential_source = EcsContainer\n");
  CHECK(rig.problem(run_in(rig, open.variables())) == "");
  CHECK(rig.sts.problem() == "");
}

TEST_CASE("container: plain http only to this machine and the agents' own addresses") {
  const Rig rig;
  for (const std::string bad :
       {"http://169.254.170.3/x", "http://169.254.169.254/x",
        "http://169.254.170.23.evil.example/x", "http://10.0.0.1/x", "http://evil.example/x",
        "http://[fd00:ec2::24]/x", "http://metadata.google.internal/x",
        "http://localhost.evil.example/x", "http://2852039166/x", "http://u:p@127.0.0.1/x",
        "file:///etc/passwd", "127.0.0.1/x", "http://[fe80::1]/x"}) {
    CAPTURE(bad);
    CHECK_REFUSAL(run_in(rig, {"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + bad}), 2,
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  }
  for (const std::string bad : {"x", "@evil.example/x", ".evil.example/x", ":80/x"}) {
    CAPTURE(bad);
    CHECK_FAILURE(run_in(rig, {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=" + bad}), 2,
                  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with");
  }
  // An allowed host is called; nothing listens on its port 1.
  CHECK_FAILURE(
      run_in(rig, {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://[::1]:1/x"}, {"--timeout=2s"}), 3,
      "cannot connect to http://[::1]:1: ");
  CHECK_FAILURE(
      run_in(rig, {"AWS_CONTAINER_CREDENTIALS_FULL_URI=https://127.0.0.1:1/x"}, {"--timeout=2s"}),
      3, "cannot connect to https://");
}

TEST_CASE("container: an https agent is verified with AWS_CA_BUNDLE, and asked without a proxy") {
  Rig rig;
  const std::string session = new_secret();
  rig.sts.know("ASIACONTAINER", rig.secret, session);
  ScriptedServer agent;
  agent.on("/x", reply(200, platform_credentials("ASIACONTAINER", rig.secret, session)));
  const std::string url = "AWS_CONTAINER_CREDENTIALS_FULL_URI=" + agent.url("/x");
  const std::string bundle = rig.sandbox.write("agent.pem", agent.ca_pem());
  CHECK(rig.problem(run_in(rig, {url, "AWS_CA_BUNDLE=" + bundle})) == "");
  CHECK_FAILURE(run_in(rig, {url}, {"--timeout=2s"}), 3, "cannot verify");
  ScriptedServer proxy(ScriptedServer::Transport::plain);
  CHECK_FAILURE(run_in(rig,
                       {"AWS_CONTAINER_CREDENTIALS_FULL_URI=https://agent.example/x",
                        "HTTPS_PROXY=" + proxy.url()},
                       {"--timeout=2s"}),
                3, "agent.example");
  CHECK(proxy.connections() == 0);
}

TEST_CASE("container: only a refusal of the agent has a hint at its token and role") {
  Rig rig;
  Agent agent(rig, "");
  for (const int status : {302, 401, 403, 404, 429, 503}) {
    CAPTURE(status);
    agent.on("/v1/credentials", reply(status, ""));
    const Outcome outcome = run_in(rig, agent.variables(), {"--timeout=2s"});
    CHECK(blackbox::says(outcome, "the agent refuses") == (status >= 401 && status <= 404));
  }
}

TEST_CASE("container: refusals, invalid replies and redirects are errors" *
          doctest::description("promise 14")) {
  Rig rig;
  Agent agent(rig, "");
  const std::string path = "/v1/credentials";
  Agent thief(rig, "");
  struct Case {
    std::string reply;
    int exit_code;
    std::string text;
  };
  for (const Case& c :
       {Case{reply(401, "no"), 1, "answered 401"}, Case{reply(404, "{}"), 1, "answered 404"},
        Case{reply(500, ""), 3, "answered 500"}, Case{reply(503, ""), 3, "answered 503"},
        Case{reply(429, ""), 3, "answered 429"}, Case{reply(200, "<html>"), 1, "no valid JSON"},
        Case{reply(200, "{}"), 1, "there is no access key id"},
        Case{reply(200, "[]"), 1, "answered is an array"},
        Case{reply(200, R"({"AccessKeyId":"A","SecretAccessKey":"s","Token":[]})"), 1,
             "'Token' is an array"},
        Case{reply(200, platform_credentials("A", rig.secret, "")), 1, "lack a session token"},
        Case{reply(200, platform_credentials("A", rig.secret, "t", -9)), 1, "has ended already"},
        Case{redirect(302, thief.url("/v1/credentials")), 1, "answered 302, a redirect"},
        Case{redirect(307, thief.url("/v1/credentials")), 1, "answered 307, a redirect"}}) {
    CAPTURE(c.reply);
    agent.on(path, c.reply);
    CHECK_FAILURE(run_in(rig, agent.variables(), {"--timeout=2s"}), c.exit_code, c.text);
  }
  CHECK(thief.connections() == 0);
}

}  // namespace execcred::test
