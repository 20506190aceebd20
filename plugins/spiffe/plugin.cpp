// SPDX-License-Identifier: Apache-2.0
// execcred-spiffe: gives the client the identity that a SPIFFE agent issues to this process, as a
// token (JWT-SVID) or as a certificate with its key (X.509-SVID).
//
// The agent stores and renews what it issues, so nothing is cached here. It attests the process
// that connects to its socket, so the plugin makes the connection itself and starts no other
// program.
#include "options.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>
#include <execcred/spiffe/x509_svid.hpp>

#include <memory>
#include <utility>

namespace execcred::spiffe {

class Spiffe final : public Provider {
 public:
  void add_options(OptionSet& set) override { spiffe::add_options(set, options_); }

  Result<Plan> plan(const Settings& /*settings*/, Inputs& inputs) const override {
    if (options_.socket.empty()) {
      return Error::configuration("the SPIFFE Workload API's socket is not known",
                                  "set SPIFFE_ENDPOINT_SOCKET=unix:///PATH, or pass --socket");
    }
    const bool is_jwt = options_.type == SvidType::jwt;
    if (is_jwt && options_.audiences.empty()) return no_audience(inputs.request());
    WorkloadEndpoint endpoint = TRY(parse_workload_endpoint(options_.socket));
    return Plan{.ask = [this, is_jwt, endpoint](CallContext& call) {
      const WorkloadApi api(endpoint, call);
      return is_jwt ? get_token(api, call) : get_certificate(api, call);
    }};
  }

 private:
  Binding bind(const Settings& settings) const override {
    const bool is_token = settings.is_given("type") && options_.type == SvidType::jwt;
    return is_token ? Provider::bind(settings) : Binding{.kind = Binding::Kind::one_server};
  }

  static Error no_audience(const CredentialRequest& request) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "a JWT-SVID needs an audience, and none is given",
                 .hint = request.info.cluster
                             ? "pass --audience, or set spec.cluster.config.audience and "
                               "--allow-audience"
                             : "pass --audience; to take the ClusterProfile's, set "
                               "provideClusterInfo: true and --allow-audience",
                 .cause = request.info.cluster ? std::string_view() : cause::kClusterInfoMissing};
  }

  Result<Issued> get_token(const WorkloadApi& api, const CallContext& call) const {
    JwtSvid svid = TRY(fetch_jwt_svid(api, options_.audiences, options_.choice, call.clock));
    call.debug("got a JWT-SVID of " + in_quotes(svid.spiffe_id));
    return Issued{.credential = {.token = std::move(svid.token), .expires_at = svid.expires_at},
                  .identity = svid.spiffe_id};
  }

  Result<Issued> get_certificate(const WorkloadApi& api, const CallContext& call) const {
    X509Svid svid = TRY(fetch_x509_svid(api, options_.choice, call.clock));
    call.debug("got an X.509-SVID of " + in_quotes(svid.spiffe_id));
    TRY(check_common_name(svid));
    return Issued{.credential = {.client_certificate = std::move(svid.pair.chain),
                                 .client_key = std::move(svid.pair.private_key),
                                 .expires_at = svid.pair.not_after},
                  .identity = svid.spiffe_id};
  }

  // The API server reads the user's name from the common name, and ignores the SPIFFE ID.
  Status check_common_name(const X509Svid& svid) const {
    if (!svid.common_name.empty() || options_.allow_empty_cn) return {};
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the X.509-SVID of " + in_quotes(svid.spiffe_id) +
                            " has no common name, which the API server takes the user's name from",
                 .hint =
                     "SPIRE sets it to the first DNS name of the entry (-dns); "
                     "--allow-empty-cn gives the certificate anyway"};
  }

  Options options_;
};

PluginDefinition plugin() {
  return {.info = {.name = "execcred-spiffe",
                   .summary =
                       "Gives the client the identity that a SPIFFE agent issues to this process.",
                   .examples = {{{"Print a JWT-SVID of the agent in SPIFFE_ENDPOINT_SOCKET",
                                  "execcred-spiffe --type=jwt --audience=kubernetes"},
                                 {"Print an X.509-SVID of it, which has no common name",
                                  "execcred-spiffe --type=x509 --allow-empty-cn"}}}},
          .make = [] { return std::unique_ptr<Provider>(std::make_unique<Spiffe>()); }};
}

}  // namespace execcred::spiffe
