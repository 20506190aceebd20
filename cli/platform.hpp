// SPDX-License-Identifier: Apache-2.0
// Who runs an API server, as far as the catalogue's domains tell.
#pragma once

#include <execcred/base/url.hpp>

#include <string>
#include <string_view>

namespace execcred::cli {

enum class Platform { other, eks, gke_dns, gke_gateway, aks };
Platform platform_of(const Url& server);

// The region in the name of a server of EKS: https://ABC.gr7.us-west-2.eks.amazonaws.com. Empty for
// others.
std::string region_of(const Url& server);

// Whether strangers may have names in the domain, or in one that is a part of it: it is that of a
// managed API server, or another in which each customer has a name.
bool is_shared_domain(std::string_view domain);

// Whether the host is this domain, or has a name below it.
bool is_below(std::string_view host, std::string_view domain);

}  // namespace execcred::cli
