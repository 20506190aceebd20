// SPDX-License-Identifier: Apache-2.0
// Who a cluster sees: the user and the groups that its API server makes of a credential. Only the
// credential, the plugin's own options and the server's name decide. Nobody is asked, so an
// identity that only the provider knows is an error.
#pragma once

#include "platform.hpp"

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/engine/credential_check.hpp>
#include <execcred/kube/access.hpp>

#include <string>
#include <vector>

namespace execcred::grant {

using cli::Platform;
using cli::platform_of;

// Where the credential comes from, beside the credential itself.
struct Origin {
  std::string program = {};  // "execcred-aws"
  // The cluster itself has issued the token: it is stored for this cluster, or requested from it.
  bool is_of_cluster = false;
  std::string principal = {};               // Plan::principal
  std::vector<std::string> audiences = {};  // those that the mapping asks for
  std::string cluster_id = {};              // the EKS cluster's name, or empty
};

// Reads the options that the program would have in a run. A program of others has few that are
// known. Fails (configuration) as the program would.
Result<Origin> origin_of(const Access& access, const Environment& environment);

enum class Kind {
  service_account,  // of the cluster itself
  issuer,           // a token of another issuer
  certificate,
  eks,
  gke,
  aks,
};

struct Identity {
  Kind kind = Kind::issuer;
  // eks: the role's ARN, as an access entry names it. A cluster's RBAC never sees it.
  std::string user = {};
  std::vector<std::string> groups = {};  // as the cluster sees them
  // service_account
  std::string name_space = {};
  std::string name = {};
  // issuer
  std::string issuer = {};
  std::vector<std::string> audiences = {};
  std::string claim = {};  // that names the user
  std::string prefix = {};
  bool is_default_issuer = false;  // the in-cluster default, which many clusters have
  bool is_person = false;          // aks: a user of Entra, and no application
  // certificate: the CA that has issued it, in the form of RFC 4514
  std::string authority = {};
};

struct Evidence {
  const engine::CredentialFacts& facts;
  bool is_eks_token = false;
  bool is_google_token = false;
};
Evidence evidence_of(const engine::CredentialFacts& facts, const SecretString& token,
                     const Origin& origin);

// One identity, or two if the issuer does not tell whether it is the cluster's own: then the first
// is that of the cluster's own ServiceAccount. Fails (no_credential) if the identity is not known
// from these facts, or nobody.
Result<std::vector<Identity>> identities_of(const Evidence& evidence, const Origin& origin,
                                            const Url& server);

}  // namespace execcred::grant
