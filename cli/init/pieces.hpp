// SPDX-License-Identifier: Apache-2.0
// The consumer's own manifests, as config/consumers has them, for a fleet.
#pragma once

#include "fleet_needs.hpp"

#include <execcred/json/json.hpp>

#include <string>
#include <vector>

namespace execcred::init {

struct Piece {
  std::string file = {};  // its name
  std::string text = {};
};

// The ConfigMap with the mapping, in the form that the consumer reads, and its Pods with the
// plugins in `directory`.
std::vector<Piece> pieces_of(const FleetNeeds& fleet, const json::Value& mapping,
                             const std::string& directory);

}  // namespace execcred::init
