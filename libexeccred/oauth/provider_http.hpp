// SPDX-License-Identifier: Apache-2.0
// HTTP within one call of a provider: ends by the call's deadline, is tried again only as far as
// the cache allows it, and tells the cache how long a failing server wants to be left alone and
// whether a token was spent.
#pragma once

#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>

#include <memory>

namespace execcred {

struct ProviderHttp {
  std::unique_ptr<HttpClient> client;
  RetryPolicy policy;
};

// `services` and `call` must outlive what is returned.
ProviderHttp provider_http(HttpSettings settings, const Services& services, ProviderCall& call);

// The policy alone, for a client that is made elsewhere.
RetryPolicy provider_policy(const Services& services, const ProviderCall& call);

}  // namespace execcred
