// SPDX-License-Identifier: Apache-2.0
#include "mapping.hpp"

#include "choices.hpp"
#include "exec.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/access.hpp>

namespace execcred::lint {
namespace {

using json::ObjectReader;

constexpr std::string_view kNoArguments =
    "set it to Ignore; ClusterProfiles can name settings in the extension "
    "client.authentication.k8s.io/exec";

// Checks both policies, because check_policies() stops at the first problem.
void check_policies_of(const Scope& scope, const MappedProvider& provider) {
  MappedProvider arguments = provider;
  arguments.variables_policy = VariablesPolicy::ignore;
  const Status safe_arguments = check_policies(arguments);
  if (!safe_arguments) {
    scope.add(Severity::error, safe_arguments.error(), provider.path);
  } else if (provider.arguments_policy == ArgumentsPolicy::append) {
    scope.warning(provider.path + ".profileSourcedCLIArgsPolicy",
                  "gives the arguments of one ClusterProfile to others too: upstream's library "
                  "appends them to the one list that all clusters of the provider share",
                  kNoArguments);
  }
  MappedProvider variables = provider;
  variables.arguments_policy = ArgumentsPolicy::ignore;
  const Status safe_variables = check_policies(variables);
  if (!safe_variables) {
    scope.add(Severity::error, safe_variables.error(), provider.path);
  } else if (provider.variables_policy != VariablesPolicy::ignore) {
    scope.warning(provider.path + ".profileSourcedEnvVarsPolicy",
                  "lets a ClusterProfile set the program's environment, LD_PRELOAD among it",
                  "set it to Ignore");
  }
}

// Checks the spelling of the fields in the document. The inspection has read them regardless of
// case.
void check_spelling(const Scope& scope, const ObjectReader& document) {
  check_fields(scope, document, {"providers", "$schema"}, false);
  const json::Value* providers = document.find("providers");
  if (providers == nullptr || providers->array() == nullptr) return;
  for (std::size_t i = 0; i < providers->array()->size(); ++i) {
    const Result<ObjectReader> entry = ObjectReader::open(
        (*providers->array())[i], "providers" + step(i), json::Keys::ignore_case);
    if (!entry) continue;
    check_fields(scope, *entry, mapped_provider_fields(), false);
    const Result<std::optional<ObjectReader>> exec = entry->optional_object("execConfig");
    if (exec && *exec) check_exec_fields(scope, **exec, false);
  }
}

}  // namespace

void check_mapping(const Scope& scope, std::string_view text) {
  constexpr std::string_view kHint =
      "the format is that of config/clusterprofile-provider-file.json";
  const MappingInspection inspection = inspect_provider_mapping(text);
  const bool is_json = trim(text).starts_with('{');
  for (const Error& problem : inspection.problems) {
    scope.add(Severity::error, problem, {},
              is_json ? kHint : "a mapping is JSON; controllers do not read YAML");
  }
  const Result<json::Value> value = json::parse(text, {.bytes = kMaxInventory});
  if (!value) return;
  const Result<ObjectReader> document = ObjectReader::open(*value, "", json::Keys::ignore_case);
  if (document) check_spelling(scope, *document);
  if (inspection.mapping.providers.empty() && inspection.problems.empty()) {
    scope.warning("providers", "is empty, so no ClusterProfile can be used", "add a provider");
  }
  for (const MappedProvider& provider : inspection.mapping.providers) {
    check_exec(scope.as(rule::kExec), provider.exec, provider.path + ".execConfig",
               Consumer::mapping);
    check_provider_name(scope.as(rule::kProviderName), provider.name, provider.path + ".name");
    check_policies_of(scope.as(rule::kPolicy), provider);
    note_plugin(scope, provider.name, provider.path, provider.exec,
                provider.arguments_policy == ArgumentsPolicy::append);
  }
}

}  // namespace execcred::lint
