// SPDX-License-Identifier: Apache-2.0
// The options of execcred-azure.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/profile_choice.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace execcred::azure {

// Variables that AKS's webhook sets and that every Azure client reads.
inline constexpr const char* kTokenFileVariable = "AZURE_FEDERATED_TOKEN_FILE";
inline constexpr const char* kTenantVariable = "AZURE_TENANT_ID";
inline constexpr const char* kClientVariable = "AZURE_CLIENT_ID";

enum class IdentityKind {
  workload,  // a Kubernetes service account that an Entra application or identity trusts
  managed,   // the machine's or the app's own, behind a metadata endpoint
};

// The application of Azure Kubernetes Service, which is the same in every tenant and every cloud.
inline constexpr const char* kAksServerId = "6dae42f8-4368-4678-94ff-3960e28e3630";

inline constexpr const char* kPublicCloud = "https://login.microsoftonline.com";

struct Options {
  std::optional<IdentityKind> identity = {};
  std::string client_id = {};
  std::vector<ChoicePattern> allow_client_ids = {};
  std::string tenant_id = {};
  std::vector<std::string> allow_tenants = {};
  std::filesystem::path federated_token_file = {};
  std::string authority_host = kPublicCloud;  // an origin: "https://HOST[:PORT]"
  std::filesystem::path ca_file = {};
  std::string server_id = kAksServerId;
  std::string identity_resource_id = {};
  std::string identity_object_id = {};
  CacheOptions cache = {};
};

void add_options(OptionSet& set, Options& options);

// The following parsers read a flag, a variable or a ClusterProfile's field. They fail
// (configuration).
// "00000000-0000-0000-0000-000000000000", in any case.
Result<std::string> parse_guid(const std::string& text);
// A GUID or a domain. The names of a group of tenants ("common") are neither.
Result<std::string> parse_tenant(const std::string& text);
// A host or an https origin, as in AZURE_AUTHORITY_HOST; returns "https://HOST[:PORT]".
Result<std::string> parse_authority(const std::string& text);

}  // namespace execcred::azure
