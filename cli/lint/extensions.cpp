// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"
#include "options.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/cluster.hpp>
#include <execcred/json/json_reader.hpp>

#include <set>

namespace execcred::lint {
namespace {

using json::ObjectReader;
using json::Value;

// The names of KEP-4322 and those of its first releases have the same ends.
constexpr std::string_view kArguments = "/exec/additional-args";
constexpr std::string_view kVariables = "/exec/additional-envs";

constexpr std::string_view kObjectOnly =
    ", which a real API server does not store: the CRD wants an object";

constexpr std::string_view kInstead =
    "move the settings to the extension client.authentication.k8s.io/exec, which every plugin "
    "reads, and let the mapping allow them (an audience with --allow-audience)";

// In KEP-4322, and in the library that belongs to it (sigs.k8s.io/cluster-inventory-api), the
// arguments are an array and the variables an object of strings. The CRD stores objects alone.
void check_form_of_arguments(const Scope& scope, const Value& value, const std::string& path) {
  if (value.array() == nullptr && value.object() == nullptr) return;
  scope.warning(path,
                std::string(value.array() != nullptr
                                ? "is an array, which upstream's library decodes and the CRD does "
                                  "not store"
                                : "is an object, which the CRD stores and upstream's library does "
                                  "not decode") +
                    ": no stored form works upstream",
                kInstead);
}

void check_form_of_variables(const Scope& scope, const Value& value, const std::string& path) {
  if (value.array() == nullptr) return;
  scope.warning(path,
                "is an array, which upstream's library does not decode and the CRD does not store",
                R"(write an object of names and values: {"NAME": "value"})");
}

void check_arguments(const Scope& scope, const Value& value, const std::string& path,
                     ClusterOf owner) {
  const Value* list = &value;
  std::string list_path = path;
  if (owner == ClusterOf::cluster_profile) check_form_of_arguments(scope, value, path);
  if (value.object() != nullptr) {
    list = value.find("args");
    list_path = path + ".args";
    if (list == nullptr || list->is_null()) return;
  }
  if (list->array() == nullptr) {
    scope.error(list_path, "must be an array of strings, not " + std::string(list->kind()),
                kInstead);
    return;
  }
  for (std::size_t i = 0; i < list->array()->size(); ++i) {
    const Result<std::string> text = json::read_string((*list->array())[i], list_path + step(i));
    if (!text) scope.add(Severity::error, text.error(), list_path, kInstead);
  }
}

void check_variable(const Scope& scope, const std::string& name, const Value* value,
                    const std::string& path) {
  if (name.empty() || has_control_character(name) || name.find('=') != std::string::npos) {
    scope.error(path, "has " + in_quotes(name) + ", no name of a variable", kInstead);
  }
  if (value == nullptr) return;
  const Result<std::string> text = json::read_string(*value, path);
  if (!text) scope.add(Severity::error, text.error(), path, kInstead);
}

void check_variables(const Scope& scope, const Value& value, const std::string& path,
                     ClusterOf owner) {
  if (owner == ClusterOf::cluster_profile) check_form_of_variables(scope, value, path);
  if (value.object() != nullptr) {
    for (const json::Member& member : *value.object()) {
      check_variable(scope, member.name, &member.value, join_path(path, step(member.name)));
    }
    return;
  }
  if (value.array() == nullptr) {
    scope.error(path, "must be an object, not " + std::string(value.kind()), kInstead);
    return;
  }
  for (std::size_t i = 0; i < value.array()->size(); ++i) {
    const Result<ObjectReader> entry = ObjectReader::open((*value.array())[i], path + step(i));
    if (!entry) {
      scope.add(Severity::error, entry.error(), path, kInstead);
      continue;
    }
    const Value* name = entry->find("name");
    const std::string* text = name == nullptr ? nullptr : name->string();
    check_variable(scope, text == nullptr ? "" : *text, entry->find("value"), entry->path());
  }
}

void check_exec_extension(const Scope& scope, const Value& value, const std::string& path,
                          ClusterOf owner) {
  if (value.object() == nullptr && owner == ClusterOf::cluster_profile) {
    scope.warning(path, "is " + std::string(value.kind()) + std::string(kObjectOnly),
                  R"(write an object: {"clusterName": "..."})");
  }
  // The extension of a ClusterProfile is checked later, together with the mapping.
  if (owner == ClusterOf::kubeconfig) check_shared_config(scope, value, path);
}

void check_extension(const Scope& scope, const ObjectReader& extension, ClusterOf owner,
                     std::set<std::string>& names) {
  const Result<std::string> name = extension.required_string("name");
  if (!name) {
    scope.add(Severity::error, name.error(), extension.path(), "name the extension");
    return;
  }
  if (!names.insert(*name).second) {
    scope.error(extension.path_of("name"),
                "is " + in_quotes(*name) + ", like that of another extension", "keep one");
  }
  const Value* value = extension.find("extension");
  if (value == nullptr) return;
  const std::string path = extension.path_of("extension");
  if (*name == kExecExtension) check_exec_extension(scope, *value, path, owner);
  if (name->ends_with(kArguments)) check_arguments(scope, *value, path, owner);
  if (name->ends_with(kVariables)) check_variables(scope, *value, path, owner);
}

}  // namespace

void check_extensions(const Scope& scope, const ObjectReader& cluster, ClusterOf owner) {
  const Value* value = cluster.find("extensions");
  if (value == nullptr) return;
  const std::string path = cluster.path_of("extensions");
  if (value->array() == nullptr) {
    scope.error(path, "must be an array, not " + std::string(value->kind()),
                "list {name, extension}");
    return;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < value->array()->size(); ++i) {
    const Result<ObjectReader> extension = ObjectReader::open((*value->array())[i], path + step(i));
    if (extension) {
      check_extension(scope, *extension, owner, names);
    } else {
      scope.add(Severity::error, extension.error(), path, "write {name, extension}");
    }
  }
}

}  // namespace execcred::lint
