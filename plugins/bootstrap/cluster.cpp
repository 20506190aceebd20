// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>

#include <optional>
#include <string>
#include <utility>

namespace execcred::bootstrap {
namespace {

// PEM with at least one certificate: without one, the system's CAs would be used.
Result<std::string> authority_of(const Cluster& cluster) {
  const std::string field = "spec.cluster.certificate-authority-data ";
  const std::string hint =
      "the bootstrap credential is sent to the cluster, whose CA must be known";
  if (cluster.certificate_authority_data.empty())
    return Error::configuration(field + "is missing", hint);
  std::optional<std::string> pem = decode_base64(cluster.certificate_authority_data);
  if (!pem) return Error::configuration(field + "is no base64", hint);
  const auto certificates = parse_pem_certificates(*pem);
  if (!certificates) return Error::configuration(field + certificates.error().message, hint);
  return *std::move(pem);
}

}  // namespace

Status check_can_be_asked(const Cluster& cluster) {
  if (cluster.insecure_skip_tls_verify) {
    return Error::configuration(
        "spec.cluster.insecure-skip-tls-verify is set",
        "the bootstrap credential is sent to the cluster, whose certificate must be "
        "verified");
  }
  TRY(authority_of(cluster));
  const Result<Url> url = parse_url(cluster.server);
  if (!url || url->query.empty()) return {};
  return Error::configuration(
      "spec.cluster.server " + redacted_url(cluster.server) + " has a query",
      "it must be https://HOST[:PORT][/PATH]");
}

Result<HubClient> open_cluster(const CredentialRequest& request, const Credential& bootstrap,
                               std::string origin, const CallContext& call) {
  const Cluster& cluster = *request.info.cluster;
  Hub hub{.server = cluster.server, .token = bootstrap.token.copy()};
  while (hub.server.ends_with('/')) hub.server.pop_back();
  hub.origin = std::move(origin);
  hub.noun = "the cluster";
  hub.http.tls.ca_certificates = TRY(authority_of(cluster));
  hub.http.tls.server_name = cluster.tls_server_name;
  hub.http.tls.client_certificate = bootstrap.client_certificate;
  hub.http.tls.client_key = bootstrap.client_key.copy();
  if (!cluster.proxy_url.empty()) hub.http.proxy = {.url = cluster.proxy_url};
  hub.http.deadline = call.deadline;
  return HubClient(std::move(hub), call);
}

}  // namespace execcred::bootstrap
