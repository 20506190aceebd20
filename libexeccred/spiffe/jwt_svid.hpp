// SPDX-License-Identifier: Apache-2.0
// JWT-SVIDs (SPIFFE JWT-SVID standard), from the agent and checked.
//
// The signature is not verified: the agent is trusted by its socket, and the API server has the
// keys. These checks reveal a misconfigured agent or entry before the API server's 401.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/spiffe/svid_choice.hpp>
#include <execcred/spiffe/workload_api.hpp>

#include <string>
#include <vector>

namespace execcred {

struct JwtSvid {
  SecretString token = {};
  std::string spiffe_id = {};
  TimePoint expires_at = {};
};

// Compact form, an algorithm of RS, ES or PS with 256, 384 or 512, typ absent or JWT or JOSE, a
// SPIFFE ID as sub, equal to the message's, every one of `audiences` in aud, an exp in the future,
// an nbf at most 60 s ahead. Fails (no_credential).
Result<JwtSvid> check_jwt_svid(JwtSvidMessage message, const std::vector<std::string>& audiences,
                               TimePoint now);

// Asks the agent, chooses and checks. Fails as these do.
Result<JwtSvid> fetch_jwt_svid(const WorkloadApi& api, const std::vector<std::string>& audiences,
                               const SvidChoice& choice, const Clock& clock);

}  // namespace execcred
