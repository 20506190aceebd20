// SPDX-License-Identifier: Apache-2.0
// The mapping file: an accepted mapping can run, and is read as the same when written again.
#include "fuzz.hpp"

#include <execcred/kube/provider_mapping.hpp>

#include <set>
#include <string>

namespace execcred::fuzz {
namespace {

using json::Value;

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

void check_exec(const ExecConfig& exec) {
  require(exec.command.starts_with('/') && !has_nul(exec.command), "an absolute command");
  for (const std::string& argument : exec.args) require(!has_nul(argument), "arguments end");
  for (const EnvironmentVariable& variable : exec.env) {
    require(!variable.name.empty() && variable.name.find('=') == std::string::npos &&
                !has_nul(variable.name) && !has_nul(variable.value),
            "variables have names, and end");
  }
}

Value written(const MappedProvider& provider) {
  Value entry((json::Object()));
  entry.add("name", Value(provider.name));
  entry.add("execConfig", to_json(provider.exec));
  entry.add("profileSourcedCLIArgsPolicy",
            Value(provider.arguments_policy == ArgumentsPolicy::append ? "Append" : "Ignore"));
  entry.add("profileSourcedEnvVarsPolicy",
            Value(provider.variables_policy == VariablesPolicy::replace  ? "Replace"
                  : provider.variables_policy == VariablesPolicy::ignore ? "Ignore"
                                                                         : "AppendIfNotExists"));
  return entry;
}

// A missing interactiveMode is written as the default for a controller.
bool is_same(const ExecConfig& a, const ExecConfig& b) {
  bool same = a.api_version == b.api_version && a.command == b.command && a.args == b.args &&
              a.install_hint == b.install_hint && a.env.size() == b.env.size() &&
              (a.interactive_mode == b.interactive_mode || a.interactive_mode.empty()) &&
              a.provide_cluster_info == b.provide_cluster_info;
  for (std::size_t i = 0; same && i < a.env.size(); ++i) {
    same = a.env[i].name == b.env[i].name && a.env[i].value == b.env[i].value;
  }
  return same;
}

}  // namespace

void check(std::string_view input) {
  const Result<ProviderMapping> mapping = parse_provider_mapping(input);
  if (!mapping) {
    require(mapping.error().kind == Error::Kind::configuration, "a bad mapping is configuration");
    return;
  }
  std::set<std::string> names;
  json::Array entries;
  for (const MappedProvider& provider : mapping->providers) {
    require(!provider.name.empty() && names.insert(provider.name).second, "names, each once");
    check_exec(provider.exec);
    entries.push_back(written(provider));
  }
  Value document((json::Object()));
  document.add("providers", Value(entries));
  const Result<ProviderMapping> again = parse_provider_mapping(json::to_text(document));
  require(again.has_value(), "what is written can be read");
  require(again->providers.size() == entries.size(), "as many providers");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    require(is_same(mapping->providers[i].exec, again->providers[i].exec), "the same program");
    require(written(again->providers[i]) == entries[i], "written in one way");
  }
}

}  // namespace execcred::fuzz
