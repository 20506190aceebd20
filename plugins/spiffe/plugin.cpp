// SPDX-License-Identifier: Apache-2.0
// execcred-spiffe: gives the client the identity that a SPIFFE agent issues to this process, as a
// token (JWT-SVID) or as a certificate with its key (X.509-SVID).
//
// The agent stores and renews what it issues, so nothing is cached here. It attests the process
// that connects to its socket, so the plugin makes the connection itself and starts no other
// program.
#include "plugin.hpp"

#include "options.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/spiffe/jwt_svid.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>
#include <execcred/spiffe/x509_svid.hpp>

#include <memory>
#include <utility>

namespace execcred::spiffe {

class Spiffe final : public Provider {
 public:
  void add_options(OptionSet& set) override { spiffe::add_options(set, options_); }

  Status change_options(OptionSet& set, const Settings& /*settings*/) override {
    if (options_.type == SvidType::x509) {
      set.change("audience").unused_from_profile("--type=x509 does not use it");
    }
    return {};
  }

  Status check(const Settings& settings) const override {
    return check_options(options_, settings);
  }

  bool mints_tokens() const override { return options_.type == SvidType::jwt; }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const CallContext& run) override {
    if (options_.socket.empty()) {
      return Error{.kind = Error::Kind::configuration,
                   .message = "the SPIFFE Workload API's socket is not known",
                   .hint = "set SPIFFE_ENDPOINT_SOCKET=unix:///PATH, or pass --socket"};
    }
    WorkloadEndpoint endpoint = TRY(parse_workload_endpoint(options_.socket));
    const WorkloadApi api(std::move(endpoint), run);
    return options_.type == SvidType::jwt ? get_token(api, request, run)
                                          : get_certificate(api, run);
  }

 private:
  Binding own_binding(const GivenOptions& given) const override {
    if (given.value("type") == "jwt") return Provider::own_binding(given);
    return {.kind = Binding::Kind::one_server};
  }

  Result<Credential> get_token(const WorkloadApi& api, const CredentialRequest& request,
                               const CallContext& run) const {
    if (options_.audiences.empty()) {
      return Error{
          .kind = Error::Kind::configuration,
          .message = "a JWT-SVID needs an audience, and none is given",
          .hint = request.info.cluster ? "pass --audience, or set spec.cluster.config.audience and "
                                         "--allow-audience"
                                       : "pass --audience; to take the ClusterProfile's, set "
                                         "provideClusterInfo: true and --allow-audience",
          .cause = request.info.cluster ? cause::kConfigRefused : cause::kClusterInfoMissing};
    }
    JwtSvid svid = TRY(fetch_jwt_svid(api, options_.audiences, options_.choice, run.clock));
    run.debug("got a JWT-SVID of " + in_quotes(svid.spiffe_id));
    Credential credential;
    credential.token = std::move(svid.token);
    credential.expires_at = svid.expires_at;
    return credential;
  }

  Result<Credential> get_certificate(const WorkloadApi& api, const CallContext& run) const {
    X509Svid svid = TRY(fetch_x509_svid(api, options_.choice, run.clock));
    run.debug("got an X.509-SVID of " + in_quotes(svid.spiffe_id));
    TRY(check_common_name(svid));
    Credential credential;
    credential.client_certificate = std::move(svid.pair.chain);
    credential.client_key = std::move(svid.pair.private_key);
    credential.expires_at = svid.pair.not_after;
    return credential;
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
