// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"
#include "documents.hpp"
#include "exec.hpp"
#include "secrets.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/tls.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/kubeconfig_rules.hpp>
#include <execcred/os/program_file.hpp>

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

// Reports why clients cannot load the file. Returns the objects that contain such a field:
// "users[2].user".
std::set<std::string> check_types(const Scope& scope, const ObjectReader& document) {
  std::set<std::string> objects;
  for (const Error& problem : kubeconfig_load_problems(document.value())) {
    scope.add(Severity::error, problem, {}, kFormat);
    const std::string path = problem.message.substr(0, problem.message.find(' '));
    const std::size_t entry = path.find('.');
    if (entry != std::string::npos) objects.insert(path.substr(0, path.find('.', entry + 1)));
  }
  return objects;
}

// Calls `check` for the object of FIELD and the name of each {name, FIELD} in a list.
void for_each_named(const ObjectReader& document, std::string_view list, std::string_view field,
                    const CheckEntry& check) {
  const json::Value* values = document.find(list);
  if (values == nullptr || values->array() == nullptr) return;
  const json::Value nothing((json::Object()));
  for (std::size_t i = 0; i < values->array()->size(); ++i) {
    const json::Value& entry = (*values->array())[i];
    const json::Value* body = entry.find(field);
    if (body != nullptr && body->is_null()) body = nullptr;
    const std::string path = join_path(std::string(list) + step(i), field);
    const Result<ObjectReader> object = ObjectReader::open(body == nullptr ? nothing : *body, path);
    if (object) check(*object, json::text_or_empty(entry, "name"));
  }
}

bool is_plain_http(const ObjectReader& cluster) {
  const Result<std::optional<std::string>> server = cluster.optional_string("server");
  return server && *server && ascii_lower(**server).starts_with("http://");
}

// Checks a certificate and a key that are both in the file as clients check them.
void check_pair(const Scope& scope, const ObjectReader& user) {
  const std::string path = user.path_of("client-certificate-data");
  const auto certificate = decode_base64(json::text_or_empty(user.find("client-certificate-data")));
  auto key = decode_base64(json::text_or_empty(user.find("client-key-data")));
  if (!certificate || certificate->empty() || !key || key->empty()) return;
  const Result<ClientPair> pair = ClientPair::parse(*certificate, SecretString(*key));
  wipe(*key);
  if (pair || pair.error().kind != Error::Kind::configuration) return;
  scope.error(path, pair.error().message,
              "give a certificate and its own key, of RSA, EC or Ed25519, that is not encrypted");
}

void check_user(const Scope& scope, const ObjectReader& user) {
  for (const Error& problem : kubeconfig_user_problems(user.value(), user.path())) {
    scope.add(Severity::error, problem, user.path());
  }
  const std::vector<Error> problems = kubeconfig_credential_problems(user.value(), user.path());
  for (const Error& problem : problems) scope.add(Severity::error, problem, user.path());
  if (problems.empty()) check_pair(scope, user);
  const Result<std::optional<ObjectReader>> exec = user.optional_object("exec");
  if (exec && *exec) {
    check_exec_fields(scope, **exec, false);
    inspect_exec(scope, **exec, Consumer::kubeconfig);
  }
  const json::Value* const provider = user.find("auth-provider");
  if (provider != nullptr) {
    const bool is_oidc = json::text_or_empty(*provider, "name") == "oidc";
    scope.add(is_oidc ? Severity::warning : Severity::error, user.path_of("auth-provider"),
              is_oidc ? "is read by kubectl, and by few other clients"
                      : "was removed from clients in Kubernetes 1.26",
              "use exec with a plugin");
  }
  if (has_basic_authentication(user.value())) {
    scope.warning(user.path_of("username"),
                  "is basic authentication, which servers no longer accept",
                  "use exec with a plugin");
  } else if (!json::text_or_empty(user.find("password")).empty()) {
    scope.warning(user.path_of("password"), "is without a username, so clients never send it",
                  "use exec with a plugin");
  }
}

// Checks that the name in a context is one of `known`. Returns the property of that name; nullopt
// if there is none.
std::optional<bool> check_reference(const Scope& scope, const ObjectReader& context,
                                    std::string_view field,
                                    const std::map<std::string, bool>& known) {
  const std::string name = json::text_or_empty(context.find(field));
  if (name.empty()) {
    scope.error(context.path_of(field), "is missing", "name one of " + std::string(field) + "s");
    return std::nullopt;
  }
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  scope.error(context.path_of(field),
              "is " + in_quotes(name) + ", which is not in " + std::string(field) + "s",
              "add it, or remove the context");
  return std::nullopt;
}

void check_context(const Scope& scope, const ObjectReader& context, const Names& names) {
  const std::optional<bool> is_http = check_reference(scope, context, "cluster", names.clusters);
  const std::optional<bool> has_plugin = check_reference(scope, context, "user", names.users);
  if (is_http.value_or(false) && has_plugin.value_or(false)) {
    scope.error(context.path(),
                "joins a plugin with a plain http server, for which client-go does not run it",
                "use the server's https URL");
  }
}

void check_current_context(const Scope& scope, const ObjectReader& document, const Names& names) {
  const std::string current = json::text_or_empty(document.find("current-context"));
  if (current.empty() || names.contexts.count(current) != 0) return;
  scope.error("current-context", "is " + in_quotes(current) + ", which is not in contexts",
              "choose one of them, or leave it empty");
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
  const std::set<std::string> unloaded = check_types(scope, document);
  const auto is_loaded = [&unloaded](const ObjectReader& object) {
    return unloaded.count(object.path()) == 0;  // the others have their errors already
  };
  for_each_named(document, "clusters", "cluster",
                 [&](const ObjectReader& cluster, const std::string& name) {
                   names.clusters.emplace(name, is_plain_http(cluster));
                   if (is_loaded(cluster)) check_cluster(scope.as(rule::kCluster), cluster, owner);
                   check_no_secrets(scope.as(rule::kSecret), cluster.value(), cluster.path(),
                                    Severity::warning);
                 });
  for_each_named(document, "users", "user", [&](const ObjectReader& user, const std::string& name) {
    names.users.emplace(name, user.find("exec") != nullptr);
    if (is_loaded(user)) check_user(scope, user);
  });
  for_each_named(document, "contexts", "context",
                 [&](const ObjectReader& context, const std::string& name) {
                   names.contexts.insert(name);
                   if (is_loaded(context)) check_context(scope, context, names);
                 });
  check_current_context(scope, document, names);
}

}  // namespace execcred::lint
