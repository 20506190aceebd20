// SPDX-License-Identifier: Apache-2.0
// Turns credentials into an access token: one request to Google for the credentials, and one more
// for each impersonated service account.
//
// Each request is what google-auth sends, in its order.
#pragma once

#include "credentials.hpp"
#include "subject.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/http/http.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred::google {

struct AccessToken {
  SecretString token = {};
  std::optional<TimePoint> expires_at = {};
};

struct TokenScopes {
  std::vector<std::string> scopes = {};  // of the token
  // Whether the scopes were requested explicitly. If not, a user's refresh token is used with its
  // own scopes.
  bool is_explicit = false;
};

class AccessTokenSource {
 public:
  // The arguments must outlive the source.
  AccessTokenSource(const GoogleCredentials& credentials, const Subject& subject,
                    const TlsSettings& tls)
      : credentials_(credentials), subject_(subject), tls_(tls) {}

  Result<AccessToken> get(const TokenScopes& asked, CallContext& call) const;

 private:
  Result<AccessToken> first(const TokenScopes& asked, HttpClient& client, CallContext& call) const;

  const GoogleCredentials& credentials_;
  const Subject& subject_;
  const TlsSettings& tls_;
};

// Token exchange (RFC 8693) at Google's STS.
Result<AccessToken> exchange_subject(const ExternalAccount& account, const SecretString& subject,
                                     const std::vector<std::string>& scopes, HttpClient& client,
                                     CallContext& call);

// JWT bearer grant (RFC 7523), with an assertion that the key signs.
Result<AccessToken> use_key(const ServiceAccountKey& key, const std::vector<std::string>& scopes,
                            HttpClient& client, CallContext& call);

// In universes other than googleapis.com, a JWT that the key signs is the access token.
Result<AccessToken> sign_access_token(const ServiceAccountKey& key,
                                      const std::vector<std::string>& scopes, TimePoint now);

// Refresh token grant (RFC 6749, section 6). Without scopes, the token has those of the user's
// consent.
Result<AccessToken> use_refresh_token(const AuthorizedUser& user,
                                      const std::vector<std::string>& scopes, HttpClient& client,
                                      CallContext& call);

Result<AccessToken> ask_metadata_server(const std::vector<std::string>& scopes, CallContext& call);

// Calls generateAccessToken of iamcredentials, with the token `as`.
Result<AccessToken> impersonate(const Impersonation& impersonation, const AccessToken& as,
                                const std::vector<std::string>& scopes, HttpClient& client,
                                CallContext& call);

}  // namespace execcred::google
