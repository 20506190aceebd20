// SPDX-License-Identifier: Apache-2.0
#include "binding.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/exec/jwt.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace execcred::static_secret {
namespace {

constexpr std::string_view kServiceAccountToken = "kubernetes.io/service-account-token";
constexpr std::string_view kServiceAccountSubject = "system:serviceaccount:";
// Of the tokens in Secrets of that type, at every cluster.
constexpr std::string_view kLegacyIssuer = "kubernetes/serviceaccount";
constexpr std::string_view kAuthority = "spec.cluster.certificate-authority-data";

Error refused(std::string message, std::string hint) {
  return Error::by_rule(cause::kServerNotAllowed, std::move(message), std::move(hint));
}

// A refusal for which what is stored, or what is known of the hub, may be at fault.
Error uncertain(Error refusal) {
  refusal.is_by_rule = false;
  return refusal;
}

bool is_same(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port && a.path == b.path &&
         a.query == b.query;
}

bool is_same_server(std::string_view a, std::string_view b) {
  const auto without_slash = [](std::string_view text) {
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
  };
  const Result<Url> first = parse_url(without_slash(a));
  const Result<Url> second = parse_url(without_slash(b));
  return first && second && is_same(*first, *second);
}

bool is_allowed_mismatch(const Options& options, std::string_view server) {
  const Result<Url> url = parse_url(server);
  return url &&
         std::any_of(options.allow_server_mismatch.begin(), options.allow_server_mismatch.end(),
                     [&url](const UrlPattern& pattern) { return pattern.matches(*url); });
}

Result<std::vector<std::string>> certificates_of(std::string_view pem, const std::string& whose) {
  Result<std::vector<std::string>> certificates = parse_pem_certificates(pem);
  if (certificates) {
    std::sort(certificates->begin(), certificates->end());
    certificates->erase(std::unique(certificates->begin(), certificates->end()),
                        certificates->end());
    return certificates;
  }
  return refused("the CA of " + whose + " " + certificates.error().message,
                 "it must be certificates in PEM");
}

// Every CA certificate that the client would trust must be among the stored ones. The stored object
// may have more: in a rotation it gets the new CA before the ClusterProfile does.
Status check_authority(const StoredServer& stored, const Cluster& cluster) {
  if (stored.certificate_authority.empty()) return {};
  const std::string hint = "the ClusterProfile must carry the CA of " + stored.origin;
  if (cluster.certificate_authority_data.empty()) {
    return refused(std::string(kAuthority) + " is missing, and " + stored.origin + " has a CA",
                   hint);
  }
  const std::optional<std::string> pem = decode_base64(cluster.certificate_authority_data);
  if (!pem) return refused(std::string(kAuthority) + " is no base64", hint);
  const Result<std::vector<std::string>> wanted =
      certificates_of(stored.certificate_authority, stored.origin);
  if (!wanted) return uncertain(wanted.error());
  const std::vector<std::string> given = TRY(certificates_of(*pem, std::string(kAuthority)));
  if (std::includes(wanted->begin(), wanted->end(), given.begin(), given.end())) return {};
  return refused(
      std::string(kAuthority) + " holds a certificate that is not the CA of " + stored.origin,
      hint);
}

// For a server that trusts the system's CAs, and no others.
Status refuse_authority(const StoredServer& server, const Cluster& cluster, std::string hint) {
  const std::optional<std::string> pem = decode_base64(cluster.certificate_authority_data);
  if (pem && pem->empty()) return {};
  return refused(std::string(kAuthority) + " is set, and " + server.origin +
                     " has no CA, so it trusts the system's",
                 std::move(hint));
}

// A stored kubeconfig without a CA trusts the system's CAs, and no others.
Status check_no_authority(const StoredCredential& stored, const Options& options,
                          const Cluster& cluster) {
  const bool says_otherwise =
      std::any_of(stored.servers.begin(), stored.servers.end(), [](const StoredServer& server) {
        return server.is_insecure || !server.certificate_authority.empty();
      });
  if (!stored.is_self_contained || says_otherwise || options.allow_profile_ca) return {};
  const StoredServer& server = stored.servers.front();
  // An allowed proxy has a CA of its own.
  if (!is_same_server(server.server, cluster.server)) return {};
  return refuse_authority(server, cluster,
                          "store the cluster's CA with the credential; --allow-profile-ca takes "
                          "the ClusterProfile's");
}

// The host that the certificate is verified for must be the one that the credential is stored for.
Status check_tls_server_name(const StoredServer& stored, const Cluster& cluster) {
  const std::string& wanted = stored.tls_server_name;
  const std::string& given = cluster.tls_server_name;
  if (stored.is_insecure || cluster.insecure_skip_tls_verify) return {};
  if (is_same_verified_host(cluster.server, wanted, given)) return {};
  const std::string problem =
      given.empty()    ? "is missing, and " + stored.origin + " has " + in_quotes(wanted)
      : wanted.empty() ? in_quotes(given) + " is not the server's own host name, and " +
                             stored.origin + " has none"
                       : in_quotes(given) + " is not " + in_quotes(wanted) + " of " + stored.origin;
  return refused("spec.cluster.tls-server-name " + problem,
                 "the ClusterProfile must carry the tls-server-name that is stored with the "
                 "credential; without one it is the server's own host");
}

Status check_server(const StoredServer& stored, const Options& options, const Cluster& cluster) {
  if (is_same_server(stored.server, cluster.server)) {
    TRY(check_authority(stored, cluster));
    return check_tls_server_name(stored, cluster);
  }
  if (is_allowed_mismatch(options, cluster.server)) return {};
  return refused("the credential is stored for " + redacted_url(stored.server) + " (" +
                     stored.origin + "), not for " + redacted_url(cluster.server),
                 "a ClusterProfile may not send it elsewhere; --allow-server-mismatch=PATTERN "
                 "allows a proxy in front of the cluster");
}

// Each audience of a token is a server that accepts it. A token without an audience is valid at all
// servers.
bool have_common_audience(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::set<std::string_view> others(b.begin(), b.end());
  return a.empty() || b.empty() ||
         std::any_of(a.begin(), a.end(),
                     [&others](const std::string& audience) { return others.contains(audience); });
}

std::optional<UnverifiedClaims> claims_of(const SecretString& token) {
  Result<std::optional<UnverifiedClaims>> claims = unverified_claims(token);
  return claims ? *std::move(claims) : std::nullopt;
}

bool is_service_account(const UnverifiedClaims& claims) {
  return claims.subject.starts_with(kServiceAccountSubject);
}

// A hub signs both kinds of its service accounts' tokens with one key; only their issuers differ.
bool have_same_issuer(const UnverifiedClaims& a, const UnverifiedClaims& b) {
  if (a.issuer == b.issuer) return true;
  const bool is_one_legacy = a.issuer == kLegacyIssuer || b.issuer == kLegacyIssuer;
  return is_one_legacy && is_service_account(a) && is_service_account(b);
}

enum class Issuer { hub, another, unknown };

// Whether the hub at which `own` is valid has issued the stored token.
Issuer issuer_of(const SecretString& stored, const SecretString& own) {
  if (own.reveal() == stored.reveal()) return Issuer::hub;
  const std::optional<UnverifiedClaims> a = claims_of(own);
  const std::optional<UnverifiedClaims> b = claims_of(stored);
  if (!b) return Issuer::another;
  // Only another service account's token shows the hub's issuer and key.
  if (is_service_account(*b) && (!a || !is_service_account(*a))) return Issuer::unknown;
  if (!a || !have_same_issuer(*a, *b)) return Issuer::another;
  // Old ones have no key ID.
  const bool is_old = b->issuer == kLegacyIssuer && b->key_id.empty();
  if (is_old && !a->key_id.empty()) return Issuer::unknown;
  // Clusters of kubeadm share issuer and audience, so the key distinguishes them.
  const bool is_same = a->key_id == b->key_id && have_common_audience(a->audiences, b->audiences);
  return is_same ? Issuer::hub : Issuer::another;
}

// The hub's URL alone does not make the hub: the ClusterProfile's CA, TLS server name and proxy
// lead to another machine.
Status check_is_hub(const StoredServer& hub, const Options& options,
                    const CredentialRequest& request) {
  const Cluster& cluster = *request.info.cluster;
  // Without a CA, the client trusts those of the system, which the ClusterProfile does not choose.
  if (!cluster.certificate_authority_data.empty() && !options.allow_profile_ca) {
    const bool has_authority = !hub.certificate_authority.empty();
    Status checked =
        has_authority
            ? check_authority(hub, cluster)
            : refuse_authority(hub, cluster, "--allow-profile-ca takes the ClusterProfile's CA");
    if (!checked && !has_authority) return uncertain(std::move(checked).error());
    TRY(std::move(checked));
  }
  TRY(check_tls_server_name(hub, cluster));
  return check_connection(request.rules, cluster, "a token of the hub", options.allow_insecure);
}

}  // namespace

Status check_servers(const StoredCredential& stored, const Options& options,
                     const CredentialRequest& request) {
  if (stored.servers.empty()) return {};
  if (!request.info.cluster)
    return missing_cluster_info("a credential that is stored for a server");
  for (const StoredServer& server : stored.servers) {
    TRY(check_server(server, options, *request.info.cluster));
  }
  TRY(check_no_authority(stored, options, *request.info.cluster));
  return check_connection(request.rules, *request.info.cluster,
                          "a credential that is stored for a server", options.allow_insecure);
}

Status add_annotated_server(const StoredSecret& secret, const Options& options,
                            StoredCredential& stored) {
  if (options.server_annotation.empty()) return {};
  const auto found = secret.annotations.find(options.server_annotation);
  if (found == secret.annotations.end()) {
    return uncertain(
        refused("Secret " + in_quotes(secret.full_name()) + " has no annotation " +
                    in_quotes(options.server_annotation),
                "--server-annotation demands it, with the cluster's server as its value"));
  }
  std::string authority;
  if (options.what() == Format::token) {
    authority = TRY(authority_beside(secret));
  }
  // The annotation has no TLS server name of its own.
  const StoredServer beside = stored.servers.empty() ? StoredServer{} : stored.servers.front();
  stored.servers.push_back({.server = std::string(trim(found->second)),
                            .certificate_authority = std::move(authority),
                            .tls_server_name = beside.tls_server_name,
                            .is_insecure = beside.is_insecure,
                            .origin = "the Secret's annotation " + options.server_annotation});
  return {};
}

Status check_verified(const StoredCredential& stored, const Options& options,
                      const CredentialRequest& request) {
  const bool is_insecure = request.info.cluster && request.info.cluster->insecure_skip_tls_verify;
  if (!is_insecure || options.allow_insecure || stored.credential.token.empty()) return {};
  return refused(
      "spec.cluster.insecure-skip-tls-verify is set, so another machine could receive the token",
      "give the ClusterProfile the cluster's CA; --allow-insecure allows it anyway");
}

Status check_hub_token(const StoredCredential& stored, const std::vector<HubIdentity>& own,
                       const Options& options, const CredentialRequest& request) {
  const SecretString& token = stored.credential.token;
  if (token.empty()) return {};
  bool is_of_hub = false;
  bool is_known = false;
  for (const HubIdentity& identity : own) {
    const Issuer issuer = issuer_of(token, identity.token);
    if (issuer == Issuer::another) continue;
    if (issuer == Issuer::unknown && !identity.is_source) continue;
    const auto& cluster = request.info.cluster;
    if (cluster && is_same_server(cluster->server, identity.server.server)) {
      TRY(check_is_hub(identity.server, options, request));
      continue;
    }
    is_of_hub = true;
    is_known |= issuer == Issuer::hub;
  }
  if (!is_of_hub) return {};
  Error error = refused(
      is_known ? "the stored token is one of the hub's own, and would be sent to another server"
               : "the stored token may be one of the hub's own: it is a service account's, and the "
                 "plugin's own identity there is none that it can be compared with",
      !request.info.cluster
          ? "set provideClusterInfo: true, to tell whether the server is the hub; "
            "--allow-hub-token allows it in any case"
      : is_known ? "store a token of the cluster itself; --allow-hub-token allows it"
                 : "if it is the cluster's, --allow-hub-token allows it; or give the plugin a "
                   "service account's token for the hub");
  if (!request.info.cluster) error.cause = cause::kClusterInfoMissing;
  return is_known && request.info.cluster ? error : uncertain(std::move(error));
}

Status check_secret_type(const StoredSecret& secret, const Options& options) {
  const bool is_asked_for = options.convention.name == "service-account-token";
  if (is_asked_for || options.allow_hub_token || secret.type != kServiceAccountToken) return {};
  return refused("Secret " + in_quotes(secret.full_name()) + " is of type " +
                     std::string(kServiceAccountToken) + ", a token of the hub itself",
                 "--convention=service-account-token reads such Secrets where the hub is the "
                 "cluster that is meant");
}

}  // namespace execcred::static_secret
