// SPDX-License-Identifier: Apache-2.0
// The Secrets that declare a cluster to Istio and Argo CD, with the mapping's plugin instead of a
// long-lived token.
#pragma once

#include <execcred/kube/access.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace execcred::cli {

// A Secret (core/v1) as a manifest for kubectl apply, which people can read too.
struct SecretManifest {
  std::vector<std::string> comments = {};  // above it, a line each
  std::string name_space = {};
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::map<std::string, std::string> data = {};  // stringData
};

// Collects the manifests of these Secrets in one YAML text.
class ClusterSecrets {
 public:
  enum class Form {
    // Istio's remote Secret, as `istioctl create-remote-secret` writes it. The exec section is the
    // only part that istiod (sanitizeKubeConfig) refuses by default.
    istio,
    // Argo CD's declarative cluster Secret. The placeholders of its ClusterProfile controller are
    // replaced.
    argocd,
  };

  explicit ClusterSecrets(Form form) : form_(form) {}

  // Adds the Secret of one cluster. The cluster's name is spec.cluster.config.clusterName, or else
  // the ClusterProfile's name. Fails (configuration) if clusterName is not a string, if the name
  // cannot be part of a Secret's name, or if Argo CD takes the server for its own cluster.
  Status add(const ClusterProfile& profile, const Access& access);

  const std::string& text() const { return text_; }
  // Notes for standard error: what Istio or Argo CD requires, and the fields that were left out.
  std::string notes() const;

 private:
  Result<SecretManifest> istio(const std::string& cluster, const Access& access);
  Result<SecretManifest> argocd(const std::string& cluster, const Access& access,
                                const std::string& profile);

  Form form_;
  std::string text_;
  std::set<std::string> clusters_;
  std::set<std::string> commands_;
  std::set<std::string> losses_;
};

}  // namespace execcred::cli
