// SPDX-License-Identifier: Apache-2.0
// The Secrets by which Istio and Argo CD learn of a cluster, with the mapping's plugin in the place
// of a token that would live long.
#pragma once

#include "secret_manifest.hpp"

#include <execcred/access.hpp>

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
    // Argo CD's declarative cluster.
    argocd,
  };

  explicit ClusterSecrets(Form form) : form_(form) {}

  // The cluster is called as spec.cluster.config.clusterName says, else as the ClusterProfile is.
  // Fails (configuration) where that is no name of a Secret, for a second cluster of one name, and
  // for a server that Argo CD takes for itself.
  Status add(const ClusterProfile& profile, const Access& access);

  const std::string& text() const { return text_; }
  // What the other side must have, and what could not be carried over: for standard error.
  std::string notes() const;

 private:
  Result<SecretManifest> istio(const std::string& cluster, const Access& access);
  Result<SecretManifest> argocd(const std::string& cluster, const Access& access);

  Form form_;
  std::string text_;
  std::set<std::string> clusters_;
  std::set<std::string> commands_;
  std::set<std::string> losses_;
};

}  // namespace execcred::cli
