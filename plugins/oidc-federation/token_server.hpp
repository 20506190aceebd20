// SPDX-License-Identifier: Apache-2.0
// The OAuth 2.0 server, and the client's authentication at it.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/oauth/client_authentication.hpp>
#include <execcred/oauth/discovery.hpp>
#include <execcred/oauth/token_post.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <string>
#include <vector>

namespace execcred::oidc_federation {

class TokenServer {
 public:
  // Reads the files of the options: CA, secret, keys, actor token. Sends nothing. The arguments
  // must outlive the server; without a directory, discovery documents are not stored. Fails
  // (configuration) if a file cannot be read, (no_credential) if its content is invalid.
  static Result<TokenServer> open(const Options& options, const CredentialRequest& request,
                                  CallContext& call, const CacheDirectory* directory);

  // Requests a token. `subject` is a token, an assertion or a refresh token, by the flow; empty if
  // there is none. `keep` gets a new refresh token before the rest of the reply is checked.
  Result<TokenReply> ask(const SecretString& subject, const KeepRefreshToken& keep = {});

 private:
  struct Endpoint {
    std::string url = {};
    std::vector<std::string> auth_methods = {};
  };

  TokenServer(const Options& options, const CredentialRequest& request, CallContext& call,
              const CacheDirectory* directory)
      : options_(options), request_(request), call_(call), directory_(directory) {}

  Status read_client();
  Status read_tls();
  ClientAuthMethod method(const std::vector<std::string>& supported) const;
  DiscoveryCache discovery() const;
  Result<Endpoint> find_endpoint(HttpClient& client) const;
  TokenRequest make_request(const SecretString& subject) const;

  const Options& options_;
  const CredentialRequest& request_;
  CallContext& call_;
  const CacheDirectory* directory_;
  TlsSettings tls_;
  ClientAuthentication client_;
  SecretString actor_token_;
};

}  // namespace execcred::oidc_federation
