// SPDX-License-Identifier: Apache-2.0
// execcred-google: gives the client an access token of Google Cloud, for GKE. It uses application
// default credentials without the SDK: workload identity of GKE and of other platforms, keys, and
// the file that gcloud stores after a login.
//
// Such a token is valid at every cluster that its identity may use, so a mapping names with
// --allow-server the clusters that may get it. The token is kept in the credential cache.
#include "plugin.hpp"

#include "access_token.hpp"
#include "application_default.hpp"
#include "endpoints.hpp"
#include "options.hpp"
#include "subject.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/http/http.hpp>

#include <memory>
#include <utility>

namespace execcred::google {
namespace {

constexpr std::string_view kExecutables = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

// The scopes that GKE needs: the account's rights, and its e-mail address for RBAC.
const std::vector<std::string>& default_scopes() {
  static const std::vector<std::string> kScopes = {
      "https://www.googleapis.com/auth/cloud-platform",
      "https://www.googleapis.com/auth/userinfo.email"};
  return kScopes;
}

TokenWish wish_of(const Options& options, const GoogleCredentials& credentials) {
  if (!options.scopes.empty()) return {.scopes = options.scopes, .is_explicit = true};
  return {.scopes = credentials.scopes.empty() ? default_scopes() : credentials.scopes};
}

// The identity of the token, for people.
std::string identity_of(const ApplicationDefault& found) {
  const GoogleCredentials& credentials = found.credentials;
  if (!credentials.impersonations.empty()) return credentials.impersonations.back().account;
  if (const auto* key = std::get_if<ServiceAccountKey>(&credentials.source)) return key->email;
  if (const auto* account = std::get_if<ExternalAccount>(&credentials.source)) {
    return account->audience;
  }
  return found.path.empty() ? "the metadata server's default account" : found.path;
}

// The e-mail address of the service account that the token is of; empty if it is not known.
std::string account_of(const GoogleCredentials& credentials) {
  std::string account;
  if (const auto* key = std::get_if<ServiceAccountKey>(&credentials.source)) account = key->email;
  if (!credentials.impersonations.empty()) account = credentials.impersonations.back().account;
  const bool is_address = account.find('@') != std::string::npos;
  return is_address ? account : std::string();
}

}  // namespace

class Google final : public Provider {
 public:
  void add_options(OptionSet& set) override { google::add_options(set, options_); }

  Status change_options(OptionSet& /*set*/, const Settings& settings) override {
    settings_ = &settings;
    return {};
  }

  std::vector<Advice> advise(const GivenOptions& given) const override {
    if (given.variable(kExecutables) != "1") return {};
    return {{.severity = Advice::Severity::info,
             .message = "is 1: the credentials file may name a program, which is run",
             .hint = "keep it only if nobody else writes the credentials file",
             .variable = kExecutables}};
  }

  std::vector<std::string_view> judged_fields() const override {
    return {"workloadIdentityProvider"};
  }

  std::optional<Advice> judge_field(std::string_view /*field*/, const std::string& value,
                                    const GivenOptions& given) const override {
    // With this option, the field has no effect.
    if (given.has(kProviderOption)) return std::nullopt;
    const Status is_name = check_provider_name(value);
    if (!is_name) return refused_field(is_name.error());
    const std::string audience = audience_of_provider(value, kDefaultUniverse);
    const std::vector<std::string> patterns = given.values("allow-audience");
    for (const std::string& text : patterns) {
      const Result<AudiencePattern> pattern = AudiencePattern::parse(text);
      // A malformed pattern is reported as an error of its option.
      if (!pattern || pattern->matches(audience, {})) return std::nullopt;
    }
    Advice advice = {.severity = Advice::Severity::error,
                     .message = "matches no --allow-audience of the mapping",
                     .hint = "add --allow-audience='" + audience + "' there, if it is meant"};
    if (patterns.empty()) {
      advice.severity = Advice::Severity::warning;
      advice.message = "is refused: the mapping has no --allow-audience for it";
    }
    return advice;
  }

  Result<std::string> principal(const Settings& settings, const Environment& environment) override {
    CacheKey key;
    options_.credentials_named_by = settings.where_from(kCredentialsOption);
    return account_of(TRY(load_application_default(options_, environment, key)).credentials);
  }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const CallContext& run) override {
    CacheKey key;
    key.add("plugin", "google");
    options_.credentials_named_by = settings_->where_from(kCredentialsOption);
    const ApplicationDefault found = TRY(load_application_default(options_, run.environment, key));
    TRY(check_provider(request, found.credentials));
    const TokenWish wish = wish_of(options_, found.credentials);
    add_to_key(wish, key);
    const Subject subject =
        TRY(Subject::open(std::get_if<ExternalAccount>(&found.credentials.source), run, key));
    const auto ask = [&](CallContext& call) { return obtain(found, subject, wish, call); };
    return CredentialCache(cache_of_run(options_.cache, request), run).get(key, ask);
  }

 private:
  // The writer of the ClusterProfile chooses the pool of the token, so the mapping must allow it.
  Status check_provider(const CredentialRequest& request,
                        const GoogleCredentials& credentials) const {
    if (!settings_->get(kProviderOption).is_from_profile()) return {};
    const std::string audience =
        audience_of_provider(options_.workload_identity_provider, credentials.universe_domain);
    Status allowed = check_audience(request.rules, audience, request.info);
    if (!allowed && request.rules.allow_audience.empty()) {
      allowed.error().hint = "set --" + std::string(kProviderOption) +
                             " in the mapping's args, or --allow-audience='" + audience + "'";
    }
    return allowed;
  }

  void add_to_key(const TokenWish& wish, CacheKey& key) const {
    // For a user's credentials, only explicitly requested scopes are sent.
    key.add("scopes", wish.is_explicit ? "asked for" : "usual");
    for (const std::string& scope : wish.scopes) key.add("scope", scope);
    for (const std::string& account : options_.impersonate.accounts)
      key.add("impersonate", account);
    if (!options_.workload_identity_provider.empty()) {
      key.add(kProviderOption, options_.workload_identity_provider);
    }
    if (!options_.ca_file.empty()) key.add("ca-file", options_.ca_file.native());
  }

  Result<Issued> obtain(const ApplicationDefault& found, const Subject& subject,
                        const TokenWish& wish, CallContext& call) const {
    TlsSettings tls;
    if (!options_.ca_file.empty()) {
      tls.ca_certificates =
          TRY(read_ca_file(options_.ca_file)
                  .context("reading --ca-file " + in_quotes(options_.ca_file.native())));
    }
    AccessToken token = TRY(AccessTokenSource(found.credentials, subject, tls).get(wish, call));
    return Issued{.credential = {.token = std::move(token.token), .expires_at = token.expires_at},
                  .identity = identity_of(found),
                  .target = join(wish.scopes, " ")};
  }

  Options options_;
  const Settings* settings_ = nullptr;
};

PluginDefinition plugin() {
  return {
      .info = {.name = "execcred-google",
               .summary = "Gives the client an access token of Google Cloud, for GKE.",
               .examples =
                   {{{"Print an access token of the application default credentials",
                      "execcred-google"},
                     {"Print one of a service account that they may impersonate",
                      "execcred-google "
                      "--impersonate-service-account=robot@project-1.iam.gserviceaccount.com"}}}},
      .make = [] { return std::unique_ptr<Provider>(std::make_unique<Google>()); }};
}

}  // namespace execcred::google
