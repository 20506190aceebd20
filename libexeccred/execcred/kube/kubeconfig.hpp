// SPDX-License-Identifier: Apache-2.0
// Reads kubeconfigs (k8s.io/client-go/tools/clientcmd/api/v1): the hub's, which this user wrote,
// and those stored in Secrets, which others wrote.
//
// A stored kubeconfig may not make its reader run code, send the reader's own files to a server of
// the writer's choice, or act as another user. As in Istio and Kueue, such fields are refused in
// every user of the file, and never ignored.
#pragma once

#include <execcred/base/copyable_secret.hpp>
#include <execcred/base/error.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/cluster.hpp>
#include <execcred/json/json.hpp>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

struct KubeconfigCluster {
  std::string name = {};
  // The CA data is in canonical base64. The server may be empty if no requested context uses it.
  // There is no config: the extensions of the cluster are ignored.
  Cluster cluster = {};
  std::string certificate_authority = {};  // a path, or empty
  json::Value exec_extension = {};         // the value of the extension kExecExtension
  std::vector<Error> problems = {};        // why clients refuse a context with it
};

// The impersonated user: the fields as, as-uid, as-groups and as-user-extra.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::vector<std::pair<std::string, std::vector<std::string>>> extra = {};
};

struct KubeconfigUser {
  std::string name = {};
  CopyableSecret token = {};  // as it stands, white space included
  std::string token_file = {};
  std::string client_certificate = {};       // a path
  std::string client_certificate_data = {};  // base64, as it stands
  std::string client_key = {};               // a path
  CopyableSecret client_key_data = {};       // base64, as it stands
  std::string auth_provider = {};            // its name
  CopyableSecret oidc_id_token = {};         // of an auth-provider named oidc; perhaps expired
  bool has_username = false;
  bool has_password = false;  // username or password
  json::Value exec = {};      // an ExecConfig; null if there is none
  Impersonation act_as = {};
  std::vector<std::string> impersonation = {};  // the fields that are set: "as", "as-groups"
  std::vector<std::string> unknown_fields = {};
  std::vector<Error> problems = {};       // why clients refuse a context with it
  std::vector<Error> exec_problems = {};  // the same, of its exec section

  bool has_exec() const { return !exec.is_null(); }
};

// The token of the user: that of tokenFile or, as long as that file cannot be read or is empty, the
// one beside it. Empty if the user has none. If a client sends it as it stands (`is_sent_as_is`),
// it must have no white space at its ends. Fails as read_secret_file() and bearer_token() do.
struct KubeconfigToken {
  SecretString text = {};
  bool is_from_file = false;
};
Result<KubeconfigToken> read_token(const KubeconfigUser& user, bool is_sent_as_is);

// The cluster and user of one context.
struct KubeconfigContext {
  std::string name = {};
  std::string name_space = {};  // empty where it has none
  KubeconfigCluster cluster = {};
  KubeconfigUser user = {};
};

class Kubeconfig {
 public:
  // Determines the kind of every error of parse() and context(): configuration for the hub's
  // kubeconfig, no_credential for a stored one, which is data.
  enum class Source { hub, stored };

  // Parses YAML or JSON. Fails if clients cannot load it (kubeconfig_load_problems). A stored one
  // has at most 1 MiB and one document, and no kubeconfig_text_problems; of the hub's, clients read
  // the first document alone.
  static Result<Kubeconfig> parse(std::string_view text, Source source = Source::stored);

  // Makes relative paths absolute, from the folder of the kubeconfig's file, as clientcmd does.
  void resolve_paths(const std::filesystem::path& folder);

  // Merges as clientcmd merges the files of KUBECONFIG: existing entries are not changed.
  void merge(Kubeconfig other);

  // The context of that name. For an empty name, it is the current context, or the only context if
  // none is current. Fails if there is no such context, if the choice is ambiguous, if its cluster
  // or user is missing, or if its cluster has no server.
  Result<KubeconfigContext> context(std::string_view name) const;

  std::vector<std::string> context_names() const;  // in the file's order
  const std::string& current_context() const { return current_context_; }

  // Fails (no_credential) if a field is set that a stored kubeconfig may not have. `allowed_fields`
  // may contain "clientKey", "clientCertificate" and "tokenFile". `allow_insecure` permits
  // insecure-skip-tls-verify. The error names the user or cluster, the field, and what would allow
  // it.
  Status check_stored(const std::set<std::string, std::less<>>& allowed_fields,
                      bool allow_insecure) const;

  // A context as in the file: cluster and user are names.
  struct ContextEntry {
    std::string name = {};
    std::string name_space = {};
    std::string cluster = {};
    std::string user = {};
  };

 private:
  Result<const ContextEntry*> choose(std::string_view name) const;
  Error wrong(std::string message, std::string hint) const;

  Source source_ = Source::stored;
  std::string current_context_;
  std::vector<KubeconfigCluster> clusters_;
  std::vector<KubeconfigUser> users_;
  std::vector<ContextEntry> contexts_;
};

}  // namespace execcred
