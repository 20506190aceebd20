// SPDX-License-Identifier: Apache-2.0
// The options of execcred-google.
#pragma once

#include <execcred/credential_cache.hpp>
#include <execcred/option_set.hpp>
#include <execcred/settings.hpp>
#include <execcred/url_pattern.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace execcred::google {

inline constexpr const char* kProviderOption = "workload-identity-provider";

// Service accounts: who is acted as is the last, and those before it delegate.
struct AccountChain {
  std::vector<std::string> accounts = {};
};

struct Options {
  std::filesystem::path credentials_file = {};
  AccountChain impersonate = {};
  std::vector<std::string> scopes = {};  // empty: the file's own, or those of GKE
  // projects/…/workloadIdentityPools/…/providers/…, instead of the credentials file's audience.
  std::string workload_identity_provider = {};
  std::filesystem::path ca_file = {};
  std::vector<UrlPattern> allow_endpoint = {};
  CacheOptions cache = {};
};

void add_options(OptionSet& set, Options& options);

// An account by its e-mail address or number, as it may stand in a path.
bool is_service_account(std::string_view text);

// projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER. Fails
// (configuration).
Status check_provider_name(std::string_view text);

}  // namespace execcred::google
