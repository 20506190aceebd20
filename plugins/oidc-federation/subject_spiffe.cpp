// SPDX-License-Identifier: Apache-2.0
#include "subject_spiffe.hpp"

#include "subject_url.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/workload_api.hpp>

#include <utility>

namespace execcred::oidc_federation {
Result<SecretString> fetch_spiffe(const Options& options, const CallContext& call) {
  const SpiffeOptions& spiffe = options.subject.spiffe;
  if (spiffe.socket.empty()) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "--subject=spiffe needs the Workload API's socket",
                 .hint = "set SPIFFE_ENDPOINT_SOCKET=unix:///PATH, or pass --socket"};
  }
  WorkloadEndpoint endpoint = TRY(parse_workload_endpoint(spiffe.socket));
  const WorkloadApi api(std::move(endpoint), call);
  JwtSvid svid = TRY(fetch_jwt_svid(api, {subject_audience(options)}, spiffe.choice, call.clock));
  call.debug("got a JWT-SVID of " + in_quotes(svid.spiffe_id));
  return std::move(svid.token);
}

}  // namespace execcred::oidc_federation
