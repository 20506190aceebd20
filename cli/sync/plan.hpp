// SPDX-License-Identifier: Apache-2.0
// What a run would do, for --dry-run.
#pragma once

#include "ledger.hpp"
#include "target.hpp"

#include <string>
#include <vector>

namespace execcred::sync {

// A line for each target that would be created, renewed, removed or skipped; in JSON, an object
// with `action`, `place` and `why`.
std::string plan_of(const Ledger& ledger, const std::vector<Target*>& targets, TimePoint now,
                    bool is_json);

}  // namespace execcred::sync
