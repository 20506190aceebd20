// SPDX-License-Identifier: Apache-2.0
// A kubeconfig or a mapping file, with the users of known peers rewritten. A user is rewritten
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
  // JSON if it was JSON, or else YAML; the unchanged text if nothing was rewritten.
  std::string text;
  std::vector<Finding> findings;  // in the order of the document
  bool has_lost_comments = false;
};

// `plugin_dir` is the absolute path of our plugins' folder. With a context of a kubeconfig, its
// user alone. Fails (configuration) for a text that is neither a kubeconfig nor a mapping file, and
// for a context that is not there.
Result<Rewritten> rewrite(const std::string& text, const std::string& plugin_dir,
                          const std::string& context = {});

}  // namespace execcred::migrate
