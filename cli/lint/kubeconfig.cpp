// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"
#include "documents.hpp"
#include "exec.hpp"
#include "options.hpp"
#include "secrets.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace execcred::lint {
namespace {

using json::ObjectReader;

constexpr std::string_view kFormat = "the format is that of a kubeconfig, Config of v1";

// The names that contexts refer to, each with a property that the check of a context needs.
struct Names {
  std::map<std::string, bool> clusters = {};  // true: reached by plain http
  std::map<std::string, bool> users = {};     // true: has an exec plugin
  std::set<std::string> contexts = {};
};

using CheckEntry = std::function<void(const ObjectReader& object, const std::string& name)>;

// Checks each {name, FIELD} of a list. `check` gets the object of FIELD, and the name.
void for_each_named(const Scope& scope, const ObjectReader& document, std::string_view list,
                    std::string_view field, const CheckEntry& check) {
  const json::Value* value = document.find(list);
  if (value == nullptr) return;
  if (value->array() == nullptr) {
    scope.error(list, "must be an array, not " + std::string(value->kind()), kFormat);
    return;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < value->array()->size(); ++i) {
    const std::string path = std::string(list) + step(i);
    const Result<ObjectReader> entry = ObjectReader::open((*value->array())[i], path);
    if (!entry) {
      scope.add(Severity::error, entry.error(), path, kFormat);
      continue;
    }
    const Result<std::string> name = entry->required_string("name");
    if (!name) scope.add(Severity::error, name.error(), path, kFormat);
    if (name && !names.insert(*name).second) {
      scope.error(path + ".name", "is " + in_quotes(*name) + ", like that of an entry before it",
                  "keep one: clients differ in the one that they use");
    }
    const Result<ObjectReader> object = entry->required_object(field);
    if (object) {
      check(*object, name ? *name : std::string());
    } else {
      scope.add(Severity::error, object.error(), path, kFormat);
    }
  }
}

bool is_plain_http(const ObjectReader& cluster) {
  const Result<std::optional<std::string>> server = cluster.optional_string("server");
  return server && *server && ascii_lower(**server).starts_with("http://");
}

void check_exec_user(const Scope& scope, const ObjectReader& exec) {
  check_exec_fields(scope, exec, false);
  inspect_exec(scope, exec, Consumer::kubeconfig);
  const json::Value* version = exec.find("apiVersion");
  const json::Value* mode = exec.find("interactiveMode");
  const bool is_v1 = version != nullptr && version->string() != nullptr &&
                     *version->string() == full_name(ApiVersion::v1);
  const bool has_mode = mode != nullptr && (mode->string() == nullptr || !mode->string()->empty());
  if (is_v1 && !has_mode) {
    scope.error(exec.path_of("interactiveMode"), "is missing, which clients refuse with v1",
                "set it to Never, or IfAvailable for a program that asks");
  }
}

void check_user(const Scope& scope, const ObjectReader& user) {
  const Result<std::optional<ObjectReader>> exec = user.optional_object("exec");
  if (!exec) scope.add(Severity::error, exec.error(), user.path(), kFormat);
  if (exec && *exec) check_exec_user(scope, **exec);
  if (user.find("auth-provider") != nullptr) {
    scope.warning(user.path_of("auth-provider"), "was removed from clients in Kubernetes 1.26",
                  "use exec with a plugin");
  }
  if (user.find("password") != nullptr) {
    scope.warning(user.path_of("password"),
                  "is basic authentication, which servers no longer accept",
                  "use exec with a plugin");
  }
}

// Checks that the name in a context is one of `known`. Returns the property of that name; nullopt
// if there is none.
std::optional<bool> check_reference(const Scope& scope, const ObjectReader& context,
                                    std::string_view field,
                                    const std::map<std::string, bool>& known) {
  const Result<std::optional<std::string>> name = context.optional_string(field);
  if (!name) scope.add(Severity::error, name.error(), context.path(), kFormat);
  if (!name || !*name || (*name)->empty()) return std::nullopt;
  const auto found = known.find(**name);
  if (found != known.end()) return found->second;
  scope.error(context.path_of(field),
              "is " + in_quotes(**name) + ", which is not in " + std::string(field) + "s",
              "add it, or remove the context");
  return std::nullopt;
}

void check_context(const Scope& scope, const ObjectReader& context, const Names& names) {
  const std::optional<bool> is_http = check_reference(scope, context, "cluster", names.clusters);
  const std::optional<bool> has_plugin = check_reference(scope, context, "user", names.users);
  if (context.find("cluster") == nullptr) {
    scope.error(context.path_of("cluster"), "is missing", "name one of clusters");
  }
  if (is_http.value_or(false) && has_plugin.value_or(false)) {
    scope.error(context.path(),
                "joins a plugin with a plain http server, for which no client runs it",
                "use the server's https URL");
  }
}

void check_current_context(const Scope& scope, const ObjectReader& document, const Names& names) {
  const Result<std::optional<std::string>> current = document.optional_string("current-context");
  if (!current) {
    scope.add(Severity::error, current.error(), {}, kFormat);
  } else if (*current && !(*current)->empty() && names.contexts.count(**current) == 0) {
    scope.error("current-context", "is " + in_quotes(**current) + ", which is not in contexts",
                "choose one of them, or leave it empty");
  }
}

bool runs_plugin_of_ours(const json::Value& user) {
  const json::Value* at = &user;
  for (const std::string_view name : {"user", "exec", "command"}) {
    at = at->find(name);
    if (at == nullptr) return false;
  }
  return at->string() != nullptr && is_plugin_of_ours(*at->string());
}

ClusterOf owner_of(const ObjectReader& kubeconfig) {
  const json::Value* const users = kubeconfig.find("users");
  const bool has_ours =
      users != nullptr && users->array() != nullptr &&
      std::any_of(users->array()->begin(), users->array()->end(), runs_plugin_of_ours);
  return has_ours ? ClusterOf::kubeconfig : ClusterOf::kubeconfig_of_others;
}

}  // namespace

void check_kubeconfig(const Scope& scope, const ObjectReader& document) {
  Names names;
  const ClusterOf owner = owner_of(document);
  for_each_named(scope, document, "clusters", "cluster",
                 [&](const ObjectReader& cluster, const std::string& name) {
                   names.clusters.emplace(name, is_plain_http(cluster));
                   check_cluster(scope.as(rule::kCluster), cluster, owner);
                   check_no_secrets(scope.as(rule::kSecret), cluster.value(), cluster.path(),
                                    Severity::warning);
                 });
  for_each_named(scope, document, "users", "user",
                 [&](const ObjectReader& user, const std::string& name) {
                   names.users.emplace(name, user.find("exec") != nullptr);
                   check_user(scope, user);
                 });
  for_each_named(scope, document, "contexts", "context",
                 [&](const ObjectReader& context, const std::string& name) {
                   names.contexts.insert(name);
                   check_context(scope, context, names);
                 });
  check_current_context(scope, document, names);
}

}  // namespace execcred::lint
