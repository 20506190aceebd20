// SPDX-License-Identifier: Apache-2.0
// -o FILE of a command that writes a kubeconfig or a mapping, with --dry-run and --diff, which show
// the change and do not write the file.
#pragma once

#include "command.hpp"

#include <string>
#include <string_view>

namespace execcred::cli {

class Replacement {
 public:
  void add_to(CommandOptions& options);

  // `other` is the file to compare with if there is no -o: for --diff only. Fails (configuration)
  // if there is no file to compare with.
  Status check(std::string_view other = {}) const;

  // Whether the text is printed instead.
  bool is_diff() const { return is_diff_; }
  bool is_printed() const { return (path_.empty() || path_ == "-") && !is_diff_; }

  // Replaces the file, unless the change is only shown. Returns the text for people: the
  // difference, or a line about the change of the file, with `what` ("3 clusters"), if any.
  // `other`: as above.
  Result<std::string> apply(std::string_view text, const std::string& what,
                            const std::string& other = {}) const;

 private:
  std::string path_;
  bool is_dry_ = false;
  bool is_diff_ = false;
};

// The unified diff of two documents in YAML, in which every secret is a number: equal secrets have
// equal ones. A text that is no document counts as empty, so that nothing of it is shown.
std::string diff_without_secrets(std::string_view before, std::string_view after,
                                 const std::string& name);

}  // namespace execcred::cli
