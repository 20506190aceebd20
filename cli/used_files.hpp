// SPDX-License-Identifier: Apache-2.0
// The files that a command reads or replaces, by the options that name them. Every command's are
// compared before it runs (command_line.hpp): a command replaces no file that it reads.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <vector>

namespace execcred::cli {

struct UsedFile {
  std::string source = {};  // "--output", "KUBECONFIG"
  std::string path = {};    // "-" is a stream
  bool is_output = false;
};

// Fails (configuration) if an output is a file that is read too, or another output: by the same
// path, or by another path to it.
Status check_outputs(const std::vector<UsedFile>& files);

}  // namespace execcred::cli
