// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "endpoints.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/provider.hpp>

#include <algorithm>
#include <array>

namespace execcred::google {
namespace {

// One account, or several: the last one, after those that delegate.
constexpr ValueForm kAccountsForm = {
    "^([-._A-Za-z0-9]+@[-.a-z0-9]+|[0-9]+)(,([-._A-Za-z0-9]+@[-.a-z0-9]+|[0-9]+))*$"};
constexpr ValueForm kProviderForm = {
    "^projects/[0-9]{1,63}/locations/global/workloadIdentityPools/[A-Za-z0-9-]{1,63}/providers/"
    "[A-Za-z0-9-]{1,63}$"};

Result<AccountChain> parse_accounts(const std::string& text) {
  AccountChain chain;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view account = trim(part);
    if (!is_service_account(account)) {
      return Error::configuration(
          in_quotes(account) + " is no service account",
          "it is NAME@PROJECT.iam.gserviceaccount.com, or the account's number");
    }
    chain.accounts.emplace_back(account);
  }
  return chain;
}

// A scope (RFC 6749, section 3.3), without the comma that separates scopes in requests to the
// metadata server.
Result<std::string> parse_scope(const std::string& text) {
  if (is_visible_ascii(text) && text.find_first_of(",\"\\") == std::string::npos) return text;
  return Error::configuration(in_quotes(text) + " is no scope", "give --scope once for each");
}

Result<std::string> parse_provider(const std::string& text) {
  TRY(check_provider_name(text));
  return text;
}

std::optional<Finding> judge_provider(const std::string& provider, const Settings& settings) {
  // With this option, the field has no effect.
  if (settings.is_given(kProviderOption)) return std::nullopt;
  const Status is_name = check_provider_name(provider);
  if (!is_name) return refused_field(is_name.error());
  const std::string audience = audience_of_provider(provider, kDefaultUniverse);
  const std::vector<std::string>& patterns = settings.given("allow-audience");
  for (const std::string& text : patterns) {
    const Result<AudiencePattern> pattern = AudiencePattern::parse(text);
    // A malformed pattern is reported as an error of its option.
    if (!pattern || pattern->matches(audience, {})) return std::nullopt;
  }
  const std::string hint = "add --allow-audience='" + audience + "' there, if it is meant";
  if (patterns.empty()) {
    return Finding{.error = {.message = "is refused: the mapping has no --allow-audience for it",
                             .hint = hint}};
  }
  return Finding{.severity = Finding::Severity::error,
                 .error = {.message = "matches no --allow-audience of the mapping", .hint = hint}};
}

Result<UrlPattern> parse_endpoint(const std::string& text) {
  return UrlPattern::parse(text, UrlPattern::Use::server);
}

}  // namespace

bool is_service_account(std::string_view text) {
  constexpr std::size_t kMaxAccount = 254;
  if (text.size() > kMaxAccount) return false;
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
  }
  return at > 0 && is_alphanumeric_or(text.substr(0, at), "-_.") &&
         is_dns1123_subdomain(text.substr(at + 1));
}

Status check_provider_name(std::string_view text) {
  constexpr std::array<std::string_view, 8> kShape = {
      "projects", "", "locations", "global", "workloadIdentityPools", "", "providers", ""};
  constexpr std::size_t kMaxPart = 63;
  const std::vector<std::string_view> parts = split(text, '/');
  bool fits = parts.size() == kShape.size();
  for (std::size_t i = 0; fits && i < kShape.size(); ++i) {
    const std::string_view part = parts[i];
    if (!kShape[i].empty()) {
      fits = part == kShape[i];
    } else {
      fits = !part.empty() && part.size() <= kMaxPart &&
             (i == 1 ? std::all_of(part.begin(), part.end(), is_digit)
                     : is_alphanumeric_or(part, "-"));
    }
  }
  if (fits) return {};
  return Error::configuration(
      in_quotes(text) + " is no workload identity provider",
      "it is projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/"
      "PROVIDER");
}

std::string audience_of_provider(std::string_view provider, std::string_view universe_domain) {
  return std::string("//iam.").append(universe_domain).append("/").append(provider);
}

void add_options(OptionSet& set, Options& options) {
  set.group("Credential source");
  set.add(kCredentialsOption, options.credentials_file, "PATH",
          "Credentials file; without it gcloud's, or the metadata server")
      .variable("GOOGLE_APPLICATION_CREDENTIALS");
  set.add_parsed("impersonate-service-account", options.impersonate, "EMAIL[,EMAIL]...",
                 "Service account to act as, after those that delegate to it",
                 [](const std::string& text) { return parse_accounts(text); })
      .chosen_among("allow-impersonation")
      .form(kAccountsForm)
      .example("fleet-reader@project.iam.gserviceaccount.com");
  set.group("Request");
  set.add_parsed("scope", options.scopes, "SCOPE", "Scope of the token", parse_scope)
      .default_text("cloud-platform and userinfo.email, as GKE needs them");
  set.add_parsed(kProviderOption, options.workload_identity_provider, "NAME",
                 "Provider to use instead of the one in the credentials file", parse_provider)
      .from_profile()
      .allowed_by("allow-audience")
      .judged_by(judge_provider)
      .form(kProviderForm)
      .example("projects/123/locations/global/workloadIdentityPools/pool/providers/hub");
  set.group("Token server");
  set.add("ca-file", options.ca_file, "PATH",
          "CA certificates of Google's endpoints, not the system's");
  set.group("Access rules");
  add_choice_patterns(set, "allow-impersonation", options.allow_impersonation,
                      "Service account that a ClusterProfile may choose")
      .weakens("lets a ClusterProfile choose an account of any project",
               "name each account: its project stands at its end",
               [](std::string_view pattern) { return pattern.ends_with('*'); });
  set.add_parsed("allow-endpoint", options.allow_endpoint, "PATTERN",
                 "Server that the credentials file may name besides Google's", parse_endpoint)
      .no_environment()
      .weakens_a_little("lets the credentials file send what it holds to that server",
                        "keep it only if the server is yours, or one of Google's");
  add_cache_options(set, options.cache);
}

}  // namespace execcred::google
