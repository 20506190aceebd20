// SPDX-License-Identifier: Apache-2.0
// Certificate signing requests: their content, how long a run waits, and what the next run
// resumes.
#include "bootstrap.hpp"
#include "support/processes.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace execcred::test {
namespace {

// A run with a short timeout.
Ask brief(Ask ask = {}) {
  ask.arguments.emplace_back("--timeout=1500ms");
  return csr(std::move(ask));
}

blackbox::Answer pair_of(const Outcome& outcome) {
  CHECK_SUCCESS(outcome);
  blackbox::Answer answer = blackbox::read_answer(outcome.output);
  CHECK(answer.token == "");
  CHECK(is_pair(answer.certificate, answer.key));
  return answer;
}

// The file with this ending in the cache directory; empty if there is none.
std::filesystem::path cache_file(const Bootstrap& rig, std::string_view ending) {
  for (const auto& entry : std::filesystem::directory_iterator(rig.cache_path)) {
    if (entry.path().native().ends_with(ending)) return entry.path();
  }
  return {};
}

}  // namespace

TEST_CASE(
    "csr: the request has the subject, a generated key, the signer, the usages and the lifetime") {
  const Bootstrap rig;
  const Outcome outcome = rig.run(csr({.arguments = {"--lifetime=24h"}}));
  pair_of(outcome);
  CHECK(is_about(claimed_seconds(outcome), claim_for(3600)));
  const Received sent = rig.api.server.last(kSigningPath);
  CHECK(sent.header("Authorization") == "Bearer " + rig.token);
  CHECK(blackbox::json_at(sent.body, "kind") == "CertificateSigningRequest");
  CHECK(blackbox::json_at(sent.body, "apiVersion") == "certificates.k8s.io/v1");
  CHECK(blackbox::json_at(sent.body, "spec.signerName") == "kubernetes.io/kube-apiserver-client");
  CHECK(blackbox::json_at(sent.body, "spec.expirationSeconds") == "86400");
  CHECK(blackbox::json_at(sent.body, "spec.usages") == R"(["digital signature","client auth"])");
  const RequestFacts facts = facts_of_request(rig.api.last_spec());
  CHECK(facts.subject == "O=blue, O=fleet, CN=fleet-controller");
  CHECK(facts.key_type == "EC 256");
  CHECK(facts.is_self_signed);
  CHECK(facts.extensions == 0);
}

TEST_CASE("csr: each type of key, another signer, a user without groups") {
  const Bootstrap rig;
  struct Case {
    std::string option;
    std::string key_type;
  };
  for (const Case& c : {Case{"rsa-2048", "RSA 2048"}, Case{"ed25519", "ED25519 256"},
                        Case{"ecdsa-p256", "EC 256"}}) {
    CAPTURE(c.option);
    const std::string user = "system:node:" + std::string(100, 'x');
    pair_of(rig.run_cold(csr(
        {.arguments = {"--key-type=" + c.option, "--user=" + user, "--signer=example.com/client"},
         .has_identity = false})));
    const RequestFacts facts = facts_of_request(rig.api.last_spec());
    CHECK(facts.key_type == c.key_type);
    CHECK(facts.subject == "CN=" + user);
    CHECK(facts.is_self_signed);
    CHECK(blackbox::json_at(rig.api.last_spec(), "signerName") == "example.com/client");
  }
}

TEST_CASE("csr: names are random, and so are keys") {
  const Bootstrap rig;
  rig.run(csr());
  const std::string first = facts_of_request(rig.api.last_spec()).public_key;
  rig.run_cold(csr());
  CHECK(facts_of_request(rig.api.last_spec()).public_key != first);
  const std::vector<std::string> names = rig.api.names();
  REQUIRE(names.size() == 2);
  for (const std::string& name : names) {
    CHECK(name.starts_with("execcred-"));
    CHECK(name.size() == 41);
  }
}

TEST_CASE("csr: a run that waits sees the approval") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  blackbox::Child child(rig.command(csr({.arguments = {"--timeout=30s"}})));
  REQUIRE(blackbox::wait_until([&] { return rig.api.made() == 1; }));
  rig.api.decide(Approver::approves);
  pair_of(child.wait());
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("csr: if it is pending at the deadline, the run exits with 3, and the next resumes it") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  for (int run = 0; run < 2; ++run) {
    const Outcome outcome = rig.run(brief());
    REQUIRE(rig.api.names().size() == 1);
    const std::string name = rig.api.names().front();
    CHECK_REFUSAL(outcome, 3, "the certificate signing request '" + name + "' is pending");
    CHECK(says(outcome, "hint: kubectl certificate approve " + name));
    // The run waits until the deadline, but not longer.
    CHECK(outcome.elapsed >= milliseconds(1000));
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
  const std::string key = facts_of_request(rig.api.last_spec()).public_key;
  rig.api.decide(Approver::approves);
  pair_of(rig.run(brief()));
  CHECK(rig.api.made() == 1);
  CHECK(rig.api.posts() == 1);
  CHECK(facts_of_request(rig.api.last_spec()).public_key == key);
}

TEST_CASE("csr: a pending request is resumed although EXECCRED_REFRESH_BEFORE changes") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  const auto run_with = [&rig](const std::string& before) {
    Ask ask = brief();
    ask.variables.push_back("EXECCRED_REFRESH_BEFORE=" + before);
    return rig.run(ask);
  };
  for (const std::string before : {"1200s", "1198s"}) {
    CHECK_REFUSAL(run_with(before), 3, "is pending");
  }
  rig.api.decide(Approver::approves);
  pair_of(run_with("1195s"));
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("csr: one that is approved, but not issued yet, is pending too") {
  Bootstrap rig;
  rig.api.decide(Approver::only_approves);
  const Outcome outcome = rig.run(brief());
  CHECK_REFUSAL(outcome, 3, "is approved, and its signer has issued no certificate yet");
  CHECK(says(outcome, rig.api.names().front()));
  rig.api.decide(Approver::approves);
  pair_of(rig.run(brief()));
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("csr: if the last read gets no answer, the result of the read before it is reported") {
  Bootstrap rig;
  rig.api.decide(Approver::only_approves);
  rig.api.stall_after(2);
  CHECK_REFUSAL(rig.run(brief()), 3, "is approved, and its signer has issued no certificate yet");
}

TEST_CASE("csr: if the read after the creation gets no answer, the request is pending") {
  Bootstrap rig;
  rig.api.stall_after(0);
  CHECK_REFUSAL(rig.run(brief()), 3, "is pending: nobody has approved it yet");
  CHECK(rig.api.posts() == 1);
}

TEST_CASE("csr: name and key are stored with mode 0600, and a damaged file is ignored") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  rig.run(brief());
  const std::filesystem::path file = cache_file(rig, ".request");
  REQUIRE_FALSE(file.empty());
  CHECK(std::filesystem::status(file).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  const std::string text = blackbox::read_text(file);
  CHECK(text.find(rig.api.names().front()) != std::string::npos);
  CHECK(text.find("BEGIN PRIVATE KEY") != std::string::npos);
  // A damaged file counts as missing.
  std::ofstream(file) << text.substr(0, text.size() / 2);
  rig.api.decide(Approver::approves);
  pair_of(rig.run(brief()));
  CHECK(rig.api.made() == 2);
}

TEST_CASE("csr: a deleted request is made again with the same key") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  rig.run(brief());
  const std::string key = facts_of_request(rig.api.last_spec()).public_key;
  rig.api.vanish();
  rig.api.decide(Approver::approves);
  pair_of(rig.run(brief()));
  CHECK(rig.api.made() == 2);
  CHECK(facts_of_request(rig.api.last_spec()).public_key == key);
}

TEST_CASE("csr: a 404 without a name means deleted too, and a 404 of the API is an error") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  rig.run(brief());
  const std::string path = std::string(kSigningPath) + "/" + rig.api.names().front();
  rig.api.vanish();
  rig.api.server.on(path, status_reply(404, "NotFound", "not found"));
  CHECK_REFUSAL(rig.run(brief()), 3,
                "each name for a certificate signing request was already in use");
  CHECK(rig.api.made() == 2);
  rig.api.server.on(kSigningPath, reply(404, "404 page not found"));
  std::filesystem::remove(cache_file(rig, ".failure"));
  CHECK_REFUSAL(rig.run(brief()), 1, "does it serve certificatesigningrequests?");
}

TEST_CASE("csr: if each request is deleted at once, the run ends after three") {
  Bootstrap rig;
  rig.api.set_vanishing(true);
  CHECK_REFUSAL(rig.run(csr()), 3, "was deleted each time that it was created");
  CHECK(rig.api.made() == 3);
}

TEST_CASE("csr: denied or failed exits with 1, reason and message, and is remembered for a while") {
  Bootstrap rig;
  struct Case {
    Approver approver;
    std::string_view part;
  };
  for (const Case& c :
       {Case{Approver::denies, "' was denied: WrongFleet: not on my watch\\x0a\\x1b[1m"},
        Case{Approver::fails, "' failed: SignerValidationFailure: usages: invalid"}}) {
    CAPTURE(c.part);
    rig.clear_cache();
    rig.api.decide(c.approver);
    const int before = rig.api.made();
    for (int run = 0; run < 2; ++run) {
      const Outcome outcome = rig.run(csr());
      CHECK_FAILURE(outcome, 1, c.part);
    }
    CHECK(rig.api.made() == before + 1);
    const std::string key = facts_of_request(rig.api.last_spec()).public_key;
    // Its ten seconds are over: this has the same effect.
    std::filesystem::remove(cache_file(rig, ".failure"));
    rig.api.decide(Approver::approves);
    pair_of(rig.run(csr()));
    CHECK(rig.api.made() == before + 2);
    CHECK(facts_of_request(rig.api.last_spec()).public_key != key);
  }
}

TEST_CASE("csr: conditions are read by type, in any order, and only if their status is True") {
  Bootstrap rig;
  const std::string approved = R"({"type":"Approved","status":"True"})";
  const std::string denied = R"({"type":"Denied","status":"True","reason":"WrongFleet"})";
  const std::string failed = R"({"type":"Failed","status":"True","reason":"BadUsages"})";
  const std::string unknown = R"({"type":"Seen","status":"True","reason":"Other"})";
  const auto untrue = [](const std::string& type, const std::string& status) {
    return R"({"type":")" + type + R"(","status":")" + status + R"("})";
  };
  struct Case {
    Texts conditions;
    int code;
    std::string_view part = {};
  };
  for (const Case& c :
       {Case{{failed, approved}, 1, "' failed: BadUsages"},
        Case{{approved, failed}, 1, "' failed: BadUsages"},
        Case{{denied, approved}, 1, "' was denied: WrongFleet"},
        Case{{approved, denied}, 1, "' was denied: WrongFleet"},
        Case{{unknown, denied}, 1, "' was denied: WrongFleet"},
        Case{{untrue("Approved", "False"), denied}, 1, "' was denied: WrongFleet"},
        Case{{unknown, approved}, 0},
        Case{{untrue("Denied", "False"), untrue("Failed", "Unknown"), approved}, 0},
        // There is a certificate, but no approval.
        Case{{unknown}, 3, "is pending: nobody has approved it yet"},
        Case{{untrue("Approved", "False")}, 3, "is pending: nobody has approved it yet"},
        Case{{untrue("Approved", "Unknown")}, 3, "is pending: nobody has approved it yet"}}) {
    std::string conditions;
    for (const std::string& one : c.conditions) conditions += (conditions.empty() ? "" : ",") + one;
    CAPTURE(conditions);
    rig.api.set_conditions("[" + conditions + "]");
    const Outcome outcome = rig.run_cold(brief());
    if (c.code == 0) {
      pair_of(outcome);
    } else {
      CHECK_FAILURE(outcome, c.code, c.part);
    }
  }
}

TEST_CASE("csr: another's request with the same name is never used") {
  Bootstrap rig;
  rig.api.set_taken(2);
  pair_of(rig.run(csr()));
  CHECK(rig.api.made() == 1);
  CHECK(rig.api.posts() == 3);
  CHECK(rig.api.names().size() == 3);
  rig.api.set_taken(100);
  CHECK_REFUSAL(rig.run_cold(csr()), 3,
                "each name for a certificate signing request was already in use");
}

TEST_CASE("csr: a lost answer does not lead to a second request") {
  Bootstrap rig;
  // The request arrives, but its answer is lost.
  rig.api.lose_answers(1);
  pair_of(rig.run(csr()));
  CHECK(rig.api.made() == 1);
  CHECK(rig.api.posts() == 1);
  // The same holds if the answer to the read after it is lost too.
  rig.clear_cache();
  rig.api.lose_answers(2);
  CHECK_FAILURE(rig.run(brief()), 3, "while creating one of the certificatesigningrequests");
  std::filesystem::remove(cache_file(rig, ".failure"));
  rig.api.lose_answers(0);
  pair_of(rig.run(csr()));
  CHECK(rig.api.made() == 2);
}

TEST_CASE("csr: a 409 that the run's own request causes does not lead to a second request") {
  Bootstrap rig;
  // The answer is lost, and so is the answer to the read after it.
  rig.api.lose_answers(2);
  CHECK_FAILURE(rig.run(brief()), 3, "while creating one of the certificatesigningrequests");
  std::filesystem::remove(cache_file(rig, ".failure"));
  rig.api.lose_answers(0);
  const std::string key = facts_of_request(rig.api.last_spec()).public_key;
  // Both reads before the next POST reach a server that does not know the request yet.
  rig.api.lag_for(2);
  pair_of(rig.run(csr()));
  CHECK(rig.api.posts() == 2);
  CHECK(rig.api.made() == 1);
  CHECK(rig.api.names().size() == 1);
  CHECK(facts_of_request(rig.api.last_spec()).public_key == key);
}

TEST_CASE("csr: a kill right after the request is made does not lead to a second request") {
  Bootstrap rig;
  rig.api.decide(Approver::waits);
  {
    const blackbox::Child child(rig.command(csr({.arguments = {"--timeout=30s"}})));
    REQUIRE(blackbox::wait_until([&] { return rig.api.made() == 1; }));
  }
  rig.api.decide(Approver::approves);
  pair_of(rig.run(csr()));
  CHECK(rig.api.made() == 1);
}

TEST_CASE("csr: killed at any system call, the next run succeeds, and there is one request" *
          doctest::description("promise 8")) {
  Bootstrap rig;
  blackbox::Command command = rig.command(csr({.arguments = {"--timeout=30s"}}));
  std::vector<char*> arguments;
  std::vector<char*> environment;
  for (std::string& text : command.arguments) arguments.push_back(text.data());
  for (std::string& text : command.environment) environment.push_back(text.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  int points = 0;
  constexpr int kStep = 37;
  for (int call = 1;; call += kStep) {
    CAPTURE(call);
    rig.clear_cache();
    const int before = rig.api.made();
    const bool is_killed = is_killed_at(call, [&] {
      blackbox::open_descriptor(STDOUT_FILENO, "/dev/null", O_WRONLY);
      execve(arguments[0], arguments.data(), environment.data());
    });
    pair_of(rig.run(csr()));
    CHECK(rig.api.made() == before + 1);
    if (!is_killed) break;
    ++points;
  }
  MESSAGE("killed at " << points << " points");
  CHECK(points > 10);
}

TEST_CASE("csr: a 403 names the RBAC rule, for create and for get") {
  Bootstrap rig;
  const std::string rule =
      "verbs [create, get] on resources [certificatesigningrequests] of apiGroups "
      "[certificates.k8s.io]";
  rig.api.forbid("POST");
  CHECK_REFUSAL(rig.run(csr()), 1, rule);
  rig.api.allow_all();
  rig.api.forbid("GET");
  CHECK_REFUSAL(rig.run_cold(csr()), 1, rule);
  CHECK(says(rig.run(csr()), "403 Forbidden"));
}

TEST_CASE(
    "csr: a cluster that is down exits with 3, one without the API or with a 422 reply with 1") {
  Bootstrap rig;
  rig.api.server.on(kSigningPath, reply(503, "{}"));
  CHECK_FAILURE(rig.run(brief()), 3, "the cluster answered 503");
  rig.api.server.on(kSigningPath, reply(404, "{}"));
  CHECK_REFUSAL(rig.run_cold(csr()), 1, "does it serve certificatesigningrequests?");
  rig.api.server.on(kSigningPath, status_reply(422, "Invalid", "spec.usages: required"));
  CHECK_FAILURE(rig.run_cold(csr()), 1, "the cluster answered 422: spec.usages: required");
}

TEST_CASE("csr: without a cache, each run makes its own request") {
  Bootstrap rig;
  pair_of(rig.run(csr({.arguments = {"--no-cache"}})));
  pair_of(rig.run(csr({.arguments = {"--no-cache"}})));
  CHECK(rig.api.made() == 2);
  rig.api.decide(Approver::waits);
  const Outcome outcome = rig.run(brief({.arguments = {"--no-cache"}}));
  CHECK_REFUSAL(outcome, 3, "without a cache, the next run makes another one");
  CHECK_FALSE(std::filesystem::exists(rig.cache_path));
}

TEST_CASE("certificate: one that does not match the request is refused, and is not cached") {
  Bootstrap rig;
  const std::vector<std::string> groups = {"fleet", "blue"};
  struct Case {
    IssueWish wish;
    std::string_view part;
  };
  for (const Case& c : {
           Case{{.has_other_key = true}, "is of another key than the request"},
           Case{{.user = "admin"}, "has another subject than the request"},
           Case{{.user = ""}, "has another subject"},
           Case{{.groups = std::vector<std::string>{"fleet"}}, "has another subject"},
           Case{{.groups = std::vector<std::string>{"fleet", "blue", "system:masters"}},
                "has another subject"},
           Case{{.unit = "x"}, "has another subject"},
           Case{{.usage = "serverAuth"}, "is not for clients"},
           Case{{.usage = ""}, "is not for clients"},
           Case{{.usage = "anyExtendedKeyUsage"}, "is not for clients"},
           Case{{.begins = 3600, .ends = 7200}, "is not valid yet"},
           Case{{.begins = -7200, .ends = -60}, "has expired"},
           Case{{.is_ca = true}, "is a CA certificate"},
           Case{{.chain = 17}, "the chain has 17 certificates, and may have 16"},
           Case{{.chain = 100}, "the chain has 100 certificates"},
           Case{{.chain = 2, .is_chain_broken = true}, "is not signed by the next one"},
           Case{{.instead = "no certificate"}, "a certificate is malformed"},
           Case{{.instead = "-----BEGIN CERTIFICATE-----\n"}, "the certificate"},
       }) {
    CAPTURE(c.part);
    rig.api.issue = c.wish;
    const int before = rig.api.made();
    const Outcome outcome = rig.run_cold(csr());
    CHECK_FAILURE(outcome, 1, c.part);
    CHECK(says(outcome, "while reading the certificate of the certificate signing request '"));
    // It was not cached.
    std::filesystem::remove(cache_file(rig, ".failure"));
    rig.api.issue = {};
    pair_of(rig.run(csr()));
    CHECK(rig.api.made() == before + 2);
  }
}

TEST_CASE("certificate: groups are compared as a set, and a chain of 16 is printed completely") {
  Bootstrap rig;
  rig.api.issue.groups = std::vector<std::string>{"blue", "fleet", "blue"};
  pair_of(rig.run_cold(csr()));
  rig.api.issue = {.usage = "serverAuth,clientAuth", .chain = 16};
  const blackbox::Answer answer = pair_of(rig.run_cold(csr()));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answer.certificate.find("BEGIN CERT", at)) != std::string::npos;
       ++at) {
    ++count;
  }
  CHECK(count == 16);
}

}  // namespace execcred::test
