// SPDX-License-Identifier: Apache-2.0
// Hundreds of processes at once on one key, with a provider that works, and one that does not.
#include "federation.hpp"
#include "support/processes.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace execcred::test {
namespace {

constexpr int kCount = 200;

struct Storm {
  std::vector<int> codes;
  std::set<std::string> tokens;
  std::chrono::milliseconds elapsed{0};
};

// Releases them at once; each writes to a file of its own.
Storm let_loose(const Federation& fed, const Ask& ask) {
  blackbox::Command command = fed.command(ask);
  std::vector<char*> arguments;
  std::vector<char*> environment;
  for (std::string& text : command.arguments) arguments.push_back(text.data());
  for (std::string& text : command.environment) environment.push_back(text.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  Texts outputs;
  for (int i = 0; i < kCount; ++i) outputs.push_back(fed.sandbox.at("out-" + std::to_string(i)));
  const auto start = std::chrono::steady_clock::now();
  Storm storm;
  storm.codes = run_at_once(kCount, [&](int number) {
    blackbox::open_descriptor(STDOUT_FILENO, outputs[static_cast<std::size_t>(number)].c_str(),
                              O_WRONLY | O_CREAT | O_TRUNC);
    blackbox::open_descriptor(STDERR_FILENO, "/dev/null", O_WRONLY);
    execve(arguments[0], arguments.data(), environment.data());
    return 126;
  });
  storm.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  for (const std::string& output : outputs) {
    const std::string token = blackbox::read_answer(blackbox::read_text(output)).token;
    if (!token.empty()) storm.tokens.insert(token);
  }
  return storm;
}

long count_of(const Storm& storm, int code) {
  return std::count(storm.codes.begin(), storm.codes.end(), code);
}

}  // namespace

TEST_CASE("storm: 200 processes at once on a cold key make one call, and share its token") {
  Federation fed;
  const Storm storm = let_loose(fed, {.arguments = {"--timeout=30s"}});
  MESSAGE(kCount << " processes in " << storm.elapsed.count() << " ms: " << fed.idp.calls()
                 << " call");
  CHECK(count_of(storm, 0) == kCount);
  CHECK(storm.tokens.size() == 1);
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("storm: a provider that refuses is asked once, and all are told") {
  Federation fed;
  fed.idp.answer(R"({"error":"invalid_grant"})", 400);
  const Storm storm = let_loose(fed, {.arguments = {"--timeout=30s"}});
  CHECK(count_of(storm, 1) == kCount);
  // One in each window of ten seconds.
  const auto windows = static_cast<std::size_t>(1 + storm.elapsed.count() / 10'000);
  MESSAGE(kCount << " processes in " << storm.elapsed.count() << " ms: " << fed.idp.calls()
                 << " call");
  CHECK(fed.idp.calls() >= 1);
  CHECK(fed.idp.calls() <= windows);
}

TEST_CASE("storm: a provider that is down is asked once in each of its windows") {
  Federation fed;
  fed.idp.answer("{}", 503);
  const Storm storm = let_loose(fed, {.arguments = {"--timeout=20s"}});
  CHECK(count_of(storm, 3) == kCount);
  // 2 s, then 4 s, and so on.
  std::size_t windows = 1;
  for (std::int64_t end = 2000, length = 2000; end < storm.elapsed.count(); end += length) {
    ++windows;
    length *= 2;
  }
  MESSAGE(kCount << " processes in " << storm.elapsed.count() << " ms: " << fed.idp.calls()
                 << " calls in " << windows << " windows");
  CHECK(fed.idp.calls() >= 1);
  CHECK(fed.idp.calls() <= windows);
}

}  // namespace execcred::test
