// SPDX-License-Identifier: Apache-2.0
// The subject token: the identity of this process, confirmed by another issuer.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>

namespace execcred::oidc_federation {

class Subject {
 public:
  // Adds the token's identity to the key. A token in a file or variable is read, and its issuer,
  // subject and audiences are its identity; any other token is identified by its source, and is not
  // fetched. `options` and `run` must outlive the subject.
  static Result<Subject> open(const Options& options, const CallContext& run, CacheKey& key);

  // Whether the token came from a file or a variable, or there is none.
  bool is_local() const { return is_local_; }

  // The token, fetched if necessary; empty if the flow has none. Fails (no_credential) if a JWT is
  // malformed, has expired or is not valid yet, and as the request that fetches it does.
  Result<SecretString> get(CallContext& call) const;

 private:
  Subject(const Options& options, const CallContext& run) : options_(options), run_(run) {}

  Status identify(CacheKey& key);
  Status identify_local(Result<SecretString> content, CacheKey& key);
  Result<SecretString> fetch(CallContext& call) const;

  const Options& options_;
  const CallContext& run_;
  SecretString token_;
  bool is_local_ = true;
};

}  // namespace execcred::oidc_federation
