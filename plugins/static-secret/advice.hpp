// SPDX-License-Identifier: Apache-2.0
// Findings about a configuration of execcred-static-secret before a run.
#pragma once

#include <execcred/exec/provider.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::static_secret {

// The implementations of Provider::advise, own_binding and needs_of_cluster.
std::vector<Advice> advise(const GivenOptions& given);
Binding binding_of_stored(const GivenOptions& given);
std::vector<std::string> needs_of_cluster(const GivenOptions& given);

}  // namespace execcred::static_secret
