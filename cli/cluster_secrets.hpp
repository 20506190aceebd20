// SPDX-License-Identifier: Apache-2.0
// The Secrets by which Istio and Argo CD learn of a cluster, with the mapping's plugin in the place
// of a token that would live long.
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
    // Istio's remote Secret (istioctl create-remote-secret); what its sanitizeKubeConfig refuses is
    // the exec alone.
    istio,
    // Argo CD's declarative cluster. The placeholders that its ClusterProfile controller replaces
    // in arguments are filled in.
    argocd,
  };

  explicit ClusterSecrets(Form form) : form_(form) {}

  // The cluster is called as spec.cluster.config.clusterName says, else as the ClusterProfile is.
  // Fails (configuration) where that is no name of a Secret, and for a server that Argo CD takes
  // for itself.
  Status add(const ClusterProfile& profile, const Access& access);

  // Fails (configuration) for two clusters of one name: it is open which of them is meant.
  Status check() const;

  const std::string& text() const { return text_; }
  // What the other side must have, and what could not be carried over: for standard error.
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
