// SPDX-License-Identifier: Apache-2.0
// Known defects of other plugins: each test checks that this plugin does not have the defect.
#include "entry_file.hpp"
#include "federation.hpp"
#include "support/memory_limit.hpp"
#include "support/processes.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

namespace execcred::test {
namespace {

const Texts kTwoParameters = {"--param=a=1", "--param=b=2", "--param=c=3", "--param=d=4"};

// Starts them all, and then waits for all.
std::vector<Outcome> at_once(const blackbox::Command& command, int count) {
  std::vector<std::unique_ptr<blackbox::Child>> children;
  for (int i = 0; i < count; ++i) children.push_back(std::make_unique<blackbox::Child>(command));
  std::vector<Outcome> outcomes;
  for (const auto& child : children) outcomes.push_back(child->wait());
  return outcomes;
}

}  // namespace

TEST_CASE("peer defect 1: the order of parameters changes the key (kubelogin#1638), here not") {
  Federation fed;
  Texts parameters = kTwoParameters;
  do {
    CHECK_SUCCESS(fed.run({.arguments = parameters}));
  } while (std::next_permutation(parameters.begin(), parameters.end()));
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("peer defect 4: 20 cold calls make 20 logins (gke), here they make one") {
  Federation fed;
  for (const Outcome& outcome : at_once(fed.command({.arguments = {"--timeout=20s"}}), 20)) {
    CHECK_SUCCESS(outcome);
  }
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE(
    "peer defect 4: two alternating contexts replace each other in the cache (gke), here not") {
  Federation fed;
  const Ask one = {.arguments = {"--audience=one"}};
  const Ask two = {.arguments = {"--audience=two"}};
  for (int i = 0; i < 5; ++i) {
    CHECK_SUCCESS(fed.run(one));
    CHECK_SUCCESS(fed.run(two));
  }
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE(
    "peer defect 4: switching the account gives the old account's token (gke), here its own") {
  Federation fed;
  const auto account = [](const std::string& name) {
    return blackbox::make_jwt(R"({"iss":"https://i","sub":")" + name + R"(","exp":9999999999})");
  };
  fed.set_subject(account("alice"));
  const std::string alice = token_of(fed.run({}));
  fed.set_subject(account("bob"));
  const std::string bob = token_of(fed.run({}));
  CHECK(alice != bob);
  fed.set_subject(account("alice"));
  CHECK(token_of(fed.run({})) == alice);
}

TEST_CASE("peer defect 4: a permanent invalid_grant is sent four times (gke), here once") {
  Federation fed;
  fed.idp.answer(R"({"error":"invalid_grant"})", 400);
  CHECK_FAILURE(fed.run({}), 1, "answered 400 with the error 'invalid_grant'");
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE(
    "peer defect 5: every answer is v1beta1 (gke, pinniped, argocd), here the client's version") {
  Federation fed;
  for (const std::string_view version : {blackbox::kV1, blackbox::kV1Beta1, blackbox::kV1}) {
    CHECK_SUCCESS(fed.run({.version = version}), version);
  }
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE(
    "peer defect 6: a permanent error is retried for a minute (argocd), here it is not retried") {
  Federation fed;
  fed.idp.answer(R"({"error":"invalid_client"})", 401);
  const Outcome outcome = fed.run({.arguments = {"--timeout=60s"}});
  CHECK_FAILURE(outcome, 1, "answered 401 with the error 'invalid_client'");
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("peer defect 7: a missing or empty token file is no assertion (Azure), here an error") {
  Federation fed;
  const auto federated = [&fed](const std::string& path) {
    return fed.run({.flow = "client-credentials",
                    .arguments = {"--client-id=me", "--client-auth=federated",
                                  "--subject-token-file=" + path}});
  };
  CHECK_FAILURE(federated("/nope"), 2, "cannot read '/nope': No such file or directory");
  CHECK_FAILURE(federated(fed.sandbox.write("empty", "")), 1, "the token is empty");
  CHECK_FAILURE(federated(fed.sandbox.write("blank", "\n")), 1, "the token is empty");
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE(
    "peer defect 7: the metadata host is compared by prefix (google-cloud-cpp), here as a whole") {
  Federation fed;
  for (const std::string host :
       {"metadata.google.internal.evil.example", "169.254.169.254.evil.example",
        "metadata.google.internal@evil.example", "127.0.0.1@evil.example"}) {
    CAPTURE(host);
    const Outcome outcome = fed.run_cold(
        {.arguments = {"--subject=gcp-metadata", "--subject-audience=a", "--timeout=2s"},
         .variables = {"GCE_METADATA_HOST=" + std::string(host)},
         .has_subject = false});
    CHECK_FAILURE(outcome, 2, "evil.example");
  }
}

TEST_CASE("peer defect 8: a 307 to plain http gets the subject token (gke), here nothing") {
  const ScriptedServer thief(ScriptedServer::Transport::plain);
  Federation fed;
  for (const int status : {301, 302, 303, 307, 308}) {
    fed.idp.on(kToken, redirect(status, thief.url("/steal")));
    CHECK_REFUSAL(fed.run_cold({}), 1, "redirect");
  }
  CHECK(thief.connections() == 0);
}

TEST_CASE("peer defect 9: role B is given role A's credentials (aws --cache), here its own") {
  Federation fed;
  const auto in_role = [](const std::string& role) {
    return Ask{.variables = {"EXECCRED_RESOURCE=" + role}};
  };
  const std::string a = token_of(fed.run(in_role("urn:role:a")));
  const std::string b = token_of(fed.run(in_role("urn:role:b")));
  CHECK(a != "");
  CHECK(a != b);
  CHECK(fed.idp.last(kToken).field("resource") == "urn:role:b");
}

TEST_CASE(
    "peer defect 10: a hit waits for a lock that another process holds (int128), here not at all") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  const auto locks = cache_files(fed.cache_path, ".lock");
  REQUIRE(locks.size() == 1);
  const int held = open(locks[0].c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
  const Outcome hit = fed.run({});
  CHECK(token_of(hit) == token);
  CHECK(hit.elapsed < blackbox::kNoWait);
  close(held);
}

TEST_CASE("peer defect 10: silent servers block it for 40 s and more (all), here until --timeout") {
  Federation fed;
  fed.idp.on(kToken, [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome outcome = fed.run({.arguments = {"--timeout=1s"}});
  CHECK_FAILURE(outcome, 3, "did not reply within");
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("peer defect 10: metadata goes through HTTP_PROXY (azure msi), here never") {
  const ScriptedServer proxy(ScriptedServer::Transport::plain);
  ScriptedServer metadata(ScriptedServer::Transport::plain);
  Federation fed;
  metadata.on("/t", reply(200, fed.subject));
  CHECK_SUCCESS(fed.run({.arguments = {"--subject-token-url=" + metadata.url("/t")},
                         .variables = {"HTTP_PROXY=" + proxy.url(), "http_proxy=" + proxy.url(),
                                       "HTTPS_PROXY=" + proxy.url(), "ALL_PROXY=" + proxy.url()},
                         .has_subject = false}));
  CHECK(metadata.count("/t") == 1);
  CHECK(proxy.connections() == 0);
}

TEST_CASE("peer defect 11: a 300 MB reply takes gigabytes of memory (azure, aws), here 64 MB") {
  Federation fed;
  fed.idp.on(kToken, [](Stream& stream, const Received&) {
    const std::string block(1 << 16, 'x');
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: 314572800\r\n\r\n");
    for (int i = 0; i < 4800 && stream.write(block); ++i) {
    }
  });
  CHECK_FAILURE(blackbox::run(bounded(fed.command({}), 64U << 20U)), 1, "the reply of https://");
}

TEST_CASE(
    "peer defect 11: /dev/full exits 0, noise on success (aws), no run without HOME (pinniped)") {
  Federation fed;
  blackbox::Command command = fed.command({});
  command.before_exec = [] { blackbox::open_descriptor(1, "/dev/full", O_WRONLY); };
  CHECK(blackbox::run(command).exit_code == 70);
  // CHECK_SUCCESS requires an empty stderr, and the environment has no HOME.
  CHECK_SUCCESS(fed.run({}));
}

TEST_CASE("peer defect 12: the file's newline is sent (Azure, google-auth), here it is trimmed") {
  Federation fed;
  for (const std::string ending : {"\n", "\r\n", " ", "\n\n\t"}) {
    fed.set_subject(fed.subject + ending);
    CHECK_SUCCESS(fed.run_cold({}));
    CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
    CHECK(fed.idp.last(kToken).body.find("%0A") == std::string::npos);
    CHECK(fed.idp.last(kToken).body.find("%0D") == std::string::npos);
  }
}

}  // namespace execcred::test
