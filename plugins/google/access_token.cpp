// SPDX-License-Identifier: Apache-2.0
#include "access_token.hpp"

#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>

namespace execcred::google {

Result<AccessToken> AccessTokenSource::get(const TokenScopes& asked, CallContext& call) const {
  const auto client = make_http_client({.tls = tls_, .proxy = proxy_of(call.environment)}, call);
  const auto& impersonations = credentials_.impersonations;
  // A token that is only used to impersonate needs no other scope.
  const TokenScopes only_iam = {.scopes = {"https://www.googleapis.com/auth/iam"}};
  AccessToken token = TRY(first(impersonations.empty() ? asked : only_iam, *client, call));
  for (std::size_t i = 0; i < impersonations.size(); ++i) {
    const bool is_last = i + 1 == impersonations.size();
    token = TRY(impersonate(impersonations[i], token, is_last ? asked.scopes : only_iam.scopes,
                            *client, call));
  }
  return token;
}

Result<AccessToken> AccessTokenSource::first(const TokenScopes& asked, HttpClient& client,
                                             CallContext& call) const {
  if (const auto* account = std::get_if<ExternalAccount>(&credentials_.source)) {
    const SecretString token = TRY(subject_.get(tls_, call));
    return exchange_subject(*account, token, asked.scopes, client, call);
  }
  if (const auto* key = std::get_if<ServiceAccountKey>(&credentials_.source)) {
    deadline::enter_phase("using the service account's key");
    if (credentials_.universe_domain != kDefaultUniverse) {
      return sign_access_token(*key, asked.scopes, call.clock.now());
    }
    return use_key(*key, asked.scopes, client, call);
  }
  if (const auto* user = std::get_if<AuthorizedUser>(&credentials_.source)) {
    return use_refresh_token(*user, asked.is_explicit ? asked.scopes : user->scopes, client, call);
  }
  return ask_metadata_server(asked.scopes, call);
}

}  // namespace execcred::google
