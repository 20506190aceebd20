// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/cause.hpp>

#include <algorithm>
#include <array>

namespace execcred {
namespace {

constexpr std::array kCauses = {cause::kProfileInvalid,
                                cause::kProfileUnhealthy,
                                cause::kNoProvider,
                                cause::kProviderUnknown,
                                cause::kMappingInvalid,
                                cause::kMappingUnsafe,
                                cause::kProgramMissing,
                                cause::kProgramNotExecutable,
                                cause::kProgramWrongArchitecture,
                                cause::kProgramCrashed,
                                cause::kProgramTimeout,
                                cause::kProgramOutputInvalid,
                                cause::kProgramFailed,
                                cause::kConfigRefused,
                                cause::kClusterInfoMissing,
                                cause::kServerNotAllowed,
                                cause::kInteractionNeeded,
                                cause::kSourceMissing,
                                cause::kSourceForbidden,
                                cause::kSourceExpired,
                                cause::kSourceUnavailable,
                                cause::kSourceRefused,
                                cause::kCredentialExpired,
                                cause::kCredentialNotYetValid,
                                cause::kCredentialWrongAudience,
                                cause::kCredentialWrongIssuer,
                                cause::kCredentialKeyMismatch,
                                cause::kCertificateExpired,
                                cause::kCredentialExpiresSoon,
                                cause::kNameUnknown,
                                cause::kConnectRefused,
                                cause::kConnectTimeout,
                                cause::kConnectFailed,
                                cause::kProxyFailed,
                                cause::kProxyRefused,
                                cause::kTlsWrongCa,
                                cause::kTlsWrongName,
                                cause::kTlsExpired,
                                cause::kTlsNoHttps,
                                cause::kTlsProtocol,
                                cause::kTlsInsecure,
                                cause::kTlsFailed,
                                cause::kCaExpiresSoon,
                                cause::kClockSkew,
                                cause::kNotAKubernetesApi,
                                cause::kUnauthorizedUnknownIssuer,
                                cause::kUnauthorizedAudience,
                                cause::kUnauthorizedExpired,
                                cause::kUnauthorizedUnknownCa,
                                cause::kUnauthorizedRevoked,
                                cause::kUnauthorizedOther,
                                cause::kAnonymous,
                                cause::kForbidden,
                                cause::kServerError,
                                cause::kServerThrottled};

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
