// SPDX-License-Identifier: Apache-2.0
// -o FILE of a command that writes a kubeconfig or a mapping, with --dry-run and --diff, which show
// the change and do not write the file.
#pragma once

#include "command_options.hpp"

#include <string>
#include <string_view>

namespace execcred::cli {

class Replacement {
 public:
  // `may_be_input`: the file may be one that the command reads, and rewrites.
  void add_to(CommandOptions& options, bool may_be_input = false);

  // Fails (configuration) if --dry-run or --diff is given, and there is no file to compare with.
  // `other` is the file to compare with if there is no -o: for --diff only.
  Status check(std::string_view other = {}) const;

  // Whether --diff is given; and whether the text is printed instead of written to a file.
  bool is_diff() const { return is_diff_; }
  bool is_printed() const { return (path_.empty() || path_ == "-") && !is_diff_; }

  // Replaces the file, unless the change is only shown. Returns the text for people: the
  // difference, or a line about the change of the file, with `what` ("3 clusters") if that is not
  // empty. `other` is that of check(). Fails (configuration) if the file cannot be read or
  // replaced.
  Result<std::string> apply(std::string_view text, const std::string& what,
                            const std::string& other = {}) const;

 private:
  std::string path_;
  bool is_dry_ = false;
  bool is_diff_ = false;
};

// The unified diff of two texts, both written as YAML. A number replaces each text that may be a
// secret: of a field, variable or argument that neither a mapping, a kubeconfig or a ClusterProfile
// nor a plugin declares, or that a plugin declares as a secret. Equal texts have equal numbers. A
// text that cannot be parsed counts as empty, so that nothing of it is shown.
std::string diff_without_secrets(std::string_view before, std::string_view after,
                                 const std::string& name);

// The documents as YAML, with the same numbers. Empty if they cannot be parsed.
std::string text_without_secrets(std::string_view documents);

}  // namespace execcred::cli
