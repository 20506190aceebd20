// SPDX-License-Identifier: Apache-2.0
// Rewrites the users of known peers in a kubeconfig or a mapping file. A user is rewritten
// completely or not at all; the rest stays unchanged.
#pragma once

#include "migration.hpp"

#include <execcred/base/result.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace execcred::migrate {

struct Finding {
  std::string path;  // "users[2].user.exec"
  std::string name;  // the user's, or the provider's
  Migration migration;
};

struct Rewritten {
  // JSON if the input was JSON, or else YAML; the unchanged input if nothing was rewritten.
  std::string text;
  std::vector<Finding> findings;  // in the order of the document
  std::size_t unknown = 0;        // exec sections whose program no rule replaces, and that stay
  bool has_lost_comments = false;
  std::vector<Error> problems = {};  // why clients cannot load the kubeconfig
};

struct RewriteOptions {
  std::string plugin_dir = {};  // the absolute path of the folder of execcred's plugins
  std::string context = {};     // not empty: only the user of this context of the kubeconfig
  // If it is set, execcred-wrap runs programs that no rule replaces. It returns the path of a
  // command without a slash, as clients find it; empty if it is not found.
  std::function<std::string(const std::string& name)> wrapped_path = nullptr;
};

// Fails (configuration) if the text is neither a kubeconfig nor a mapping file, or if it does not
// have the context.
Result<Rewritten> rewrite(const std::string& text, const RewriteOptions& options);

}  // namespace execcred::migrate
