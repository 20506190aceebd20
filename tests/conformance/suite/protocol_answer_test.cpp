// SPDX-License-Identifier: Apache-2.0
// Properties of an answer that clients do not need, but readers of logs and expiries do.
#include "client.hpp"
#include "rules.hpp"

#include <doctest/doctest.h>

using namespace blackbox;

TEST_SUITE_BEGIN(kProtocolSuite);

TEST_CASE("the answer is one compact line of ASCII that ends in a newline, without other members") {
  const Answer answer = read_any_answer(run(plugin_command_with(client_info(kV1))).output);
  CHECK_RULE(answer.problem.empty(), "the answer " + answer.problem);
  CHECK_RULE(answer.form_problem.empty(), "the answer " + answer.form_problem);
}

TEST_CASE("the answer says when the credential ends") {
  const Answer answer = read_any_answer(run(plugin_command_with(client_info(kV1))).output);
  CHECK_RULE(answer.problem.empty(), "the answer " + answer.problem);
  CHECK_RULE(answer.expiration >= 0, "expirationTimestamp is missing or malformed");
  CHECK_RULE(answer.expiration > seconds_since_epoch() - 1, "the credential has expired");
}

TEST_CASE("a success writes nothing on standard error") {
  const Outcome outcome = run(plugin_command_with(client_info(kV1)));
  CHECK_RULE(outcome.exit_code == 0, "it did not succeed");
  CHECK_RULE(outcome.error_output.empty(), "it wrote to stderr");
}

TEST_SUITE_END();
