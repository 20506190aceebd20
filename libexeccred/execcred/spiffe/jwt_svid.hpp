// SPDX-License-Identifier: Apache-2.0
// Fetches JWT-SVIDs (SPIFFE JWT-SVID standard) from the agent, and checks them.
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

// Checks an SVID: it has the compact form; its algorithm is RS, ES or PS with 256, 384 or 512;
// `typ` is absent, JWT or JOSE; `sub` is a SPIFFE ID, and that of the message; `aud` contains each
// of `audiences`; `exp` is in the future, and `nbf` at most 60 s ahead. Fails (no_credential) if it
// does not.
Result<JwtSvid> check_jwt_svid(JwtSvidMessage message, const std::vector<std::string>& audiences,
                               TimePoint now);

// Asks the agent for SVIDs, chooses one, and checks it. Fails as WorkloadApi, choose_svid() and
// check_jwt_svid() do.
Result<JwtSvid> fetch_jwt_svid(const WorkloadApi& api, const std::vector<std::string>& audiences,
                               const SvidChoice& choice, const Clock& clock);

}  // namespace execcred
