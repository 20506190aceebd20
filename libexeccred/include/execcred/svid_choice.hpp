// SPDX-License-Identifier: Apache-2.0
// Which of several SVIDs: an agent has one for each entry that fits the process, in an order that
// means nothing.
#pragma once

#include <execcred/result.hpp>

#include <cstddef>
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

// The place of the chosen one among the candidates, of which there is at least one. Where several
// have the chosen hint, the first (SPIFFE Workload API standard, section 5.2.1). Fails
// (no_credential): none fits, several do and nothing chooses among them, another trust domain.
// Messages list the candidates.
Result<std::size_t> choose_svid(const std::vector<SvidCandidate>& candidates,
                                const SvidChoice& choice);

}  // namespace execcred
