// SPDX-License-Identifier: Apache-2.0
// Credentials that the platform has: an instance's, a container's.
#include "platform.hpp"
#include "another_host.hpp"

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

TEST_CASE("instance: version 2 of its metadata, and a token signed with its role's session") {
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
  // Kept for the next run.
  CHECK(rig.problem(rig.run({.variables = instance.variables(), .has_keys = false})) == "");
  CHECK(instance.requests().size() == 3);
}

TEST_CASE("instance: the source of a role, and of the region") {
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

TEST_CASE("instance, container: what it gave, and its region, are for the machine that asked") {
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

TEST_CASE("a role's session is the same on every machine that has the keys") {
  const Rig rig;
  const Ask ask = {.arguments = {std::string("--role-arn=") + kRole}};
  CHECK(rig.problem(rig.run(ask)) == "");
  const auto elsewhere = blackbox::run_on_another_host(rig.command(ask));
  if (!elsewhere) return;
  CHECK(rig.problem(*elsewhere) == "");
  CHECK(rig.sts.calls() == 1);
}

TEST_CASE("instance: one without a role, and replies that are no credentials") {
  Rig rig;
  Instance instance(rig);
  instance.give(kRolePath, "<html>404</html>", 404);
  CHECK_REFUSAL(run_on(rig, instance), 1, "404");
  for (const std::string role : {"", "<html>", "../x", "a b", "a/b", "..", "a\nb", "a?b"}) {
    CAPTURE(role);
    instance.give(kRolePath, role);
    CHECK_FAILURE(run_on(rig, instance), 1, "answered is no name of a role");
  }
  instance.give(kRolePath, "node-role\n");
  const std::string path = std::string(kRolePath) + "node-role";
  using Bad = std::pair<std::string, std::string>;
  for (const auto& [body, said] :
       {Bad{"<html>", "no valid JSON"}, Bad{"[]", "the credentials are an array"},
        Bad{"{}", "there is no access key id"}, Bad{"", "answered is empty"},
        Bad{R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"no"})",
            "its code is 'AssumeRoleUnauthorizedAccess'"},
        Bad{R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":1})",
            "'SecretAccessKey' is a number"},
        Bad{platform_credentials("A", rig.secret, ""), "lack a session token"},
        Bad{platform_credentials("A", rig.secret, "t", -5), "has ended already"}}) {
    CAPTURE(body);
    instance.give(path, body);
    CHECK_FAILURE(run_on(rig, instance), 1, said);
  }
  instance.give(path, "no", 403);
  CHECK_FAILURE(run_on(rig, instance), 1, "answered 403");
  instance.give(path, "down", 503);
  CHECK_FAILURE(run_on(rig, instance, {"--timeout=2s"}), 3, "answered 503");
}

TEST_CASE("instance: a token that cannot be had, refused or never answered, in a bounded time") {
  Rig rig;
  Instance instance(rig);
  for (const int status : {400, 403, 404, 405}) {
    CAPTURE(status);
    instance.on(kMetadataToken, reply(status, "no"));
    CHECK_FAILURE(run_on(rig, instance), 1,
                  "looking for credentials: neither variables nor a profile");
    // Version 1 is not fallen back to.
    CHECK(instance.count(kRolePath) == 0);
  }
  instance.on(kMetadataToken, reply(200, "two words"));
  CHECK_FAILURE(run_on(rig, instance), 1, "answered is no metadata token");
  instance.on(kMetadataToken, reply(200, ""));
  CHECK_FAILURE(run_on(rig, instance), 1, "answered is no metadata token");
  // As with a hop limit that is too small.
  instance.on(kMetadataToken, [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome silent = run_on(rig, instance);
  CHECK_REFUSAL(silent, 3, "timed out");
  CHECK(blackbox::says(silent, "hop-limit"));
  CHECK(silent.elapsed < blackbox::kNoWait);
}

TEST_CASE("instance: nobody there, or somebody else") {
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

TEST_CASE("container: EKS's agent with the token of a file, re-read in each run") {
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
  // A renewed token of the same identity is the same key; another identity is another.
  rig.sandbox.write("pod-token", new_web_identity("system:serviceaccount:ns:pod"));
  CHECK(rig.problem(rig.run({.variables = variables, .has_keys = false})) == "");
  CHECK(agent.calls() == 1);
  rig.sandbox.write("pod-token", new_web_identity("system:serviceaccount:ns:other"));
  CHECK_FAILURE(rig.run({.variables = variables, .has_keys = false}), 1, "answered 401");
  CHECK(agent.calls() == 2);
}

TEST_CASE("container: the token of a variable, or none, and a role from there") {
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
  // An allowed host is asked; nothing listens on its port 1.
  CHECK_FAILURE(
      run_in(rig, {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://[::1]:1/x"}, {"--timeout=2s"}), 3,
      "cannot connect to http://[::1]:1: Connection refused");
  CHECK_FAILURE(
      run_in(rig, {"AWS_CONTAINER_CREDENTIALS_FULL_URI=https://127.0.0.1:1/x"}, {"--timeout=2s"}),
      3, "cannot connect to https://");
}

TEST_CASE("container: refusals, replies that are none, and redirects") {
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
