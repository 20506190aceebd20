// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/kube/kubeconfig.hpp>

#include <array>
#include <utility>

namespace execcred {
namespace {

using AllowedFields = std::set<std::string, std::less<>>;

Error refused(std::string message, std::string hint) {
  return Error{
      .kind = Error::Kind::no_credential, .message = std::move(message), .hint = std::move(hint)};
}

// A field whose value is a path: the file of the reader's that it names would be sent to a server
// that the writer names.
struct PathField {
  std::string KubeconfigUser::*path;
  std::string_view name;
  std::string_view option;
  std::string_view inline_name;
};

constexpr std::array<PathField, 3> kPathFields = {{
    {&KubeconfigUser::client_key, "client-key", "clientKey", "client-key-data"},
    {&KubeconfigUser::client_certificate, "client-certificate", "clientCertificate",
     "client-certificate-data"},
    {&KubeconfigUser::token_file, "tokenFile", "tokenFile", "token"},
}};

Status check_paths(const KubeconfigUser& user, const std::string& subject,
                   const AllowedFields& allowed) {
  for (const PathField& field : kPathFields) {
    if ((user.*field.path).empty() || allowed.contains(field.option)) continue;
    return refused(subject + "a " + std::string(field.name) +
                       " path, which this machine's own files would answer",
                   "store the content itself as " + std::string(field.inline_name) +
                       ", or allow such paths with --allow-field=" + std::string(field.option));
  }
  return {};
}

Status check_user(const KubeconfigUser& user, const AllowedFields& allowed) {
  const std::string subject = "the kubeconfig's user " + in_quotes(user.name) + " has ";
  if (user.has_exec) {
    return refused(subject + "an exec section",
                   "a stored kubeconfig may not run programs; store a token or a client "
                   "certificate, or run that plugin from the mapping itself");
  }
  if (!user.auth_provider.empty() && user.auth_provider != "oidc") {
    return refused(subject + "the auth-provider " + in_quotes(user.auth_provider),
                   "only oidc is safe to read; store a token or a client certificate");
  }
  TRY(check_paths(user, subject, allowed));
  if (!user.impersonation.empty()) {
    return refused(
        subject + "impersonation (" + join(user.impersonation, ", ") + ")",
        "a credential cannot carry it, so the client would act as the user itself, perhaps with "
        "more rights; store a credential of the one that is meant");
  }
  if (user.has_password) {
    return refused(subject + "a username or password",
                   "API servers take no basic authentication; store a token or a client "
                   "certificate");
  }
  if (!user.unknown_fields.empty()) {
    return refused(subject + "the unknown field " + in_quotes(user.unknown_fields.front()),
                   "a field that is not understood is not ignored; remove it");
  }
  return {};
}

Status check_stored_cluster(const KubeconfigCluster& entry, bool allow_insecure) {
  const std::string name = "cluster " + in_quotes(entry.name);
  const std::string subject = "the kubeconfig's " + name + " has ";
  if (!entry.certificate_authority.empty()) {
    return refused(
        subject + "a certificate-authority path, which this machine's own files would answer",
        "put the certificates into certificate-authority-data");
  }
  if (entry.cluster.insecure_skip_tls_verify && !allow_insecure) {
    return refused(subject + "insecure-skip-tls-verify",
                   "put the server's CA into certificate-authority-data, or pass "
                   "--allow-insecure");
  }
  if (entry.cluster.server.empty()) {
    return refused(subject + "no server", "write it as https://HOST[:PORT][/PATH]");
  }
  Status status = check_server_is_https(entry.cluster.server, "the server of the " + name);
  if (!status) status.error().kind = Error::Kind::no_credential;
  return status;
}

}  // namespace

Status Kubeconfig::check_stored(const AllowedFields& allowed_fields, bool allow_insecure) const {
  for (const KubeconfigUser& user : users_) TRY(check_user(user, allowed_fields));
  for (const KubeconfigCluster& cluster : clusters_) {
    TRY(check_stored_cluster(cluster, allow_insecure));
  }
  return {};
}

}  // namespace execcred
