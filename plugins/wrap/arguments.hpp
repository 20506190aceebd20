// SPDX-License-Identifier: Apache-2.0
// The program's arguments, which may be templates: {clusterName}, {server.host} and {config.FIELD}.
//
// A value fills a part of one argument. It never becomes the program, an option's name or another
// argument.
#pragma once

#include "options.hpp"

#include <execcred/exec/provider.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::wrap {

// Checks the templates without a cluster. Fails (configuration).
Status check_arguments(const Options& options);

// The arguments for the cluster of this request. Fails with configuration (a value is missing or is
// no text) or no_credential (a value is not allowed).
Result<std::vector<std::string>> expand_arguments(const Options& options,
                                                  const CredentialRequest& request);

// Whether an argument has a placeholder whose name begins with `start`.
bool has_placeholder(const std::vector<std::string>& arguments, std::string_view start = {});

}  // namespace execcred::wrap
