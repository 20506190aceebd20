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
};

// "K=V". Fails (configuration) without a name or a '='.
Result<TokenParameter> parse_token_parameter(std::string_view text);

// Fails (configuration): a name that comes twice, is none, or is a field that the request has an
// option for; a control character.
Status check_parameters(const std::vector<TokenParameter>& parameters);

// "urn:ietf:params:oauth:token-type:" before a name that has no colon.
std::string token_type_urn(std::string_view name);

// The body's fields but for those that authenticate the client. Fails (configuration): a field that
// is empty or has a control character, a parameter that comes twice or is a field of its own, a
// subject where the flow has none; with no_credential for a subject that is missing or unusable.
Result<Form> token_form(const TokenRequest& request);

// POSTs the request to the token endpoint, an https URL, by the retry policy; each attempt
// authenticates again. Besides the rules of http.hpp and token_reply.hpp: a permanent error is not
// retried whatever its status, and one that may pass is. A refresh token, and an assertion of
// somebody else's that is_single_use(), are sent once.
Result<TokenReply> request_token(HttpClient& client, const std::string& token_url,
                                 const TokenRequest& request,
                                 const ClientAuthentication& authentication, CallContext& call,
                                 const RetryPolicy& policy = {});

}  // namespace execcred
