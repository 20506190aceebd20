// SPDX-License-Identifier: Apache-2.0
#include "application_default.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/oauth/google_metadata.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace execcred::google {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileName = "application_default_credentials.json";

struct Place {
  fs::path path = {};  // empty: there is no file
  std::string named_by = {};
};

bool is_absent(const fs::path& path) {
  return access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

Place find_file(const Options& options, const std::string& named_by,
                const Environment& environment) {
  if (!options.credentials_file.empty()) {
    return {.path = options.credentials_file, .named_by = named_by};
  }
  fs::path folder;
  if (const auto path = environment.get("CLOUDSDK_CONFIG")) {
    folder = *path;
  } else if (const auto home = environment.get("HOME")) {
    folder = fs::path(*home) / ".config" / "gcloud";
  }
  if (folder.empty() || is_absent(folder / kFileName)) return {};
  return {.path = folder / kFileName, .named_by = "gcloud's credentials file"};
}

Status impersonate(const std::vector<std::string>& accounts, const Endpoints& endpoints,
                   GoogleCredentials& credentials) {
  if (accounts.empty()) return {};
  Impersonation impersonation =
      TRY(impersonation_of(accounts.back(), credentials.universe_domain, endpoints));
  if (accounts.size() > 1) {
    impersonation.delegates.emplace();
    for (std::size_t i = 0; i + 1 < accounts.size(); ++i) {
      impersonation.delegates->push_back("projects/-/serviceAccounts/" + accounts[i]);
    }
  }
  credentials.impersonations.push_back(std::move(impersonation));
  return {};
}

Status use_provider(const std::string& provider, GoogleCredentials& credentials) {
  if (provider.empty()) return {};
  if (auto* account = std::get_if<ExternalAccount>(&credentials.source)) {
    account->audience = audience_of_provider(provider, credentials.universe_domain);
    if (account->user_project.empty()) return {};
    return Error::configuration("--" + std::string(kProviderOption) +
                                " has no use with workforce_pool_user_project");
  }
  const std::string type = credentials.type.empty() ? "the metadata server's" : credentials.type;
  return Error::configuration(
      "a workload identity provider has no use with " + type + " credentials",
      "credentials of the type external_account name what is exchanged there");
}

Result<GoogleCredentials> read_credentials(const Place& place, const Endpoints& endpoints,
                                           Inputs& inputs) {
  const SecretString content = TRY(inputs.secret_file("credentials", place.path));
  return parse_google_credentials(content.reveal(), endpoints);
}

}  // namespace

Result<ApplicationDefault> load_application_default(const Options& options,
                                                    const std::string& named_by, Inputs& inputs) {
  const Endpoints endpoints(options.allow_endpoint);
  const Place place = find_file(options, named_by, inputs.environment());
  ApplicationDefault found = {.path = place.path.native()};
  if (place.path.empty()) {
    google_metadata_host(inputs.environment());
    inputs.add_machine();
  } else {
    found.credentials =
        TRY(read_credentials(place, endpoints, inputs)
                .context("reading " + place.named_by + " " + in_quotes(place.path.native())));
  }
  TRY(use_provider(options.workload_identity_provider, found.credentials));
  TRY(impersonate(options.impersonate.accounts, endpoints, found.credentials));
  return found;
}

}  // namespace execcred::google
