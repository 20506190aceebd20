// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/result.hpp>

#include <memory>

namespace execcred {
namespace {

Result<int> positive(int value) {
  if (value > 0) return value;
  return Error{.kind = Error::Kind::no_credential, .message = "not positive"};
}

Status check(int value) {
  TRY(positive(value));
  return {};
}

Result<int> sum(int a, int b) {
  TRY_ASSIGN(const int first, positive(a).context("reading the first"));
  TRY_ASSIGN(const int second, positive(b).context("reading the second").hint("add one"));
  return first + second;
}

TEST_CASE("Result: holds a value or an error") {
  const Result<int> good = positive(7);
  REQUIRE(good);
  CHECK(good.has_value());
  CHECK(*good == 7);
  const Result<int> bad = positive(0);
  REQUIRE_FALSE(bad);
  CHECK_FALSE(bad.has_value());
  CHECK(bad.error().message == "not positive");
  CHECK(bad.error().kind == Error::Kind::no_credential);
}

TEST_CASE("Result: gives up a value that can only be moved") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  CHECK(**result == 5);
  const std::unique_ptr<int> taken = std::move(result).value();
  CHECK(*taken == 5);
}

TEST_CASE("context: is told innermost first, and a success has none") {
  const Result<int> bad = positive(0).context("inner").context("outer");
  CHECK(bad.error().context == std::vector<std::string>{"inner", "outer"});
  const Result<int> good = positive(1).context("inner").hint("remedy");
  CHECK(*good == 1);
  const Status status = check(0).context("inner").context("outer");
  CHECK(status.error().context == std::vector<std::string>{"inner", "outer"});
  CHECK(check(1).context("inner").has_value());
}

TEST_CASE("hint: the one nearest to the cause stays") {
  CHECK(positive(0).hint("near").hint("far").error().hint == "near");
  CHECK(check(0).hint("near").hint("far").error().hint == "near");
}

TEST_CASE("TRY and TRY_ASSIGN: go on with the value, or return the error as it is") {
  CHECK(*sum(1, 2) == 3);
  const Result<int> first = sum(0, 0);
  REQUIRE_FALSE(first);
  CHECK(first.error().context == std::vector<std::string>{"reading the first"});
  CHECK(first.error().hint.empty());
  const Result<int> second = sum(1, 0);
  REQUIRE_FALSE(second);
  CHECK(second.error().context == std::vector<std::string>{"reading the second"});
  CHECK(second.error().hint == "add one");
  CHECK(second.error().kind == Error::Kind::no_credential);
  CHECK(check(1));
  CHECK(check(0).error().message == "not positive");
}

}  // namespace
}  // namespace execcred
