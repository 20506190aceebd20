// SPDX-License-Identifier: Apache-2.0
#include "platform.hpp"

#include "catalogue.hpp"

#include <algorithm>

namespace execcred::cli {
namespace {

struct Managed {
  Platform platform = Platform::other;
  std::string_view domain = {};
};

Managed managed_by(const Url& server) {
  if (server.host.kind != Host::Kind::name) return {};
  for (const KnownPlatform& known : catalogue().platforms) {
    for (const std::string& domain : known.domains) {
      if (!is_below(server.host.name, domain)) continue;
      return {.platform = known.name == "eks"   ? Platform::eks
                          : known.name == "aks" ? Platform::aks
                                                : Platform::gke_dns,
              .domain = domain};
    }
  }
  return {};
}

}  // namespace

bool is_below(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

Platform platform_of(const Url& server) {
  constexpr std::string_view kGateway = "connectgateway.googleapis.com";
  const std::string& host = server.host.name;
  if (host == kGateway || host.ends_with("-" + std::string(kGateway))) return Platform::gke_gateway;
  return managed_by(server).platform;
}

std::string region_of(const Url& server) {
  const Managed managed = managed_by(server);
  const std::string_view host = server.host.name;
  if (managed.platform != Platform::eks || host == managed.domain) return {};
  const std::string_view rest = host.substr(0, host.size() - managed.domain.size() - 1);
  return std::string(rest.substr(rest.rfind('.') + 1));
}

bool is_shared_domain(std::string_view domain) {
  const auto is_one_of = [domain](const std::vector<std::string>& shared) {
    return std::any_of(shared.begin(), shared.end(), [domain](const std::string& one) {
      return is_below(domain, one) || is_below(one, domain);
    });
  };
  const std::vector<KnownPlatform>& platforms = catalogue().platforms;
  return is_one_of(catalogue().customer_domains) ||
         std::any_of(platforms.begin(), platforms.end(),
                     [&](const KnownPlatform& known) { return is_one_of(known.domains); });
}

}  // namespace execcred::cli
