// SPDX-License-Identifier: Apache-2.0
// The Secrets that declare a cluster to Istio and Argo CD, with the mapping's plugin instead of a
// long-lived token.
#pragma once

#include "secret_manifest.hpp"

#include <execcred/kube/access.hpp>

#include <set>
#include <string>

namespace execcred::cli {

// Collects them, one manifest after the other.
class ClusterSecrets {
 public:
  enum class Form {
    // Istio's remote Secret (istioctl create-remote-secret); its sanitizeKubeConfig refuses only
    // the exec.
    istio,
    // Argo CD's declarative cluster. The placeholders of its ClusterProfile controller are
    // replaced.
    argocd,
  };

  explicit ClusterSecrets(Form form) : form_(form) {}

  // The cluster's name is spec.cluster.config.clusterName, or else that of the ClusterProfile.
  // Fails (configuration) if it is no name of a Secret, and for a server that Argo CD reads as its
  // own cluster.
  Status add(const ClusterProfile& profile, const Access& access);

  // Fails (configuration) for two clusters of one name, which is ambiguous.
  Status check() const;

  const std::string& text() const { return text_; }
  // Requirements of the other side, and lost fields, for standard error.
  std::string notes() const;

 private:
  Result<SecretManifest> istio(const std::string& cluster, const Access& access);
  Result<SecretManifest> argocd(const std::string& cluster, const Access& access,
                                const std::string& profile);

  Form form_;
  std::string text_;
  std::set<std::string> clusters_;
  Status names_;
  std::set<std::string> commands_;
  std::set<std::string> losses_;
};

}  // namespace execcred::cli
