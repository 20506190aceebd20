// SPDX-License-Identifier: Apache-2.0
// Chooses one of several SVIDs: an agent has one for each entry that matches the process, in no
// particular order.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/x509/certificate.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace execcred {

struct SvidChoice {
  std::string spiffe_id = {};     // empty: any
  std::string hint = {};          // empty: any
  std::string trust_domain = {};  // empty: any; no choice but a condition
};

struct SvidCandidate {
  std::string spiffe_id = {};
  std::string hint = {};
};

// The user of the candidate at this index; none if its certificate cannot be read.
using CertifiedUserOf = std::function<std::optional<CertifiedUser>(std::size_t)>;

// The index of the chosen candidate; there must be at least one candidate. If the choice of a
// SPIFFE ID or hint leaves several, it is the first of them (SPIFFE Workload API standard, section
// 5.2.1). But certificates of one SPIFFE ID may be of different users, and the agent's order must
// not choose the user: with `user_of`, the candidates that are left must all have the same SPIFFE
// ID and the same user.
//
// Fails (no_credential) if none matches, if several match and the choice does not distinguish them,
// or if the chosen one is of another trust domain. Messages list the candidates.
Result<std::size_t> choose_svid(const std::vector<SvidCandidate>& candidates,
                                const SvidChoice& choice, const CertifiedUserOf& user_of = {});

}  // namespace execcred
