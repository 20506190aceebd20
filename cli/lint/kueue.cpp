// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"
#include "exec.hpp"
#include "mapping.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>

#include <optional>
#include <set>

namespace execcred::lint {
namespace {

using json::ObjectReader;

void check_provider(const Scope& scope, const ObjectReader& entry, std::set<std::string>& names) {
  check_fields(scope, entry, {"name", "execConfig"}, true);
  const Result<std::string> name = entry.required_string("name");
  if (!name) {
    scope.add(Severity::error, name.error(), entry.path(),
              "set it to the name of the access provider");
  } else if (!names.insert(*name).second) {
    scope.error(entry.path_of("name"),
                "is " + in_quotes(*name) + ", like that of an entry before it", "keep one");
  }
  const Result<ObjectReader> exec = entry.required_object("execConfig");
  if (!exec) {
    scope.add(Severity::error, exec.error(), entry.path(), "say which program to run");
    return;
  }
  check_exec_fields(scope, *exec, true);
  const ExecConfig config = inspect_exec(scope, *exec, Consumer::kueue);
  if (name) check_provider_name(scope.as(rule::kProviderName), *name, entry.path_of("name"));
  if (name) note_plugin(scope, *name, entry.path(), config);
  const json::Value* mode = exec->find("interactiveMode");
  const bool is_empty = mode == nullptr || (mode->string() != nullptr && mode->string()->empty());
  if (!is_empty) return;
  scope.error(exec->path_of("interactiveMode"), "is missing, which Kueue refuses",
              "set it to Never");
}

void check_providers(const Scope& scope, const ObjectReader& block, std::string_view field) {
  const json::Value* value = block.find(field);
  if (value == nullptr) return;
  if (value->array() == nullptr) {
    scope.error(block.path_of(field), "must be an array, not " + std::string(value->kind()),
                "list {name, execConfig}");
    return;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < value->array()->size(); ++i) {
    const Result<ObjectReader> entry =
        ObjectReader::open((*value->array())[i], block.path_of(field) + step(i));
    if (entry) {
      check_provider(scope, *entry, names);
    } else {
      scope.add(Severity::error, entry.error(), block.path_of(field) + step(i),
                "write {name, execConfig}");
    }
  }
}

// Kueue reads no ClusterProfile without its feature gate, which is off by default.
void check_gate(const Scope& scope, const ObjectReader& configuration) {
  constexpr std::string_view kGate = "MultiKueueClusterProfile";
  constexpr std::string_view kHint =
      "set it to true, unless --feature-gates of Kueue's manager does so";
  const Result<std::optional<ObjectReader>> gates = configuration.optional_object("featureGates");
  if (!gates) return scope.add(Severity::error, gates.error(), {}, kHint);
  const Result<bool> gate = *gates ? (*gates)->boolean_or_false(kGate) : false;
  if (!gate) return scope.add(Severity::error, gate.error(), "featureGates", kHint);
  if (*gate) return;
  scope.warning(join_path("featureGates", kGate),
                "is not true, and without this gate Kueue does not use multiKueue.clusterProfile",
                kHint);
}

}  // namespace

void check_kueue(const Scope& scope, const ObjectReader& configuration) {
  constexpr std::string_view kHint = "see Kueue's documentation of multiKueue.clusterProfile";
  check_spelling(scope, configuration, {"multiKueue", "featureGates"});
  const Result<std::optional<ObjectReader>> multi_kueue =
      configuration.optional_object("multiKueue");
  if (!multi_kueue) scope.add(Severity::error, multi_kueue.error(), {}, kHint);
  if (!multi_kueue || !*multi_kueue) return;
  check_spelling(scope, **multi_kueue, {"clusterProfile"});
  const Result<std::optional<ObjectReader>> block =
      (*multi_kueue)->optional_object("clusterProfile");
  if (!block) scope.add(Severity::error, block.error(), {}, kHint);
  if (!block || !*block) return;
  check_gate(scope, configuration);
  check_fields(scope, **block, {"accessProviders", "credentialsProviders"}, true);
  check_providers(scope, **block, "accessProviders");
  check_providers(scope, **block, "credentialsProviders");
  if ((*block)->find("credentialsProviders") == nullptr) return;
  if ((*block)->find("accessProviders") != nullptr) {
    scope.error((*block)->path_of("credentialsProviders"),
                "stands beside accessProviders, which Kueue refuses",
                "move its entries to accessProviders");
  } else {
    scope.warning((*block)->path_of("credentialsProviders"),
                  "is the deprecated name of accessProviders", "rename it");
  }
}

}  // namespace execcred::lint
