// SPDX-License-Identifier: Apache-2.0
// The subject token: the identity of this process, confirmed by another issuer.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/hub/client.hpp>

#include <optional>

namespace execcred::oidc_federation {

class Subject {
 public:
  // Reads a token in a file or variable. Any other token is identified by its source, and is not
  // fetched. `options` and the request of
  // `inputs` must outlive the subject.
  static Result<Subject> open(const Options& options, Inputs& inputs);

  // Whether the token came from a file or a variable, or there is none.
  bool is_local() const { return is_local_; }

  // The token, fetched if necessary; empty if the flow has none. Fails (no_credential) if a JWT is
  // malformed, has expired or is not valid yet, and as the request that fetches it does.
  Result<SecretString> get(CallContext& call) const;

 private:
  Subject(const Options& options, const CredentialRequest& request)
      : options_(options), request_(request) {}

  Status read(Inputs& inputs);
  Status take(Result<SecretString> content, Inputs& inputs);
  Result<SecretString> fetch(CallContext& call) const;

  const Options& options_;
  const CredentialRequest& request_;
  BearerToken token_;
  std::optional<Result<Hub>> hub_;  // of --subject=kubernetes
  bool is_local_ = true;
};

}  // namespace execcred::oidc_federation
