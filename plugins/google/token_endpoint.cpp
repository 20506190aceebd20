// SPDX-License-Identifier: Apache-2.0
// Google's token endpoints: its STS, and the one for keys and refresh tokens.
#include "access_token.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/client_authentication.hpp>
#include <execcred/oauth/jwt_sign.hpp>
#include <execcred/oauth/token_post.hpp>
#include <execcred/oauth/token_request.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>

namespace execcred::google {
namespace {

// The audience of every assertion, to whatever URL it is sent.
constexpr std::string_view kOauthUrl = "https://oauth2.googleapis.com/token";
constexpr std::string_view kGrants = "urn:ietf:params:oauth:grant-type:";
constexpr std::chrono::seconds kLifetime = std::chrono::hours(1);

Result<AccessToken> post(const TokenPost& request, HttpClient& client, CallContext& call) {
  const std::string where = redacted_url(request.url);
  call.debug("asking " + where + " for a token");
  TokenReply reply =
      TRY(post_for_token(client, request, call).context("asking the token endpoint " + where));
  return AccessToken{.token = std::move(reply.token), .expires_at = reply.expires_at};
}

// Unlike RFC 6749, Google expects id and secret without form encoding.
void add_client(const ExternalAccount& account, HttpRequest& request) {
  if (account.client_id.empty() || account.client_secret.empty()) return;
  SecretString pair(account.client_id + ":");
  pair.append(account.client_secret.reveal());
  request.headers.push_back(basic_authorization(pair));
}

Result<SecretString> signed_by(const ServiceAccountKey& key, const json::Value& claims) {
  const auto sign = [&]() -> Result<SecretString> {
    const SigningKey signing = TRY(SigningKey::read(key.private_key, "RS256"));
    return sign_jwt(signing, key.key_id, claims);
  };
  return sign().context("signing with the private key of " + in_quotes(key.email));
}

}  // namespace

Result<AccessToken> exchange_subject(const ExternalAccount& account, const SecretString& subject,
                                     const std::vector<std::string>& scopes, HttpClient& client,
                                     CallContext& call) {
  deadline::enter_phase("exchanging the subject token");
  TokenPost request = {.url = account.token_url};
  request.make_form = [&](HttpRequest& message) -> Result<Form> {
    add_client(account, message);
    Form form;
    form.add("grant_type", std::string(kGrants) + "token-exchange");
    form.add("audience", account.audience);
    form.add("scope", join(scopes, " "));
    form.add("requested_token_type", token_type_urn("access_token"));
    form.add("subject_token", subject);
    form.add("subject_token_type", account.subject_token_type);
    if (!account.user_project.empty() && account.client_id.empty()) {
      form.add("options", percent_encode("{\"userProject\": \"" + account.user_project + "\"}"));
    }
    return form;
  };
  if (!account.client_secret.empty()) request.secrets.push_back(account.client_secret.copy());
  return post(request, client, call);
}

Result<AccessToken> use_key(const ServiceAccountKey& key, const std::vector<std::string>& scopes,
                            HttpClient& client, CallContext& call) {
  TokenPost request = {.url = key.token_url};
  request.make_form = [&](HttpRequest&) -> Result<Form> {
    const TimePoint now = call.clock.now();
    json::Value claims;
    claims.add("iat", numeric_date(now));
    claims.add("exp", numeric_date(now + kLifetime));
    claims.add("iss", json::Value(key.email));
    claims.add("aud", json::Value(kOauthUrl));
    claims.add("scope", json::Value(join(scopes, " ")));
    const SecretString assertion = TRY(signed_by(key, claims));
    Form form;
    form.add("assertion", assertion);
    form.add("grant_type", std::string(kGrants) + "jwt-bearer");
    return form;
  };
  return post(request, client, call);
}

Result<AccessToken> sign_access_token(const ServiceAccountKey& key,
                                      const std::vector<std::string>& scopes, TimePoint now) {
  json::Value claims;
  claims.add("iss", json::Value(key.email));
  claims.add("sub", json::Value(key.email));
  claims.add("iat", numeric_date(now));
  claims.add("exp", numeric_date(now + kLifetime));
  claims.add("scope", json::Value(join(scopes, " ")));
  SecretString token = TRY(signed_by(key, claims));
  return AccessToken{.token = std::move(token), .expires_at = now + kLifetime};
}

Result<AccessToken> use_refresh_token(const AuthorizedUser& user,
                                      const std::vector<std::string>& scopes, HttpClient& client,
                                      CallContext& call) {
  deadline::enter_phase("using the refresh token");
  TokenPost request = {.url = std::string(kOauthUrl), .is_spent_by_sending = true};
  request.make_form = [&](HttpRequest&) -> Result<Form> {
    Form form;
    form.add("grant_type", "refresh_token");
    form.add("client_id", user.client_id);
    form.add("client_secret", user.client_secret);
    form.add("refresh_token", user.refresh_token);
    if (!scopes.empty()) form.add("scope", join(scopes, " "));
    if (!user.reauthentication.empty()) form.add("rapt", user.reauthentication);
    return form;
  };
  // The usual hint for a refused refresh token is about issuers, but here a user must log in again.
  Result<AccessToken> token = post(request, client, call);
  if (!token && token.error().kind == Error::Kind::no_credential) {
    token.error().hint =
        "log in again with gcloud auth application-default login; for a "
        "controller, a service account or workload identity does not need it";
  }
  return token;
}

}  // namespace execcred::google
