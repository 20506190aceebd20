// SPDX-License-Identifier: Apache-2.0
// The subject token: who we are where this runs, as somebody else has confirmed it.
#pragma once

#include "options.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>

namespace execcred::oidc_federation {

class Subject {
 public:
  // Adds to the key whose token it is. A token that costs nothing to read (a file, a variable) is
  // read, and its issuer, subject and audiences are its identity; any other counts by where it
  // comes from, and is not fetched. `options` and `run` must outlive the subject.
  static Result<Subject> open(const Options& options, const CallContext& run, CacheKey& key);

  // It came from a file or a variable, or there is none.
  bool is_local() const { return is_local_; }

  // The token, fetched if it must be; empty where the flow has none. Fails (no_credential) for a
  // JWT that is malformed, has ended or has not begun; where it is fetched, as that does.
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
