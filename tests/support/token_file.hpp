// SPDX-License-Identifier: Apache-2.0
// Runs execcred-token-file with the token of a case.
#pragma once

#include "child_process.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

inline constexpr std::string_view kServer = "https://10.1.2.3:6443";

class TokenFile {
 public:
  // A JWT for the audience "server" that lives for a day.
  TokenFile();
  explicit TokenFile(std::string_view content);

  // With --token-file.
  Command command(std::vector<std::string> arguments = {},
                  std::vector<std::string> environment = {}) const;
  Outcome run(std::vector<std::string> arguments = {},
              std::vector<std::string> environment = {}) const;
  // With the document of a client for the server, and more members of spec.cluster.
  Outcome run_for(std::string_view server, std::vector<std::string> arguments = {},
                  std::string_view more_of_cluster = "",
                  std::vector<std::string> environment = {}) const;
  // With the document of a client that has this spec.cluster.config.
  Outcome run_with_config(std::string_view config, std::vector<std::string> arguments = {},
                          std::vector<std::string> environment = {}) const;

  const Sandbox& sandbox() const { return sandbox_; }
  const std::string& path() const { return path_; }
  const std::string& token() const { return token_; }

 private:
  Sandbox sandbox_;
  std::string token_;
  std::string path_;
};

// execcred-token-file with exactly these arguments.
Command token_file_command(std::vector<std::string> arguments,
                           std::vector<std::string> environment = {});

// The line of --show-config about the option: "VALUE | ORIGIN"; "(none)" without one.
std::string shown(const Outcome& outcome, std::string_view option);

}  // namespace blackbox
