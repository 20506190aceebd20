// SPDX-License-Identifier: Apache-2.0
// Hundreds of processes at once with one key, while the provider works, refuses, or is down.
#include "federation.hpp"
#include "support/plugin_storm.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

constexpr int kCount = 200;

}  // namespace

TEST_CASE("storm: 200 processes at once with an empty cache make one call, and share its token") {
  Federation fed;
  const Storm storm = let_loose(kCount, fed.command({.arguments = {"--timeout=30s"}}), fed.sandbox);
  MESSAGE(kCount << " processes in " << storm.elapsed.count() << " ms: " << fed.idp.calls()
                 << " call");
  CHECK(storm.count_of(0) == kCount);
  CHECK(storm.credentials.size() == 1);
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("storm: a provider that refuses is called once, and all processes report its error") {
  Federation fed;
  fed.idp.answer(R"({"error":"invalid_grant"})", 400);
  const Storm storm = let_loose(kCount, fed.command({.arguments = {"--timeout=30s"}}), fed.sandbox);
  CHECK(storm.count_of(1) == kCount);
  // One in each window of ten seconds.
  const auto windows = static_cast<std::size_t>(1 + storm.elapsed.count() / 10'000);
  MESSAGE(kCount << " processes in " << storm.elapsed.count() << " ms: " << fed.idp.calls()
                 << " call");
  CHECK(fed.idp.calls() >= 1);
  CHECK(fed.idp.calls() <= windows);
}

TEST_CASE("storm: a provider that is down is called at most once in each of its retry windows") {
  Federation fed;
  fed.idp.answer("{}", 503);
  const Storm storm = let_loose(kCount, fed.command({.arguments = {"--timeout=20s"}}), fed.sandbox);
  CHECK(storm.count_of(3) == kCount);
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
