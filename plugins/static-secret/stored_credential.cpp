// SPDX-License-Identifier: Apache-2.0
#include "stored_credential.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/os/file.hpp>
#include <execcred/x509/certificate.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace execcred::static_secret {
namespace {

constexpr std::size_t kMostKeysNamed = 8;

// Keys of Rancher Fleet, beside a kubeconfig.
constexpr std::string_view kFleetServer = "apiServerURL";
constexpr std::string_view kFleetAuthority = "apiServerCA";
// The CA of a ServiceAccount's token, and Karmada's. Beside tls.crt, it would be the CA of the
// client certificate.
constexpr std::array<std::string_view, 2> kAuthorities = {"ca.crt", "caBundle"};
constexpr std::string_view kCertificate = "tls.crt";
constexpr std::string_view kPrivateKey = "tls.key";

std::string called(const StoredSecret& secret, const Plan& plan) {
  return plan.secret_dir.empty() ? "Secret " + in_quotes(secret.full_name())
                                 : "the mounted Secret " + in_quotes(plan.secret_dir);
}

Result<SecretString> required(const StoredSecret& secret, const Plan& plan, std::string_view key) {
  std::optional<SecretString> value = TRY(secret.value(key));
  if (value && !value->trimmed().empty()) return *std::move(value);
  if (value) return missing("key " + in_quotes(key) + " of " + called(secret, plan) + " is empty");
  // Only the requested keys of a directory have been read.
  if (secret.is_decoded) {
    return missing(called(secret, plan) + " has no key " + in_quotes(key),
                   "check --key, and which Secret is mounted there");
  }
  std::vector<std::string> names;
  for (const auto& [name, ignored] : secret.data) {
    if (names.size() < kMostKeysNamed) names.push_back(in_quotes(name));
  }
  return missing(called(secret, plan) + " has no key " + in_quotes(key),
                 names.empty() ? "it is empty" : "its keys are " + join(names, ", "));
}

Result<std::string> optional_text(const StoredSecret& secret, std::string_view key) {
  const std::optional<SecretString> value = TRY(secret.value(key));
  return value ? std::string(trim(value->reveal())) : std::string();
}

Status add_stored_pair(const StoredSecret& secret, const Plan& plan, TimePoint now,
                       Credential& credential) {
  const SecretString certificates = TRY(required(secret, plan, kCertificate));
  const SecretString key = TRY(required(secret, plan, kPrivateKey));
  return add_certificate(certificates.reveal(), key, now, credential);
}

Result<StoredCredential> read_token(const StoredSecret& secret, const Plan& plan,
                                    const Options& options, TimePoint now) {
  StoredCredential stored;
  const SecretString content = TRY(required(secret, plan, plan.key));
  TRY(add_token(content, now, stored.credential));
  if (options.both && secret.has(kCertificate) && secret.has(kPrivateKey)) {
    TRY(add_stored_pair(secret, plan, now, stored.credential));
  }
  return stored;
}

Result<StoredCredential> read_kubeconfig(const StoredSecret& secret, const Plan& plan,
                                         const Options& options, TimePoint now) {
  const SecretString text = TRY(required(secret, plan, plan.key));
  StoredCredential stored = TRY(read_stored_kubeconfig(text.reveal(), options, now));
  std::string server = TRY(optional_text(secret, kFleetServer));
  std::string authority = TRY(optional_text(secret, kFleetAuthority));
  if (server.empty() && authority.empty()) return stored;
  const std::string_view name = server.empty() ? kFleetAuthority : kFleetServer;
  const StoredServer& kubeconfig = stored.servers.front();
  if (server.empty()) server = kubeconfig.server;
  stored.servers.push_back({.server = std::move(server),
                            .certificate_authority = std::move(authority),
                            .tls_server_name = kubeconfig.tls_server_name,
                            .is_insecure = kubeconfig.is_insecure,
                            .origin = "the Secret's " + std::string(name)});
  return stored;
}

Result<StoredCredential> read_certificate(const StoredSecret& secret, const Plan& plan,
                                          TimePoint now) {
  StoredCredential stored;
  TRY(add_stored_pair(secret, plan, now, stored.credential));
  return stored;
}

Result<StoredCredential> read_cluster(const StoredSecret& secret, const Plan& plan,
                                      const Options& options, TimePoint now) {
  const SecretString server = TRY(required(secret, plan, "server"));
  const SecretString config = TRY(required(secret, plan, plan.key));
  return read_argocd(trim(server.reveal()), config, options, now);
}

Result<StoredCredential> read_format(const StoredSecret& secret, const Plan& plan,
                                     const Options& options, TimePoint now) {
  switch (plan.format) {
    case Format::token:
      return read_token(secret, plan, options, now);
    case Format::kubeconfig:
      return read_kubeconfig(secret, plan, options, now);
    case Format::certificate:
      return read_certificate(secret, plan, now);
    case Format::argocd:
      return read_cluster(secret, plan, options, now);
  }
  return Error{};
}

}  // namespace

Error missing(std::string message, std::string hint) {
  Error error = Error::no_credential(std::move(message), std::move(hint));
  error.cause = cause::kSourceMissing;
  return error;
}

Status add_token(const SecretString& content, TimePoint now, Credential& credential) {
  if (content.size() > kMaxSecretFile)
    return Error::no_credential("the token is larger than 128 KiB");
  BearerToken token = TRY(bearer_token_of_source(content));
  const std::optional<UnverifiedClaims> claims = TRY(token.claims());
  credential.token = std::move(token).take();
  return of_source(check_token(claims, now, credential));
}

Status add_certificate(std::string_view certificates, const SecretString& key, TimePoint now,
                       Credential& credential) {
  ClientCertificate checked = TRY(check_client_certificate(certificates, key, now));
  credential.client_certificate = std::move(checked.chain);
  credential.client_key = std::move(checked.private_key);
  credential.expires_at =
      std::min(checked.not_after, credential.expires_at.value_or(checked.not_after));
  return {};
}

Result<std::string> authority_beside(const StoredSecret& secret) {
  std::string authorities;
  for (const std::string_view name : kAuthorities) {
    const std::string authority = TRY(optional_text(secret, name));
    if (!authority.empty()) authorities += authority + "\n";
  }
  return authorities;
}

std::vector<std::string> keys_of(const Options& options, const Plan& plan) {
  switch (plan.format) {
    case Format::token:
      if (options.both) return {plan.key, std::string(kCertificate), std::string(kPrivateKey)};
      return {plan.key};
    case Format::kubeconfig:
      return {plan.key, std::string(kFleetServer), std::string(kFleetAuthority)};
    case Format::certificate:
      return {std::string(kCertificate), std::string(kPrivateKey)};
    case Format::argocd:
      return {plan.key, "server"};
  }
  return {};
}

Result<StoredCredential> read_stored(const StoredSecret& secret, const Plan& plan,
                                     const Options& options, TimePoint now) {
  const std::string key =
      plan.format == Format::certificate ? std::string() : "key " + in_quotes(plan.key) + " of ";
  return read_format(secret, plan, options, now).context("reading " + key + called(secret, plan));
}

}  // namespace execcred::static_secret
