// SPDX-License-Identifier: Apache-2.0
// Kubeconfigs: a file that check_stored() accepts has nothing that it must refuse, according to the
// document tree. The document written as JSON is the same kubeconfig.
#include "fuzz.hpp"
#include "json_tree.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>
#include <execcred/yaml/yaml.hpp>

#include <set>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

using json::Value;

bool is_harmless(const Value& value) {
  return value.is_null() || (value.string() != nullptr && value.string()->empty()) ||
         (value.array() != nullptr && value.array()->empty()) ||
         (value.object() != nullptr && value.object()->empty());
}

void check_user(const Value& user) {
  for (const json::Member& field : *user.object()) {
    if (field.value.is_null()) continue;
    if (field.name == "token" || field.name == "extensions" ||
        field.name == "client-certificate-data" || field.name == "client-key-data") {
      continue;
    }
    if (field.name == "auth-provider") {
      const Value* name = field.value.find("name");
      require(name != nullptr && name->string() != nullptr && *name->string() == "oidc",
              "no auth-provider but oidc");
      continue;
    }
    static const std::set<std::string_view> kMayBeEmpty = {
        "as",       "as-uid",     "as-groups",          "as-user-extra", "username",
        "password", "client-key", "client-certificate", "tokenFile"};
    require(kMayBeEmpty.contains(field.name) && is_harmless(field.value),
            "no field that a writer may not set");
  }
}

void check_cluster(const Value& cluster) {
  const auto is_unset = [&cluster](std::string_view name) {
    const Value* value = cluster.find(name);
    return value == nullptr || is_harmless(*value);
  };
  require(is_unset("certificate-authority"), "no path of a CA");
  const Value* insecure = cluster.find("insecure-skip-tls-verify");
  require(insecure == nullptr || insecure->is_null() || !*insecure->boolean(), "a verified server");
  const Value* server = cluster.find("server");
  require(server != nullptr && server->string() != nullptr, "a server");
  const Result<Url> url = parse_url(*server->string());
  require(url && url->scheme == "https" && !url->host.name.empty(), "an https server");
}

// Calls check_body with the inner object of each entry of a list. A missing object is empty.
template <class Check>
void for_each_body(const Value& document, std::string_view list, std::string_view kind,
                   Check check_body) {
  const Value* entries = document.find(list);
  if (entries == nullptr || entries->is_null()) return;
  const Value empty((json::Object()));
  for (const Value& entry : *entries->array()) {
    const Value* body = entry.find(kind);
    check_body(body == nullptr || body->is_null() ? empty : *body);
  }
}

Value only_document(std::string_view input) {
  std::vector<Value> documents;
  const Status status =
      yaml::for_each_document(input, {.bytes = kMaxKubeconfig}, [&](Value document) -> Status {
        documents.push_back(std::move(document));
        return {};
      });
  require(status && documents.size() == 1, "a kubeconfig is one document");
  return std::move(documents.front());
}

bool is_same(const Result<KubeconfigContext>& a, const Result<KubeconfigContext>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->name == b->name && a->cluster.cluster.server == b->cluster.cluster.server &&
         a->user.name == b->user.name && a->user.token.reveal() == b->user.token.reveal() &&
         a->user.client_key_data.reveal() == b->user.client_key_data.reveal();
}

}  // namespace

void check(std::string_view input) {
  const Result<Kubeconfig> config = Kubeconfig::parse(input);
  const Result<Kubeconfig> hub = Kubeconfig::parse(input, Kubeconfig::Source::hub);
  require(hub || hub.error().kind == Error::Kind::configuration,
          "a bad one of the hub is configuration");
  if (!config) {
    require(config.error().kind == Error::Kind::no_credential, "a bad stored one is data");
    return;
  }
  const std::vector<std::string> names = config->context_names();
  require(std::set<std::string>(names.begin(), names.end()).size() == names.size(), "each once");
  const Value document = only_document(input);
  if (config->check_stored({}, false)) {
    for_each_body(document, "users", "user", check_user);
    for_each_body(document, "clusters", "cluster", check_cluster);
  }
  // JSON may contain unescaped characters that YAML requires to be escaped.
  const Result<Kubeconfig> again = Kubeconfig::parse(json::to_text(document));
  for (const std::string& name : names) {
    const Result<KubeconfigContext> context = config->context(name);
    require(!context || (context->name == name && !context->cluster.cluster.server.empty()),
            "a context is the one that was asked for, with a server");
    if (again && !has_huge_number(document)) {
      require(is_same(context, again->context(name)), "JSON means the same");
    }
  }
}

}  // namespace execcred::fuzz
