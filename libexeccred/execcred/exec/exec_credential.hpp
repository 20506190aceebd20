// SPDX-License-Identifier: Apache-2.0
// The two documents of the exec protocol (KEP-541): the client's request and the answer.
//
//   KUBERNETES_EXEC_INFO  {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
//                          "spec":{"cluster":{"server":"https://…",…},"interactive":false}}
//   standard output       {"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
//                          "status":{"expirationTimestamp":"…","token":"…"}}
//
// v1 and v1beta1 differ only in the name. The answer must have the name of the request.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/cluster.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

enum class ApiVersion { v1, v1beta1 };

// "client.authentication.k8s.io/v1".
std::string_view full_name(ApiVersion version);
// Parses the short or the full name. Fails (configuration).
Result<ApiVersion> parse_api_version(std::string_view text);

struct ExecInfo {
  ApiVersion version = ApiVersion::v1;
  bool interactive = false;
  std::optional<Cluster> cluster = std::nullopt;
};

// Accepts what real clients send: kind, apiVersion, spec, cluster, config and interactive may be
// missing or null, kind may be the misspelt ExecCredentials, unknown members are ignored. Fails
// (configuration) with the path of the wrong field.
Result<ExecInfo> parse_exec_info(std::string_view text, ApiVersion version_if_absent);

// The same bytes that client-go sends, the final newline included.
std::string write_exec_info(const ExecInfo& info);

// The expirationTimestamp to claim. It is the credential's own end minus min(30 s, a tenth of what
// remains), but never before `now`; for a credential without an end, now + max_age. If
// `is_bounded`, it is at most now + max_age. Fails (no_credential) for a credential that has ended.
Result<std::chrono::sys_seconds> claimed_expiration(std::optional<TimePoint> ends_at, TimePoint now,
                                                    Duration max_age, bool is_bounded);

// One line, ending in a newline. The credential must have a token, or a certificate with its key.
SecretString write_exec_credential(ApiVersion version, const Credential& credential,
                                   std::optional<std::chrono::sys_seconds> expiration);

// As strict as client-go: requires the version `asked` (nullopt: v1, v1beta1 or v1alpha1), a
// status, a token or a certificate with its key, and a strict RFC 3339 time. A token that is part
// of a JWT is refused too (check_whole). Fails (no_credential).
Result<Credential> parse_exec_credential(std::string_view text, std::optional<ApiVersion> asked);

}  // namespace execcred
