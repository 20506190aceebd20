// SPDX-License-Identifier: Apache-2.0
#include "managed_endpoint.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/local_url.hpp>

namespace execcred::azure {
namespace {

constexpr std::string_view kImdsHost = "http://169.254.169.254";
constexpr std::string_view kImdsPath = "/metadata/identity/oauth2/token";

Error unsupported(std::string_view variable, std::string_view platform) {
  return Error::configuration(
      std::string(variable) + " is set: this is " + std::string(platform) +
          ", whose managed identities execcred-azure does not ask for",
      "use --identity=workload; or, to ask the machine's metadata service, let the plugin "
      "run without that variable");
}

Status check_endpoint(std::string_view variable, const std::string& text) {
  TRY(check_local_url(text).context("reading the variable " + std::string(variable)));
  const Url url = TRY(parse_url(text));
  if (url.query.empty()) return {};
  return Error::configuration(std::string(variable) + " has a query");
}

// The order of the checks is that of azure-identity.
Result<ManagedEndpoint> app_service(const Environment& environment, std::string_view endpoint) {
  const auto header = environment.get("IDENTITY_HEADER");
  if (!header) {
    if (environment.get("IMDS_ENDPOINT")) return unsupported("IMDS_ENDPOINT", "Azure Arc");
    return Error::configuration("IDENTITY_ENDPOINT is set, and IDENTITY_HEADER is not",
                                "App Service sets both; the second is the password for the first");
  }
  if (environment.get("IDENTITY_SERVER_THUMBPRINT")) {
    return unsupported("IDENTITY_SERVER_THUMBPRINT", "Service Fabric");
  }
  // Not quoted: it is a password.
  if (!is_visible_ascii(*header))
    return Error::configuration("IDENTITY_HEADER is no value of a header");
  ManagedEndpoint found = {.kind = ManagedEndpoint::Kind::app_service,
                           .url = std::string(endpoint),
                           .header = SecretString(*header)};
  TRY(check_endpoint("IDENTITY_ENDPOINT", found.url));
  return found;
}

}  // namespace

std::string_view ManagedEndpoint::api_version() const {
  return kind == Kind::imds ? "2018-02-01" : "2019-08-01";
}

std::string_view ManagedEndpoint::resource_parameter() const {
  return kind == Kind::imds ? "msi_res_id" : "mi_res_id";
}

Result<ManagedEndpoint> managed_endpoint(const Environment& environment) {
  if (const auto endpoint = environment.get("IDENTITY_ENDPOINT")) {
    return app_service(environment, *endpoint);
  }
  if (environment.get("MSI_ENDPOINT")) {
    return unsupported("MSI_ENDPOINT", "Machine Learning or Cloud Shell");
  }
  constexpr std::string_view kVariable = "AZURE_POD_IDENTITY_AUTHORITY_HOST";
  std::string_view host = environment.get(kVariable).value_or(kImdsHost);
  while (host.ends_with('/')) host.remove_suffix(1);
  ManagedEndpoint found = {.url = std::string(host).append(kImdsPath)};
  TRY(check_endpoint(kVariable, found.url));
  return found;
}

}  // namespace execcred::azure
