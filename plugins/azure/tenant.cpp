// SPDX-License-Identifier: Apache-2.0
#include "tenant.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>

#include <algorithm>
#include <utility>

namespace execcred::azure {
namespace {

// The tenant of the variable AZURE_TENANT_ID; empty if it is not set.
Result<std::string> tenant_of_variable(const Environment& environment) {
  const auto text = environment.get(kTenantVariable);
  if (!text) return std::string();
  return parse_tenant(std::string(*text))
      .context("reading the variable " + std::string(kTenantVariable));
}

bool is_same(const std::string& one, const std::string& other) {
  return ascii_lower(one) == ascii_lower(other);
}

Error refused(const Options& options, const std::string& tenant, const std::string& own) {
  const std::string which = "the ClusterProfile's tenant " + in_quotes(tenant);
  if (options.allow_tenants.empty()) {
    return Error::without_permission(
        own.empty() ? which + " is not allowed" : which + " is another than " + in_quotes(own),
        "the mapping decides where the token may go: --allow-tenant=" + printable(tenant) +
            " in its args");
  }
  return Error::by_rule(cause::kConfigRefused, which + " matches no --allow-tenant",
                        "allowed: " + join(options.allow_tenants, ", "));
}

}  // namespace

Result<std::string> chosen_tenant(const Options& options, const Setting& setting,
                                  const ExecInfo& info, const Environment& environment) {
  std::string own = options.tenant_id;
  std::string profiles;
  if (setting.is_from_profile()) {
    std::swap(own, profiles);
    own =
        setting.replaced.empty() ? TRY(tenant_of_variable(environment)) : setting.replaced.front();
  }
  if (profiles.empty() && own.empty()) {
    Error error = {.kind = Error::Kind::configuration,
                   .message = "no tenant is set",
                   .hint = "pass --tenant-id=ID, or set AZURE_TENANT_ID"};
    if (options.allow_tenants.empty()) {
      error.hint += "; a ClusterProfile's tenantId needs --allow-tenant=ID";
      return error;
    }
    return info.cluster ? error : lacks_cluster_info(std::move(error));
  }
  if (profiles.empty() || is_same(profiles, own)) return own;
  const bool is_allowed =
      std::any_of(options.allow_tenants.begin(), options.allow_tenants.end(),
                  [&](const std::string& allowed) { return is_same(allowed, profiles); });
  if (!is_allowed) return refused(options, profiles, own);
  return profiles;
}

}  // namespace execcred::azure
