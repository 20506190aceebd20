// SPDX-License-Identifier: Apache-2.0
#include "lint_oidc_federation.hpp"

#include "lint_programs.hpp"
#include "lint_secrets.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred::lint {
namespace {

using Texts = std::vector<std::string>;

bool has_flow(const ExecConfig& exec, const PluginOptions& options, std::string_view flow) {
  const Texts flows = values_of(exec, options, "flow");
  return std::find(flows.begin(), flows.end(), flow) != flows.end();
}

// The Concierge is the cluster's own, at the server that a ClusterProfile names.
bool asks_the_cluster(const ExecConfig& exec, const PluginOptions& options) {
  return has_flow(exec, options, "pinniped") && !is_given(exec, options, "concierge-endpoint");
}

// The program runs with the plugin's rights, and everybody on the machine sees its arguments.
void check_command(const Scope& scope, const std::string& text, const std::string& place) {
  const Result<json::Value> parsed = json::parse(text);
  if (!parsed || parsed->array() == nullptr) return;
  Texts parts;
  for (const json::Value& part : *parsed->array()) {
    if (part.string() != nullptr) parts.push_back(*part.string());
  }
  if (parts.empty()) return;
  if (parts.front().starts_with('/')) check_program(scope, parts.front(), place);
  for (const Argument& argument : split_arguments({parts.begin() + 1, parts.end()}, nullptr)) {
    check_named_secret(scope, place, argument.name, argument.value);
  }
}

}  // namespace

Texts needs_of_oidc_federation(const ExecConfig& exec, const PluginOptions& options) {
  Texts needs;
  if (asks_the_cluster(exec, options)) needs.emplace_back("--flow=pinniped");
  const Texts audiences = values_of(exec, options, "allow-audience");
  if (std::find(audiences.begin(), audiences.end(), "server") != audiences.end()) {
    needs.emplace_back("--allow-audience=server");
  }
  return needs;
}

std::string_view reach_of_oidc_federation(const ExecConfig& exec, const PluginOptions& options) {
  if (asks_the_cluster(exec, options)) return {};  // an error, below
  if (has_flow(exec, options, "pinniped")) return "that is one credential for all of them";
  if (has_flow(exec, options, "pass-through")) return "that is the subject token itself";
  return "such a token is good at more than one server";
}

void check_oidc_federation(const Scope& scope, const ExecConfig& exec, const PluginOptions& options,
                           const std::string& path) {
  const std::string args = join_path(path, "args");
  if (asks_the_cluster(exec, options) && !is_given(exec, options, "allow-server")) {
    scope.error(args,
                "lacks --allow-server, without which --flow=pinniped would send the subject token "
                "to whichever server is named",
                "add --allow-server=https://HOST[:PORT] for the clusters that may have it, or "
                "--concierge-endpoint=URL");
  }
  for (const Argument& argument : split_arguments(exec.args, &options.set())) {
    if (argument.name != "subject-token-command") continue;
    check_command(scope, argument.value, args + step(argument.index));
  }
}

}  // namespace execcred::lint
