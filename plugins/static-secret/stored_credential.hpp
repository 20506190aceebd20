// SPDX-License-Identifier: Apache-2.0
// What a Secret or a file holds, in each of its formats: the credential, and the servers that it
// is stored for.
#pragma once

#include "options.hpp"

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
  // Says all of how its server is verified, as a kubeconfig does: without a CA it trusts those of
  // the system.
  bool is_self_contained = false;
};

// PEM of the CA that is stored beside a token; empty where there is none.
Result<std::string> authority_beside(const StoredSecret& secret);

// The keys of a Secret that matter for a format; the first must be there.
std::vector<std::string> keys_of(const Options& options, const Plan& plan);

// Fails (no_credential) where something is missing, malformed, expired or refused.
Result<StoredCredential> read_stored(const StoredSecret& secret, const Plan& plan,
                                     const Options& options, TimePoint now);

// `folder` is the kubeconfig's, for relative paths in it; empty for one that is no file.
Result<StoredCredential> read_stored_kubeconfig(std::string_view text, const Options& options,
                                                TimePoint now,
                                                const std::filesystem::path& folder = {});

// A token with its own end: a JWT's, checked.
Status add_token(const SecretString& content, TimePoint now, Credential& credential);
// A certificate and its key, checked; the credential ends when the certificate does.
Status add_certificate(std::string_view certificates, const SecretString& key, TimePoint now,
                       Credential& credential);

// Argo CD's declarative cluster: the values of `server` and `config`.
Result<StoredCredential> read_argocd(std::string_view server, const SecretString& config,
                                     const Options& options, TimePoint now);

}  // namespace execcred::static_secret
