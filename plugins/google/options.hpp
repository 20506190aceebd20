// SPDX-License-Identifier: Apache-2.0
// The options of execcred-google.
#pragma once

#include <execcred/base/url_pattern.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/profile_choice.hpp>
#include <execcred/exec/settings.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::google {

// An executable is run for a subject token only if this variable is "1", as by Google's libraries.
inline constexpr std::string_view kExecutablesVariable =
    "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

inline constexpr const char* kCredentialsOption = "credentials-file";
inline constexpr const char* kProviderOption = "workload-identity-provider";

// Service accounts: the last one is impersonated, and those before it delegate.
struct AccountChain {
  std::vector<std::string> accounts = {};
};

struct Options {
  std::filesystem::path credentials_file = {};
  AccountChain impersonate = {};
  std::vector<ChoicePattern> allow_impersonation = {};
  std::vector<std::string> scopes = {};  // empty: the file's own, or those of GKE
  // projects/…/workloadIdentityPools/…/providers/…, instead of the credentials file's audience.
  std::string workload_identity_provider = {};
  std::filesystem::path ca_file = {};
  std::vector<UrlPattern> allow_endpoint = {};
  CacheOptions cache = {};
};

void add_options(OptionSet& set, Options& options);

// Whether the text is an account's e-mail address or number that may be a part of a path.
bool is_service_account(std::string_view text);

// Checks projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER. Fails
// (configuration).
Status check_provider_name(std::string_view text);

// The audience of such a provider, with which --allow-audience is compared.
std::string audience_of_provider(std::string_view provider, std::string_view universe_domain);

}  // namespace execcred::google
