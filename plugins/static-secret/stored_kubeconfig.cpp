// SPDX-License-Identifier: Apache-2.0
#include "stored_credential.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>

#include <utility>

namespace execcred::static_secret {
namespace {

// A path is read only if --allow-field allowed it.
Result<SecretString> data_or_file(std::string_view data, const std::string& path,
                                  std::string_view field) {
  if (data.empty())
    return path.empty() ? Result<SecretString>(SecretString()) : read_secret_file(path);
  std::optional<std::string> decoded = decode_base64(data);
  if (!decoded)
    return Error::no_credential("the stored kubeconfig's " + std::string(field) + " is no base64");
  SecretString text(*decoded);
  wipe(*decoded);
  return text;
}

Status add_id_token(const KubeconfigUser& user, TimePoint now, Credential& credential) {
  Status added = add_token(user.oidc_id_token, now, credential);
  if (!added) {
    added.error().hint = "execcred-oidc-federation gets new ones where a stored one has ended";
  }
  return std::move(added).context("taking the id-token of user " + in_quotes(user.name) +
                                  ", whose auth-provider is oidc");
}

Status add_user_token(const KubeconfigUser& user, TimePoint now, Credential& credential) {
  const KubeconfigToken token = TRY(read_token(user, false));
  if (!token.text.empty()) return add_token(token.text, now, credential);
  if (!user.oidc_id_token.empty()) return add_id_token(user, now, credential);
  return {};
}

Status add_user_pair(const KubeconfigUser& user, TimePoint now, Credential& credential) {
  const SecretString certificates = TRY(data_or_file(
      user.client_certificate_data, user.client_certificate, "client-certificate-data"));
  const SecretString key =
      TRY(data_or_file(user.client_key_data.reveal(), user.client_key, "client-key-data"));
  if (certificates.empty() && key.empty()) return {};
  return add_certificate(certificates.reveal(), key, now, credential);
}

Status add_user(const KubeconfigUser& user, const Options& options, TimePoint now,
                Credential& credential) {
  TRY(add_user_token(user, now, credential));
  if (credential.token.empty() || options.both) TRY(add_user_pair(user, now, credential));
  if (!credential.token.empty() || !credential.client_certificate.empty()) return {};
  return Error::no_credential(
      "user " + in_quotes(user.name) +
          " of the stored kubeconfig has neither a token nor a client certificate",
      user.auth_provider.empty()
          ? ""
          : "its auth-provider has no id-token; execcred-oidc-federation gets one");
}

}  // namespace

Result<StoredCredential> read_stored_kubeconfig(std::string_view text, const Options& options,
                                                TimePoint now,
                                                const std::filesystem::path& folder) {
  Kubeconfig config = TRY(Kubeconfig::parse(text));
  if (!folder.empty()) config.resolve_paths(folder);
  const std::set<std::string, std::less<>> allowed(options.allow_fields.begin(),
                                                   options.allow_fields.end());
  TRY(config.check_stored(allowed, options.allow_insecure));
  const KubeconfigContext context = TRY(config.context(options.context));
  StoredCredential stored;
  TRY(add_user(context.user, options, now, stored.credential));
  const Cluster& cluster = context.cluster.cluster;
  StoredServer server{.server = cluster.server,
                      .tls_server_name = cluster.tls_server_name,
                      .is_insecure = cluster.insecure_skip_tls_verify,
                      .origin = "the stored kubeconfig"};
  const std::string& authority = cluster.certificate_authority_data;
  if (!authority.empty()) {
    std::optional<std::string> pem = decode_base64(authority);
    if (!pem)
      return Error::no_credential(
          "the stored kubeconfig's certificate-authority-data is no base64");
    server.certificate_authority = *std::move(pem);
  }
  stored.servers.push_back(std::move(server));
  stored.is_self_contained = true;
  return stored;
}

}  // namespace execcred::static_secret
