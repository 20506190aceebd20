// SPDX-License-Identifier: Apache-2.0
// Gets the credential for the subject token, by the flow of the options.
#pragma once

#include "options.hpp"
#include "subject.hpp"
#include "token_server.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/exec/provider.hpp>

#include <optional>
#include <string>
#include <utility>

namespace execcred::oidc_federation {

class FlowRun {
 public:
  // `options` and `request` must outlive the run.
  FlowRun(const Options& options, const CredentialRequest& request, Subject subject,
          ClientFiles files)
      : options_(options),
        request_(request),
        subject_(std::move(subject)),
        files_(std::move(files)) {}

  // Makes one call of the provider, by the flow of the options.
  Result<Issued> obtain(CallContext& call) const;

 private:
  Result<Credential> pass_on(CallContext& call) const;
  Result<Credential> exchange(CallContext& call) const;
  Result<TokenReply> refresh(TokenServer& server, const SecretString& original,
                             const std::optional<CacheDirectory>& directory,
                             CallContext& call) const;
  Result<Credential> get(CallContext& call) const;
  const std::string& server_url() const;

  const Options& options_;
  const CredentialRequest& request_;
  Subject subject_;
  ClientFiles files_;
};

}  // namespace execcred::oidc_federation
