// SPDX-License-Identifier: Apache-2.0
#include <execcred/token_post.hpp>
#include <execcred/token_request.hpp>

#include <utility>

namespace execcred {

Result<TokenReply> request_token(HttpClient& client, const std::string& token_url,
                                 const TokenRequest& request,
                                 const ClientAuthentication& authentication,
                                 const RetryPolicy& policy, const Clock& clock) {
  TokenPost post = {.url = token_url, .token = request.token};
  post.make_form = [&](HttpRequest& http) -> Result<Form> {
    TRY_ASSIGN(Form form, token_form(request));
    TRY(authenticate_client(authentication, clock.now(), http, form));
    return form;
  };
  if (!authentication.secret.empty()) post.secrets.push_back(authentication.secret.copy());
  return post_for_token(client, post, policy, clock);
}

}  // namespace execcred
