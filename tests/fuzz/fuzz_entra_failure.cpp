// SPDX-License-Identifier: Apache-2.0
// A refusal of Entra; the input is "STATUS BODY". The error is one line without the sent assertion.
#include "fuzz.hpp"

#include <execcred/base/known_secrets.hpp>
#include <execcred/base/text.hpp>

#include <azure/entra_failure.hpp>

#include <algorithm>
#include <string>

namespace execcred::fuzz {

void check(std::string_view input) {
  constexpr std::string_view kSent = "assertion-that-was-sent";
  const std::vector<std::string_view> halves = parts(input, " ", 2);
  const int status = 100 + static_cast<int>((number_from(halves[0]) & INT64_MAX) % 500);
  KnownSecrets secrets;
  secrets.add(SecretString(kSent));
  auto failure = azure::entra_failure({.status = status, .body = SecretString(halves[1])},
                                      "https://login.example:443");
  require(failure.has_value() || status == 200, "what is no 200 is a failure");
  const std::string_view code = azure::aadsts_code(halves[1]);
  require(std::all_of(code.begin(), code.end(), is_digit), "digits");
  if (!failure) return;
  failure = secrets.redacted(*std::move(failure));
  require(failure->is_transient == (failure->kind == Error::Kind::unavailable),
          "what is unavailable may pass");
  require(failure->is_transient || failure->kind == Error::Kind::no_credential,
          "the other side is at fault");
  require(failure->message.size() < 2500, "a short message");
  require(printable(failure->message) == failure->message, "one line of visible text");
  require(failure->message.find(kSent.substr(0, 12)) == std::string::npos,
          "nothing of what was sent");
}

}  // namespace execcred::fuzz
