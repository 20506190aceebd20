// SPDX-License-Identifier: Apache-2.0
// The OAuth 2.0 server, and the client's authentication at it.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/oauth/client_authentication.hpp>
#include <execcred/oauth/discovery.hpp>
#include <execcred/oauth/token_post.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <string>
#include <vector>

namespace execcred::oidc_federation {

// What says who the client is: another secret or key may be another client's, although its file has
// the same path. Empty where the options name no file, or the flow does not use it.
struct ClientFiles {
  SecretString secret = {};
  SecretString private_key = {};
  SecretString certificate = {};  // of TLS, with its key
  SecretString certificate_key = {};
  BearerToken actor = {};

  // Fails (configuration) if a file cannot be read, (no_credential) if the actor's holds no token.
  static Result<ClientFiles> read(const Options& options, Inputs& inputs);
};

class TokenServer {
 public:
  // Checks the client's files, and reads the CA. Sends nothing. The arguments but `files` must
  // outlive the server; without a directory, discovery documents are not stored. Fails
  // (configuration) if the CA cannot be read, (no_credential) if a file's content is invalid.
  static Result<TokenServer> open(const Options& options, const ClientFiles& files,
                                  const CredentialRequest& request, CallContext& call,
                                  const CacheDirectory* directory);

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

  Status read_client(const ClientFiles& files);
  Status read_tls(const ClientFiles& files);
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
