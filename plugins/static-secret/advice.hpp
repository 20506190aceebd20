// SPDX-License-Identifier: Apache-2.0
// What can be said about a configuration of execcred-static-secret before a run.
#pragma once

#include "options.hpp"

#include <execcred/exec/provider.hpp>

#include <vector>

namespace execcred::static_secret {

// Adds problems that the plugin would otherwise find only in a run for a cluster.
void advise(const Options& options, std::vector<Finding>& findings);
// The implementation of Provider::bind.
Binding binding_of_stored(const Options& options, const Settings& settings);

}  // namespace execcred::static_secret
