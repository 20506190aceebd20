// SPDX-License-Identifier: Apache-2.0
// One system call fails at each point of a run. The result is the right credential, or a temporary
// error that is not cached, because no server has answered.
#include "build_kind.hpp"
#include "entry_file.hpp"
#include "federation.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <functional>
#include <utility>

namespace execcred::test {
namespace {

#ifdef EXECCRED_FAULTS

struct Fault {
  std::string call;
  std::vector<int> errors;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {{"poll", {ENOMEM, EINTR, EINVAL}},
                                             {"socket", {EMFILE, ENFILE, ENOBUFS, ENOMEM, EACCES}},
                                             {"connect", {ENOMEM, EAGAIN, EPERM, ENOBUFS}},
                                             {"getsockopt", {ENOMEM, ENOBUFS}},
                                             {"recv", {ENOMEM, EINTR, EAGAIN, EIO}},
                                             {"send", {ENOMEM, ENOBUFS, EINTR, EAGAIN}},
                                             {"getrandom", {EAGAIN, EINTR, ENOSYS}},
                                             {"getentropy", {EIO, ENOSYS}}};
  return kFaults;
}

struct Scene {
  const Federation& fed;
  Ask ask;
  std::function<bool(const Outcome&)> is_right;
};

// False if the run ended before the call was made.
bool strike(const Scene& scene, const std::string& call, int error, int number) {
  const std::string mark = scene.fed.sandbox.at("mark");
  std::filesystem::remove(mark);
  scene.fed.clear_cache();
  Ask ask = scene.ask;
  ask.variables = ask.variables + Texts{"LD_PRELOAD=" EXECCRED_FAULTS,
                                        "FAULT=" + call + ":" + std::to_string(error) + ":" +
                                            std::to_string(number) + ":" + mark};
  const Outcome outcome = scene.fed.run(ask);
  CAPTURE(call);
  CAPTURE(error);
  CAPTURE(number);
  CAPTURE(blackbox::describe(outcome));
  if (!std::filesystem::exists(mark)) {
    CHECK(scene.is_right(outcome));
    return false;
  }
  CHECK(outcome.elapsed < blackbox::kEventually);
  if (outcome.exit_code == 0) {
    CHECK_SUCCESS(outcome);
    CHECK(scene.is_right(outcome));
    return true;
  }
  CHECK((outcome.exit_code == 3 || outcome.exit_code == 70));
  CHECK_FAILURE(outcome, outcome.exit_code, "for a reason on this machine");
  if (outcome.exit_code == 3) CHECK(blackbox::says(outcome, "for a reason on this machine"));
  CHECK(cache_files(scene.fed.cache_path, ".failure").empty());
  CHECK(scene.is_right(scene.fed.run(scene.ask)));
  return true;
}

void sweep(const Scene& scene) {
  int struck = 0;
  for (const Fault& fault : faults()) {
    int of_call = 0;
    for (const int error : fault.errors) {
      for (int number = 1; strike(scene, fault.call, error, number); ++number) ++of_call;
    }
    MESSAGE(fault.call << " failed in " << of_call << " places");
    struck += of_call;
  }
  CHECK(struck > 50);
}

#endif

}  // namespace

#ifdef EXECCRED_FAULTS

TEST_CASE("a call to the system fails: a token exchange" * doctest::description("promise 9")) {
  Federation fed;
  fed.idp.answer(token_reply("the-token"));
  sweep({.fed = fed,
         .ask = {.arguments = {"--timeout=10s"}},
         .is_right = [](const Outcome& outcome) { return token_of(outcome) == "the-token"; }});
}

TEST_CASE("a call to the system fails: a TokenRequest to the hub" *
          doctest::description("promise 9")) {
  Federation fed;
  ScriptedServer hub;
  const std::string made = new_subject();
  hub.on("/api/v1/namespaces/fleet/serviceaccounts/spoke-1/token",
         reply(201, R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
                    R"("status":{"token":")" +
                        made + R"(","expirationTimestamp":"2036-01-01T00:00:00Z"}})"));
  const std::string kubeconfig = fed.sandbox.write(
      "hub.kubeconfig",
      "clusters: [{name: h, cluster: {server: '" + hub.url() + "', certificate-authority-data: " +
          blackbox::base64(hub.ca_pem()) + "}}]\nusers: [{name: u, user: {token: " + new_secret() +
          "}}]\ncontexts: [{name: c, context: {cluster: h, user: u}}]\ncurrent-context: c\n",
      0600);
  sweep({.fed = fed,
         .ask = {.flow = "pass-through",
                 .arguments = {"--subject=kubernetes", "--kubeconfig=" + kubeconfig,
                               "--service-account=fleet/spoke-1", "--subject-audience=server",
                               "--timeout=10s"},
                 .has_subject = false},
         .is_right = [&made](const Outcome& outcome) { return token_of(outcome) == made; }});
}

TEST_CASE("an allocation fails, also in OpenSSL: one error, which is not remembered") {
  if (blackbox::kWithCoverage) {
    MESSAGE("skipped: writing the program's counters needs memory too");
    return;
  }
  Federation fed;
  fed.idp.answer(token_reply("the-token"));
  const std::string mark = fed.sandbox.at("mark");
  const Ask plain = {.arguments = {"--timeout=10s"}};
  int struck = 0;
  // A run makes about 11,000; scripts/faults lets each of them fail.
  for (int number = 101; number < 1000000; number += 97) {
    CAPTURE(number);
    Ask faulty = plain;
    faulty.variables = {"LD_PRELOAD=" EXECCRED_FAULTS,
                        "FAULT=malloc:12:" + std::to_string(number) + ":" + mark};
    std::filesystem::remove(mark);
    const Outcome outcome = fed.run_cold(faulty);
    if (!std::filesystem::exists(mark)) break;
    ++struck;
    if (outcome.exit_code != 0) {
      CHECK((outcome.exit_code == 3 || outcome.exit_code == 70));
      CHECK_FAILURE(outcome, outcome.exit_code, "execcred-oidc-federation: error: ");
      CHECK((blackbox::says(outcome, "error: out of memory") ||
             blackbox::says(outcome, "error: cannot start libcurl") ||
             blackbox::says(outcome, "for a reason on this machine")));
      CHECK(cache_files(fed.cache_path, ".failure").empty());
    }
    CHECK(token_of(fed.run(plain)) == "the-token");
  }
  CHECK(struck > 10);
}

TEST_CASE("a file that comes a byte at a time is read to its end") {
  Federation fed;
  fed.idp.answer(token_reply("the-token"));
  const Outcome outcome = fed.run_cold(
      {.arguments = {"--timeout=10s"},
       .variables = {"LD_PRELOAD=" EXECCRED_FAULTS, "FAULT=read:-1:0:" + fed.sandbox.at("mark")}});
  CHECK(token_of(outcome) == "the-token");
  CHECK(std::filesystem::exists(fed.sandbox.at("mark")));
}

TEST_CASE("a call to the system fails for good: the error names the cause on this machine" *
          doctest::description("promise 9")) {
  Federation fed;
  Ask ask = {.arguments = {"--timeout=10s"}};
  const auto with = [&](const std::string& fault) {
    Ask faulty = ask;
    faulty.variables = {"LD_PRELOAD=" EXECCRED_FAULTS,
                        "FAULT=" + fault + ":" + fed.sandbox.at("mark")};
    return fed.run_cold(faulty);
  };
  const Outcome talking = with("recv:" + std::to_string(ENOMEM) + ":0");
  CHECK_FAILURE(talking, 3, "for a reason on this machine: Cannot allocate memory");
  CHECK(blackbox::says(talking, "cannot talk to " + fed.idp.url() +
                                    ", for a reason on this machine: Cannot allocate memory"));
  const Outcome connecting = with("socket:" + std::to_string(EMFILE) + ":0");
  CHECK_FAILURE(connecting, 3, "for a reason on this machine: Too many open files");
  CHECK(blackbox::says(connecting, "cannot connect to " + fed.idp.url() +
                                       ", for a reason on this machine: Too many open files"));
}

#else

TEST_CASE("a call to the system fails") {
  MESSAGE("skipped: nothing can be preloaded into a program that is sanitized");
}

#endif

}  // namespace execcred::test
