// SPDX-License-Identifier: Apache-2.0
#include "token_request.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/hub/service_account_token.hpp>
#include <execcred/os/deadline.hpp>

#include <string>
#include <utility>

namespace execcred::bootstrap {
namespace {

Status check_token(const ServiceAccountToken& token, const std::string& subject, TimePoint now) {
  if (token.claims.subject != subject) {
    return Error::no_credential(
        "the cluster's token is of " +
        (token.claims.subject.empty() ? "nobody" : in_quotes(token.claims.subject)) + ", not of " +
        in_quotes(subject));
  }
  TRY(check_lifetime(token.claims, now));
  if (!token.expires_at || *token.expires_at > now) return {};
  return Error::no_credential(
      "the cluster's token has ended, at " +
      format_rfc3339(std::chrono::floor<std::chrono::seconds>(*token.expires_at)));
}

}  // namespace

Result<Issued> request_token(const Options& options, HubClient& cluster, const CallContext& call) {
  deadline::enter_phase("asking the cluster for a service account's token");
  const std::string& account = options.service_account;
  const std::size_t slash = account.find('/');
  const ServiceAccountTokenRequest request{.name_space = account.substr(0, slash),
                                           .name = account.substr(slash + 1),
                                           .audiences = options.audiences,
                                           .lifetime = options.lifetime};
  call.debug("asking the cluster for a token of " + in_quotes(account));
  ServiceAccountToken token = TRY(request_service_account_token(cluster, request));
  const std::string subject = "system:serviceaccount:" + request.name_space + ":" + request.name;
  TRY(check_token(token, subject, call.clock.now()));
  Issued fresh{.identity = subject, .target = cluster.hub().server};
  fresh.credential.token = std::move(token.token);
  fresh.credential.expires_at = token.expires_at;
  return fresh;
}

}  // namespace execcred::bootstrap
