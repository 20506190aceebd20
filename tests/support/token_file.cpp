// SPDX-License-Identifier: Apache-2.0
#include "token_file.hpp"
#include "test_paths.hpp"

#include <sstream>

namespace blackbox {

TokenFile::TokenFile() : TokenFile(jwt_for(24L * 3600)) {}

TokenFile::TokenFile(std::string_view content)
    : token_(content), path_(sandbox_.write("token", content)) {
  remember_secret(token_);
}

Command TokenFile::command(std::vector<std::string> arguments,
                           std::vector<std::string> environment) const {
  arguments.insert(arguments.begin(), "--token-file=" + path_);
  return token_file_command(std::move(arguments), std::move(environment));
}

Outcome TokenFile::run(std::vector<std::string> arguments,
                       std::vector<std::string> environment) const {
  return blackbox::run(command(std::move(arguments), std::move(environment)));
}

Outcome TokenFile::run_for(std::string_view server, std::vector<std::string> arguments,
                           std::string_view more_of_cluster,
                           std::vector<std::string> environment) const {
  environment.push_back("KUBERNETES_EXEC_INFO=" + exec_info(kV1, server, more_of_cluster));
  return run(std::move(arguments), std::move(environment));
}

Outcome TokenFile::run_with_config(std::string_view config, std::vector<std::string> arguments,
                                   std::vector<std::string> environment) const {
  return run_for(kServer, std::move(arguments), ",\"config\":" + std::string(config),
                 std::move(environment));
}

Command token_file_command(std::vector<std::string> arguments,
                           std::vector<std::string> environment) {
  arguments.insert(arguments.begin(), EXECCRED_BIN "/execcred-token-file");
  return {.arguments = std::move(arguments), .environment = std::move(environment)};
}

std::string shown(const Outcome& outcome, std::string_view option) {
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::string value;
    std::string origin;
    if (!(words >> name >> value) || name != option) continue;
    std::getline(words >> std::ws, origin);
    return value + " | " + origin;
  }
  return "(none)";
}

}  // namespace blackbox
