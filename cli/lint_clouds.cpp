// SPDX-License-Identifier: Apache-2.0
#include "lint_clouds.hpp"

#include <string_view>

namespace execcred::lint {

void check_google(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                  const std::string& path) {
  constexpr std::string_view kExecutables = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    if (argument.name != "allow-endpoint") continue;
    scope.info(join_path(path, "args") + step(argument.index),
               "has --allow-endpoint: the credentials file may send what it holds to that server",
               "keep it only if the server is yours, or one of Google's");
  }
  for (std::size_t i = 0; i < exec.env.size(); ++i) {
    if (exec.env[i].name != kExecutables || exec.env[i].value != "1") continue;
    scope.info(join_path(path, "env") + step(i) + ".value",
               "is 1: the credentials file may name a program, which is run",
               "keep it only if nobody else writes the credentials file");
  }
}

}  // namespace execcred::lint
