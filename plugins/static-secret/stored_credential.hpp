// SPDX-License-Identifier: Apache-2.0
// The content of a Secret or a file, in each of the formats: the credential, and the servers that
// it is stored for.
#pragma once

#include "plan.hpp"

#include <execcred/exec/exec_credential.hpp>
#include <execcred/kube/stored_secret.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::static_secret {

// A server that the stored object names.
struct StoredServer {
  std::string server = {};
  std::string certificate_authority = {};  // PEM, or empty
  std::string tls_server_name = {};        // empty: the server's own host
  bool is_insecure = false;                // its certificate is not verified
  std::string origin = {};                 // "the stored kubeconfig"
};

struct StoredCredential {
  Credential credential = {};
  std::vector<StoredServer> servers = {};
  // Whether the stored object defines completely how its server is verified, as a kubeconfig does:
  // without a CA, it trusts those of the system.
  bool is_self_contained = false;
};

// The error (no_credential) of a Secret or file that is not there, or that lacks something.
Error missing(std::string message, std::string hint = {});

// The PEM of the CA that is stored beside a token; empty if there is none.
Result<std::string> authority_beside(const StoredSecret& secret);

// The keys of a Secret that matter for a format; the first must exist.
std::vector<std::string> keys_of(const Options& options, const Plan& plan);

// Fails (no_credential) if something is missing, malformed, expired or refused.
Result<StoredCredential> read_stored(const StoredSecret& secret, const Plan& plan,
                                     const Options& options, TimePoint now);

// `folder` is the kubeconfig's directory, for relative paths in it; empty if the kubeconfig is not
// a file.
Result<StoredCredential> read_stored_kubeconfig(std::string_view text, const Options& options,
                                                TimePoint now,
                                                const std::filesystem::path& folder = {});

// Adds a token. The expiry of a JWT is checked, and limits that of the credential.
Status add_token(const SecretString& content, TimePoint now, Credential& credential);
// Adds a certificate and its key, both checked. The credential expires with the certificate at the
// latest.
Status add_certificate(std::string_view certificates, const SecretString& key, TimePoint now,
                       Credential& credential);

// Argo CD's declarative cluster: the values of `server` and `config`.
Result<StoredCredential> read_argocd(std::string_view server, const SecretString& config,
                                     const Options& options, TimePoint now);

}  // namespace execcred::static_secret
