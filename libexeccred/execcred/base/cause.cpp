// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/cause.hpp>

#include <algorithm>
#include <array>

namespace execcred {
namespace {

constexpr std::array kCauses = {
#define CAUSE(constant, id) cause::constant,
#include <execcred/base/causes.inc>
#undef CAUSE
};

}  // namespace

std::optional<std::string_view> known_cause(std::string_view text) {
  const auto found = std::find(kCauses.begin(), kCauses.end(), text);
  if (found == kCauses.end()) return std::nullopt;
  return *found;
}

std::string_view cause_of(const Error& error) {
  if (!error.cause.empty()) return error.cause;
  switch (error.kind) {
    case Error::Kind::no_credential:
      return cause::kSourceRefused;
    case Error::Kind::configuration:
      return cause::kConfigRefused;
    case Error::Kind::unavailable:
      // A failure of the plugin's own machine says nothing about the source of the credential.
      return error.is_local ? cause::kProgramFailed : cause::kSourceUnavailable;
    case Error::Kind::internal:
      break;
  }
  return cause::kProgramFailed;
}

}  // namespace execcred
