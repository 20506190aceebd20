// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <execcred/base/result.hpp>
#include <execcred/base/try.hpp>

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
  const int first = TRY(positive(a).context("reading the first"));
  const int second = TRY(positive(b).context("reading the second").hint("add one"));
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

TEST_CASE("Result: a move-only value can be moved out") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  CHECK(**result == 5);
  const std::unique_ptr<int> taken = std::move(result).value();
  CHECK(*taken == 5);
}

TEST_CASE("context: is listed innermost first, and a success has none") {
  const Result<int> bad = positive(0).context("inner").context("outer");
  CHECK(bad.error().context == std::vector<std::string>{"inner", "outer"});
  const Result<int> good = positive(1).context("inner").hint("remedy");
  CHECK(*good == 1);
  const Status status = check(0).context("inner").context("outer");
  CHECK(status.error().context == std::vector<std::string>{"inner", "outer"});
  CHECK(check(1).context("inner").has_value());
}

TEST_CASE("hint: the one nearest to the cause is kept") {
  CHECK(positive(0).hint("near").hint("far").error().hint == "near");
  CHECK(check(0).hint("near").hint("far").error().hint == "near");
}

TEST_CASE("TRY: continues with the value, or returns the error unchanged") {
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

// No braces, on purpose: a macro of two statements would return at once, or not compile.
Result<int> first_if_asked(bool is_asked, int value) {
  int result = -1;
  if (is_asked) result = TRY(positive(value));
  if (is_asked)
    TRY(check(value));
  else
    result = -2;
  return result;
}

TEST_CASE("TRY is one statement under an if without braces") {
  CHECK(*first_if_asked(true, 7) == 7);
  CHECK(*first_if_asked(false, 0) == -2);
  CHECK_FALSE(first_if_asked(true, 0));
}

TEST_CASE("TRY moves the value out of the result") {
  const auto made = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(3); };
  const auto taken = [&]() -> Result<std::unique_ptr<int>> {
    std::unique_ptr<int> value = TRY(made());
    return value;
  };
  CHECK(**taken() == 3);
}

}  // namespace
}  // namespace execcred
