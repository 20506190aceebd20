// SPDX-License-Identifier: Apache-2.0
#include "argocd.hpp"

#include <utility>

namespace execcred::cli {

bool has_argocd_placeholder(std::string_view argument) {
  return argument.find(kArgocdName) != std::string_view::npos ||
         argument.find(kArgocdServer) != std::string_view::npos;
}

std::string fill_argocd_placeholders(std::string_view argument, std::string_view name,
                                     std::string_view server) {
  std::string filled;
  while (!argument.empty()) {
    const bool is_name = argument.starts_with(kArgocdName);
    if (is_name || argument.starts_with(kArgocdServer)) {
      filled += is_name ? name : server;
      argument.remove_prefix(is_name ? kArgocdName.size() : kArgocdServer.size());
    } else {
      filled += argument.front();
      argument.remove_prefix(1);
    }
  }
  return filled;
}

std::vector<std::string> fill_argocd_placeholders(std::vector<std::string> arguments,
                                                  std::string_view name, std::string_view server) {
  for (std::string& argument : arguments) {
    if (!has_argocd_placeholder(argument)) continue;
    argument = fill_argocd_placeholders(argument, name, server);
  }
  return arguments;
}

}  // namespace execcred::cli
