// SPDX-License-Identifier: Apache-2.0
// Requests a token from a token endpoint without a person: token exchange (RFC 8693), JWT bearer
// grants (RFC 7523), client credentials and refresh tokens (RFC 6749).
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/copyable_secret.hpp>
#include <execcred/base/form.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/client_authentication.hpp>
#include <execcred/oauth/token_post.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

enum class Grant { token_exchange, jwt_bearer, client_credentials, refresh_token };

struct TokenParameter {
  std::string name = {};
  std::string value = {};
};

struct TokenRequest {
  Grant grant = Grant::client_credentials;
  CopyableSecret subject = {};             // the subject token, the assertion, or the refresh token
  std::string subject_token_type = "jwt";  // token types: a URN, or its last part
  CopyableSecret actor_token = {};         // token exchange alone
  std::string actor_token_type = "jwt";
  std::string requested_token_type = {};
  std::vector<std::string> audiences = {};
  std::vector<std::string> resources = {};
  std::string scope = {};                       // names separated by spaces
  std::vector<TokenParameter> parameters = {};  // further parameters of a server
  ReplyToken token = ReplyToken::access_token;
  KeepRefreshToken keep_refresh_token = {};  // as in TokenPost
};

// Parses "NAME=VALUE". Fails (configuration) if there is no name or no '='.
Result<TokenParameter> parse_token_parameter(std::string_view text);

// Fails (configuration) if a name occurs twice, is malformed, or is a field for which the request
// has an option, or if a value has a control character.
Status check_parameters(const std::vector<TokenParameter>& parameters);

// A token type: `name` if it is empty or contains a colon, else `name` after
// "urn:ietf:params:oauth:token-type:".
std::string token_type_urn(std::string_view name);

// The fields of the body, except those that authenticate the client. Fails (configuration) if a
// field is empty or has a control character, if check_parameters() fails, or if the grant has no
// subject or actor token but one is given; (no_credential) if the subject is missing, or it or the
// actor token has a control character.
Result<Form> token_form(const TokenRequest& request);

// POSTs the request to the token endpoint, an https URL, by the retry policy; each attempt
// authenticates again. Fails as post_for_token(), token_form() and authenticate_client() do. A
// permanent error is not retried, whatever its status, and one that may pass is. A refresh token is
// sent only once, also as the subject or actor of a token exchange, and so is another issuer's
// assertion for which is_single_use() holds.
Result<TokenReply> request_token(HttpClient& client, const std::string& token_url,
                                 const TokenRequest& request,
                                 const ClientAuthentication& authentication, CallContext& call,
                                 const RetryPolicy& policy = {});

}  // namespace execcred
