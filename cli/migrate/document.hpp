// SPDX-License-Identifier: Apache-2.0
// Rewrites the users of known peers in a kubeconfig or a mapping file. A user is rewritten
// completely or not at all; the rest stays unchanged.
#pragma once

#include "migration.hpp"

#include <execcred/base/result.hpp>

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
  bool has_lost_comments = false;
  std::vector<Error> problems = {};  // why clients cannot load the kubeconfig
};

// `plugin_dir` is the absolute path of the folder of execcred's plugins. If `context` is not empty,
// only the user of that context of the kubeconfig is rewritten. Fails (configuration) if the text
// is neither a kubeconfig nor a mapping file, or if it does not have the context.
Result<Rewritten> rewrite(const std::string& text, const std::string& plugin_dir,
                          const std::string& context = {});

}  // namespace execcred::migrate
