// SPDX-License-Identifier: Apache-2.0
// The options of execcred-bootstrap.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/settings.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace execcred::bootstrap {

// The kind of credential that the cluster is asked for.
enum class Via {
  token_request,  // a token of one of its service accounts
  csr,            // a client certificate
};

struct Options {
  Via via = Via::token_request;
  InnerCommand credential = {};  // the inner plugin
  Duration lifetime = std::chrono::hours(1);

  std::string service_account = {};  // NAMESPACE/NAME
  std::vector<std::string> audiences = {};

  std::string user = {};
  std::vector<std::string> groups = {};
  std::string signer = "kubernetes.io/kube-apiserver-client";
  std::string key_type = "ecdsa-p256";

  CacheOptions cache = {};
};

void add_options(OptionSet& set, Options& options);

// Fails (configuration) if an option that --via needs is missing.
Status check_options(const Options& options, const Settings& settings);

}  // namespace execcred::bootstrap
