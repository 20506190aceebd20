// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/token_request.hpp>

#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/oauth/token_post.hpp>

#include <utility>

namespace execcred {
namespace {

// An assertion of our own is signed anew for each attempt.
bool is_spent_by_sending(const TokenRequest& request, const ClientAuthentication& authentication) {
  if (request.grant == Grant::refresh_token) return true;
  if (request.grant == Grant::jwt_bearer && is_single_use(request.subject)) return true;
  return authentication.method == ClientAuthMethod::federated &&
         is_single_use(authentication.assertion);
}

}  // namespace

Result<TokenReply> request_token(HttpClient& client, const std::string& token_url,
                                 const TokenRequest& request,
                                 const ClientAuthentication& authentication,
                                 const RetryPolicy& policy, const Clock& clock) {
  TokenPost post = {.url = token_url,
                    .is_spent_by_sending = is_spent_by_sending(request, authentication),
                    .token = request.token};
  post.make_form = [&](HttpRequest& http) -> Result<Form> {
    Form form = TRY(token_form(request));
    TRY(authenticate_client(authentication, clock.now(), http, form));
    return form;
  };
  if (!authentication.secret.empty()) post.secrets.push_back(authentication.secret.copy());
  return post_for_token(client, post, policy, clock);
}

}  // namespace execcred
