// SPDX-License-Identifier: Apache-2.0
// The forms of a credential for programs: the files of a folder, and the values of Secrets.
#pragma once

#include <execcred/base/secret.hpp>
#include <execcred/kube/access.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::sync {

// The values by their keys, not in base64.
using Contents = std::map<std::string, SecretString, std::less<>>;

// A credential, and the cluster that it is for.
struct Issue {
  const Access& access;
  std::string name_space;  // of the ClusterProfile
  std::string name;
  const Credential& credential;
  std::chrono::sys_seconds issued = {};
  std::optional<std::chrono::sys_seconds> expires = {};  // the end of the credential itself
  std::optional<std::chrono::sys_seconds> claimed = {};  // the end that the plugin claims, if known

  std::string cluster() const { return name_space + "/" + name; }
};

// The files of a cluster's folder: token, or tls.crt and tls.key; ca.crt, server, expiration; and a
// kubeconfig that names the files beside it.
Contents folder_contents(const Issue& issue);

// Formats of Secrets, as --to-secret names them.
enum class SecretFormat { kubeconfig, cluster_api, argocd, istio, token };

std::string_view name_of(SecretFormat format);
// Fails (configuration) if no format has this name.
Result<SecretFormat> parse_secret_format(std::string_view name);

// The key of the credential's end, in the folder and in the format `token`.
inline constexpr std::string_view kEndKey = "expiration";

struct SecretForm {
  std::string type = "Opaque";
  std::map<std::string, std::string, std::less<>> labels = {};  // that its readers look for
  std::map<std::string, std::string, std::less<>> annotations = {};
  Contents data = {};
  bool shows_end = false;  // `data` has the key kEndKey
};

// Fails (configuration) if the format's readers could not use the Secret: for Istio, a credential
// with a short lifetime or a name that cannot be a key; for Argo CD, its own cluster; for Cluster
// API, a name that cannot be the value of a label.
Result<SecretForm> secret_form(SecretFormat format, const Issue& issue);

// The digest of all inputs that determine a cluster's credential and its files: if it differs, the
// written files are out of date.
std::string digest_of(const Access& access);

}  // namespace execcred::sync
