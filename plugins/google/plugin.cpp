// SPDX-License-Identifier: Apache-2.0
// execcred-google: gives the client an access token of Google Cloud, for GKE. It uses application
// default credentials without the SDK: workload identity of GKE and of other platforms, keys, and
// the file that gcloud stores after a login.
//
// Such a token is valid at every cluster that its identity may use, so a mapping names with
// --allow-server the clusters that may get it. The token is kept in the credential cache.
#include "access_token.hpp"
#include "application_default.hpp"
#include "endpoints.hpp"
#include "options.hpp"
#include "subject.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/http/http.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace execcred::google {
namespace {

// The scopes that GKE needs: the account's rights, and its e-mail address for RBAC.
const std::vector<std::string>& default_scopes() {
  static const std::vector<std::string> kScopes = {
      "https://www.googleapis.com/auth/cloud-platform",
      "https://www.googleapis.com/auth/userinfo.email"};
  return kScopes;
}

TokenScopes scopes_of(const Options& options, const GoogleCredentials& credentials) {
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

  std::vector<Finding> check(const Settings& /*settings*/,
                             const Environment& environment) const override {
    if (environment.get(kExecutablesVariable) != "1") return {};
    return {{.severity = Finding::Severity::info,
             .error = {.message = "is 1: the credentials file may name a program, which is run",
                       .hint = "keep it only if nobody else writes the credentials file"},
             .variable = kExecutablesVariable}};
  }

  Result<Plan> plan(const Settings& settings, Inputs& inputs) const override {
    const auto source = std::make_shared<Source>();
    source->found =
        TRY(load_application_default(options_, settings.where_from(kCredentialsOption), inputs));
    TRY(check_provider(settings, inputs.request(), source->found.credentials));
    source->asked = scopes_of(options_, source->found.credentials);
    const auto* const account = std::get_if<ExternalAccount>(&source->found.credentials.source);
    source->subject = TRY(Subject::open(account, inputs));
    return Plan{.ask = [this, source, &request = inputs.request()](
                           CallContext& call) { return obtain(*source, request, call); },
                .cache = options_.cache,
                .principal = account_of(source->found.credentials)};
  }

 private:
  // Where the token comes from. `subject` refers to the account in `found`.
  struct Source {
    ApplicationDefault found = {};
    std::optional<Subject> subject = {};
    TokenScopes asked = {};
  };

  // The writer of the ClusterProfile chooses the pool of the token, so the mapping must allow it.
  Status check_provider(const Settings& settings, const CredentialRequest& request,
                        const GoogleCredentials& credentials) const {
    if (!settings.get(kProviderOption).is_from_profile()) return {};
    const std::string audience =
        audience_of_provider(options_.workload_identity_provider, credentials.universe_domain);
    Status allowed = check_audience(request.rules, audience, request.info);
    if (!allowed && request.rules.allow_audience.empty()) {
      allowed.error().hint = "set --" + std::string(kProviderOption) +
                             " in the mapping's args, or --allow-audience='" + audience + "'";
    }
    return allowed;
  }

  Result<Issued> obtain(const Source& source, const CredentialRequest& request,
                        CallContext& call) const {
    TlsSettings tls;
    if (!options_.ca_file.empty()) {
      tls.ca_certificates = TRY(
          read_ca_file(options_.ca_file).context(request.reading("--ca-file", options_.ca_file)));
    }
    const AccessTokenSource tokens(source.found.credentials, *source.subject, tls);
    AccessToken token = TRY(tokens.get(source.asked, call));
    return Issued{.credential = {.token = std::move(token.token), .expires_at = token.expires_at},
                  .identity = identity_of(source.found),
                  .target = join(source.asked.scopes, " ")};
  }

  Options options_;
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
