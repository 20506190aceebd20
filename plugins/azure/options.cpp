// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/provider.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace execcred::azure {
namespace {

constexpr std::array<Named<IdentityKind>, 2> kIdentities = {
    {{"workload", IdentityKind::workload}, {"managed", IdentityKind::managed}}};
constexpr ValueForm kGuidForm = {"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", 36};
// A tenant: a GUID or a domain.
constexpr ValueForm kTenantForm = {
    "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    "|[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)+)$",
    253};

bool is_guid(std::string_view text) {
  constexpr std::string_view kShape = "00000000-0000-0000-0000-000000000000";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] == '-' ? text[i] != '-' : !is_hex_digit(text[i])) return false;
  }
  return true;
}

// The ID of a server becomes a scope, which is a list whose parts are separated by spaces, so it
// has no space. The other allowed characters are those of azure-identity.
Result<std::string> parse_server_id(const std::string& text) {
  constexpr std::string_view kScope = "/.default";
  if (text.ends_with(kScope)) {
    return Error::configuration(in_quotes(text) + " is a scope", "leave out its end, '/.default'");
  }
  if (is_alphanumeric_or(text, "_-.:/")) return text;
  return Error::configuration(in_quotes(text) + " is no application ID, nor the URI of one");
}

// The resource ID is percent-encoded when it is sent.
Result<std::string> parse_resource_id(const std::string& text) {
  if (text.starts_with("/subscriptions/") && is_visible_ascii(text)) return text;
  return Error::configuration(in_quotes(text) + " is no resource ID of an identity",
                              "it is /subscriptions/.../resourceGroups/.../providers/"
                              "Microsoft.ManagedIdentity/userAssignedIdentities/NAME");
}

bool has_same(const std::vector<std::string>& texts, std::string_view text) {
  return std::any_of(texts.begin(), texts.end(), [text](const std::string& one) {
    return ascii_lower(one) == ascii_lower(text);
  });
}

std::optional<Finding> judge_tenant(const std::string& tenant, const Settings& settings) {
  const Result<std::string> parsed = parse_tenant(tenant);
  if (!parsed) return refused_field(parsed.error());
  const std::vector<std::string>& own = settings.given("tenant-id");
  if (has_same(own, tenant) || has_same(settings.given("allow-tenant"), tenant)) return {};
  const std::string hint = "add --allow-tenant=" + tenant + " there, if that tenant is meant";
  if (own.empty()) {
    return Finding{
        .error = {
            .message = "is refused unless AZURE_TENANT_ID is the same: no --allow-tenant names it",
            .hint = hint}};
  }
  return Finding{
      .severity = Finding::Severity::error,
      .error = {.message = "is another tenant than the mapping's, and no --allow-tenant names it",
                .hint = hint}};
}

// Without --identity, a federated token file decides.
constexpr std::array<std::string_view, 2> kWorkload = {"workload", ""};
constexpr std::array<std::string_view, 1> kManaged = {"managed"};
constexpr OptionUse kForWorkload = {
    "identity", kWorkload, "the platform knows tenant and authority of a managed identity"};
constexpr OptionUse kForManaged = {"identity", kManaged,
                                   "workload identity knows its identity by --client-id"};

void add_workload(OptionSet& set, Options& options) {
  set.add_parsed("client-id", options.client_id, "ID",
                 "Application or user-assigned identity, by its client ID", parse_guid)
      .chosen_among("allow-client-id")
      .form(kGuidForm)
      .variable(kClientVariable)
      .no_variable_with("identity-resource-id", "identity-object-id")
      .ignores_case();
  set.group("Token server", kForWorkload);
  set.add_parsed("tenant-id", options.tenant_id, "ID", "Entra tenant, a GUID or a domain",
                 parse_tenant)
      .from_profile()
      .replaceable()
      .allowed_by("allow-tenant")
      .judged_by(judge_tenant)
      .form(kTenantForm)
      .variable(kTenantVariable)
      .not_identity("the tenant that is chosen is an input of its own");
  set.group("Access rules", kForWorkload);
  set.add_parsed("allow-tenant", options.allow_tenants, "ID",
                 "Tenant that a ClusterProfile may name", parse_tenant)
      .not_identity("it only allows a tenant, which is an input itself")
      .no_environment();
  set.group("Access rules");
  add_choice_patterns(set, "allow-client-id", options.allow_client_ids,
                      "Client ID that a ClusterProfile may choose")
      .weakens("lets a ClusterProfile choose identities that are not listed",
               "list each one: GUIDs with the same beginning are unrelated",
               [](std::string_view pattern) { return pattern.ends_with('*'); });
  set.group("Credential source", kForWorkload);
  set.add("federated-token-file", options.federated_token_file, "PATH",
          "File with the service account's token for Entra")
      .variable(kTokenFileVariable);
  set.group("Token server", kForWorkload);
  set.add_parsed("authority-host", options.authority_host, "URL", "Entra host of the cloud",
                 parse_authority)
      .default_text(kPublicCloud)
      .variable("AZURE_AUTHORITY_HOST");
  set.add("ca-file", options.ca_file, "PATH",
          "CA certificates of the authority host, not the system's");
}

}  // namespace

Result<std::string> parse_guid(const std::string& text) {
  if (is_guid(text)) return text;
  return Error::configuration(in_quotes(text) + " is no GUID",
                              "it is 00000000-0000-0000-0000-000000000000");
}

Result<std::string> parse_tenant(const std::string& text) {
  const bool is_domain =
      text.find('.') != std::string::npos && is_dns1123_subdomain(ascii_lower(text));
  if (is_domain || is_guid(text)) return text;
  return Error::configuration(in_quotes(text) + " is no tenant",
                              "it is the tenant's GUID, or a domain of it");
}

Result<std::string> parse_authority(const std::string& text) {
  const std::string whole = text.find("://") == std::string::npos ? "https://" + text : text;
  const Result<Url> url = parse_url(whole);
  if (!url) return Error::configuration(redacted_url(text) + " " + url.error().message);
  if (url->scheme != "https") return Error::configuration(redacted_url(text) + " is no https URL");
  if (url->path.empty() && url->query.empty()) {
    const std::string origin = origin_of(*url);
    constexpr std::string_view kPort = ":443";
    // The host without the default port, as other programs write it in requests and logs.
    return origin.ends_with(kPort) ? origin.substr(0, origin.size() - kPort.size()) : origin;
  }
  return Error::configuration(
      redacted_url(text) + " is more than a host",
      "the tenant is --tenant-id's, and the rest of the path is the same in every cloud");
}

void add_options(OptionSet& set, Options& options) {
  set.group("Credential source");
  set.add_choice<kIdentities>("identity", options.identity, "workload|managed",
                              "Identity of the Pod's service account, or of the machine")
      .default_text("workload, where a federated token file is set");
  add_workload(set, options);
  set.group("Request");
  set.add_parsed("server-id", options.server_id, "ID", "Application that the token is for",
                 parse_server_id)
      .default_text(std::string(kAksServerId) + ", AKS");
  set.group("Credential source", kForManaged);
  set.add_parsed("identity-resource-id", options.identity_resource_id, "ID",
                 "With --identity=managed: resource ID of the identity", parse_resource_id)
      .ignores_case();
  set.add_parsed("identity-object-id", options.identity_object_id, "ID",
                 "With --identity=managed: object ID of its principal", parse_guid)
      .ignores_case();
  add_cache_options(set, options.cache);
}

}  // namespace execcred::azure
