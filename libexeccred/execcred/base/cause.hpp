// SPDX-License-Identifier: Apache-2.0
// The causes that `execcred doctor` reports for a cluster that does not work. The ids are a
// contract: scripts and alerts compare them (docs/causes.md has a section for each).
//
// A plugin's error has one as Error::cause. It is set only where the cause is certain; otherwise
// cause_of() returns the general id of the error's kind. A wrong cause is worse than a general one.
#pragma once

#include <execcred/base/error.hpp>

#include <optional>
#include <string_view>

namespace execcred {

namespace cause {

// The ClusterProfile and the mapping.
inline constexpr std::string_view kProfileInvalid = "profile-invalid";
inline constexpr std::string_view kProfileUnhealthy = "profile-unhealthy";
inline constexpr std::string_view kNoProvider = "no-provider";
inline constexpr std::string_view kProviderUnknown = "provider-unknown";
inline constexpr std::string_view kMappingInvalid = "mapping-invalid";
inline constexpr std::string_view kMappingUnsafe = "mapping-unsafe";

// The program that returns the credential.
inline constexpr std::string_view kProgramMissing = "program-missing";
inline constexpr std::string_view kProgramNotExecutable = "program-not-executable";
inline constexpr std::string_view kProgramWrongArchitecture = "program-wrong-architecture";
inline constexpr std::string_view kProgramCrashed = "program-crashed";
inline constexpr std::string_view kProgramTimeout = "program-timeout";
inline constexpr std::string_view kProgramOutputInvalid = "program-output-invalid";
inline constexpr std::string_view kProgramFailed = "program-failed";

// Reported by execcred's plugins, about their settings and their source.
inline constexpr std::string_view kConfigRefused = "config-refused";
inline constexpr std::string_view kClusterInfoMissing = "cluster-info-missing";
inline constexpr std::string_view kServerNotAllowed = "server-not-allowed";
inline constexpr std::string_view kInteractionNeeded = "interaction-needed";
inline constexpr std::string_view kSourceMissing = "source-missing";
inline constexpr std::string_view kSourceForbidden = "source-forbidden";
inline constexpr std::string_view kSourceExpired = "source-expired";
inline constexpr std::string_view kSourceUnavailable = "source-unavailable";
inline constexpr std::string_view kSourceRefused = "source-refused";

// The credential that the program returned.
inline constexpr std::string_view kCredentialExpired = "credential-expired";
inline constexpr std::string_view kCredentialNotYetValid = "credential-not-yet-valid";
inline constexpr std::string_view kCredentialWrongAudience = "credential-wrong-audience";
inline constexpr std::string_view kCredentialWrongIssuer = "credential-wrong-issuer";
inline constexpr std::string_view kCredentialKeyMismatch = "credential-key-mismatch";
inline constexpr std::string_view kCertificateExpired = "certificate-expired";
inline constexpr std::string_view kCredentialExpiresSoon = "credential-expires-soon";

// The connection to the server.
inline constexpr std::string_view kNameUnknown = "name-unknown";
inline constexpr std::string_view kConnectRefused = "connect-refused";
inline constexpr std::string_view kConnectTimeout = "connect-timeout";
inline constexpr std::string_view kConnectFailed = "connect-failed";
inline constexpr std::string_view kProxyFailed = "proxy-failed";
inline constexpr std::string_view kProxyRefused = "proxy-refused";
inline constexpr std::string_view kTlsWrongCa = "tls-wrong-ca";
inline constexpr std::string_view kTlsWrongName = "tls-wrong-name";
inline constexpr std::string_view kTlsExpired = "tls-expired";
inline constexpr std::string_view kTlsNoHttps = "tls-no-https";
inline constexpr std::string_view kTlsProtocol = "tls-protocol";
inline constexpr std::string_view kTlsInsecure = "tls-insecure";
inline constexpr std::string_view kTlsFailed = "tls-failed";
inline constexpr std::string_view kCaExpiresSoon = "ca-expires-soon";

// The server's replies.
inline constexpr std::string_view kNotAKubernetesApi = "not-a-kubernetes-api";
inline constexpr std::string_view kClockSkew = "clock-skew";
inline constexpr std::string_view kUnauthorizedUnknownIssuer = "unauthorized-unknown-issuer";
inline constexpr std::string_view kUnauthorizedAudience = "unauthorized-audience";
inline constexpr std::string_view kUnauthorizedExpired = "unauthorized-expired";
inline constexpr std::string_view kUnauthorizedUnknownCa = "unauthorized-unknown-ca";
inline constexpr std::string_view kUnauthorizedRevoked = "unauthorized-revoked";
inline constexpr std::string_view kUnauthorizedOther = "unauthorized-other";
inline constexpr std::string_view kAnonymous = "anonymous";
inline constexpr std::string_view kForbidden = "forbidden";
inline constexpr std::string_view kServerError = "server-error";
inline constexpr std::string_view kServerThrottled = "server-throttled";

}  // namespace cause

// The known id that equals the text, with static storage duration; nullopt for any other text.
std::optional<std::string_view> known_cause(std::string_view text);

// The cause of a plugin's error: its own, or else the general one of its kind.
std::string_view cause_of(const Error& error);

}  // namespace execcred
