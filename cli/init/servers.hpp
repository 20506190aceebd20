// SPDX-License-Identifier: Apache-2.0
// The patterns of --allow-server for the servers of a fleet.
#pragma once

#include <execcred/base/url.hpp>

#include <string>
#include <vector>

namespace execcred::init {

// As few patterns as are justified. Several names with one port and no path become *.DOMAIN, for
// their longest common domain of at least two labels, unless strangers may have names there. All
// others are listed as they are.
std::vector<std::string> server_patterns(const std::vector<Url>& servers);

}  // namespace execcred::init
