// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include "exec_object.hpp"
#include "peers.hpp"
#include "servers.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/kubeconfig_rules.hpp>
#include <execcred/kube/provider_mapping.hpp>
#include <execcred/os/program_file.hpp>
#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <optional>
#include <utility>

namespace execcred::migrate {
namespace {

using json::Keys;
using json::Value;

struct Document {
  Value value;
  bool is_json = false;
  bool is_mapping = false;
  Keys keys = Keys::exact;
};

Result<Document> read_kind(Document document, const std::string& text) {
  document.is_mapping = find_member(document.value, "providers", Keys::ignore_case) != nullptr;
  if (!document.is_mapping) {
    if (!is_kubeconfig(document.value)) {
      return Error::configuration(
          "the document is neither a kubeconfig nor a mapping file",
          "a kubeconfig has kind: Config, or clusters and users; a mapping file has providers");
    }
    return document;
  }
  if (!document.is_json) {
    return Error::configuration("the mapping file is YAML",
                                "what reads mapping files takes JSON only");
  }
  if (text.size() > kMaxMapping) {
    return Error::configuration("the mapping file is larger than 1 MiB",
                                "no command reads a larger one");
  }
  // Two keys that the readers of a mapping would store in one field are duplicates.
  document.keys = Keys::ignore_case;
  document.value = TRY(json::parse(text, {.bytes = kMaxInventory, .keys = document.keys}));
  return document;
}

Result<Document> read_document(const std::string& text) {
  Result<Value> as_json = json::parse(text, {.bytes = kMaxInventory});
  if (as_json) return read_kind({.value = std::move(as_json).value(), .is_json = true}, text);
  std::vector<Value> documents = TRY(parse_documents(text, kMaxInventory));
  if (documents.size() != 1) {
    return Error::configuration("the file holds " + std::to_string(documents.size()) + " documents",
                                "migrate one kubeconfig or mapping file at a time");
  }
  return read_kind({.value = std::move(documents.front())}, text);
}

Result<json::Array*> list_of(Document& document, std::string_view name) {
  Value* list = find_member(document.value, name, document.keys);
  if (list == nullptr) return nullptr;
  if (list->array() != nullptr) return list->array();
  return Error::configuration("'" + std::string(name) + "' must be an array, not " +
                              std::string(list->kind()));
}

void report_servers(Migration& migration, const std::string& obstacle) {
  migration.note(
      "its tokens are valid at many servers: add --allow-server=PATTERN for the intended ones" +
      (obstacle.empty() ? "" : " (" + obstacle + ")"));
}

void add_servers(Migration& migration, const ServerRules& rules) {
  if (!rules.obstacle.empty()) return report_servers(migration, rules.obstacle);
  for (const std::string& server : rules.servers) {
    migration.add("--allow-server", server, "a context here has this user there");
  }
  for (const std::string& proxy : rules.proxies) {
    migration.add("--allow-proxy", proxy, "the cluster is reached through it");
  }
}

// The migration of a program that no rule replaces.
Migration wrap(Value& exec, Keys keys, Invocation invocation, const RewriteOptions& options) {
  const std::string name = invocation.command;
  if (name.find('/') == std::string::npos) {
    std::string path = options.wrapped_path(name);
    if (!path.empty()) invocation.command = std::move(path);
  }
  const bool is_found = invocation.command != name;
  Migration migration(wrapped_program(), std::move(invocation));
  migration.note(
      "with provideClusterInfo the program gets spec.cluster, its config included; "
      "--pass-cluster=false withholds it");
  if (is_found) migration.note("PATH of this machine has " + in_quotes(name) + " there");
  if (text_member(exec, "interactiveMode", keys) == "Always") {
    migration.refuse("interactiveMode 'Always'", "execcred-wrap gives the program no terminal");
  }
  return migration;
}

// nullopt if the program stays, and is not named in the report: it is counted in `unknown` if
// execcred-wrap could run it.
std::optional<Migration> start(Value& exec, Keys keys, bool has_profile_arguments,
                               const RewriteOptions& options, std::size_t& unknown) {
  ExecReading reading = read_exec(exec, keys);
  Invocation& invocation = reading.invocation;
  invocation.has_profile_arguments = has_profile_arguments;
  const Peer* peer = find_peer(invocation);
  const bool is_foreign = !invocation.command.empty() && !is_plugin_of_ours(invocation.command);
  const bool can_be_wrapped = peer == nullptr ? is_foreign : peer->is_wrappable;
  const bool wraps = can_be_wrapped && options.wrapped_path != nullptr;
  if (can_be_wrapped && !wraps) ++unknown;
  if (peer == nullptr && !wraps) return std::nullopt;
  std::optional<Migration> migration;
  if (wraps) {
    migration = wrap(exec, keys, std::move(invocation), options);
  } else {
    migration.emplace(*peer, std::move(invocation));
  }
  for (const std::string& place : reading.malformed) {
    migration->refuse(place, "it is malformed; execcred lint says more");
  }
  return migration;
}

// The name of the context's user.
Result<std::string> user_of(Document& document, const std::string& context) {
  json::Array* const contexts = TRY(list_of(document, "contexts"));
  for (std::size_t i = 0; contexts != nullptr && i < contexts->size(); ++i) {
    Value& entry = (*contexts)[i];
    if (text_member(entry, "name", document.keys) != context) continue;
    Value* const body = find_member(entry, "context", document.keys);
    return body == nullptr ? std::string() : text_member(*body, "user", document.keys);
  }
  return Error::configuration(
      "the context " + in_quotes(context) + " is not among the kubeconfig's contexts",
      "--context names one of the file's contexts");
}

Status rewrite_users(Document& document, const RewriteOptions& options, Rewritten& rewritten) {
  std::optional<std::string> wanted;
  if (!options.context.empty()) wanted = TRY(user_of(document, options.context));
  Clusters clusters(document.value);  // of which nothing is changed below
  json::Array* const users = TRY(list_of(document, "users"));
  if (users == nullptr) return {};
  for (std::size_t i = 0; i < users->size(); ++i) {
    Value& entry = (*users)[i];
    Value* user = find_member(entry, "user", document.keys);
    const std::string name = text_member(entry, "name", document.keys);
    if (user == nullptr || (wanted && name != *wanted)) continue;
    Value* exec = find_member(*user, "exec", document.keys);
    const std::string path = "users[" + std::to_string(i) + "].user.";
    std::optional<Migration> migration;
    if (exec != nullptr) {
      migration = start(*exec, document.keys, false, options, rewritten.unknown);
    }
    if (migration) {
      if (migration->is_complete() && migration->peer().is_good_at_many_servers) {
        add_servers(*migration, clusters.rules_of(name));
      }
      if (migration->is_complete()) {
        write_exec(*exec, document.keys, *migration, options.plugin_dir);
      }
      rewritten.findings.push_back(
          {.path = path + "exec", .name = name, .migration = *std::move(migration)});
    }
    Value* provider = find_member(*user, "auth-provider", document.keys);
    if (provider == nullptr || provider->object() == nullptr) continue;
    rewritten.findings.push_back(
        {.path = path + "auth-provider",
         .name = name,
         .migration =
             auth_provider(text_member(*provider, "name", document.keys), exec != nullptr)});
  }
  return {};
}

void check_variables_policy(Value& entry, Keys keys, Migration& migration) {
  const std::string policy = text_member(entry, "profileSourcedEnvVarsPolicy", keys);
  if (policy.empty() || policy == "Ignore") return;
  migration.refuse("profileSourcedEnvVarsPolicy " + in_quotes(policy),
                   "our plugins take no variables from ClusterProfiles; move what these set to the "
                   "extension client.authentication.k8s.io/exec, and write Ignore");
}

Status rewrite_providers(Document& document, const RewriteOptions& options, Rewritten& rewritten) {
  const Keys keys = document.keys;
  json::Array* const providers = TRY(list_of(document, "providers"));
  for (std::size_t i = 0; i < providers->size(); ++i) {
    Value& entry = (*providers)[i];
    Value* exec = find_member(entry, "execConfig", keys);
    if (exec == nullptr) continue;
    const bool appends = text_member(entry, "profileSourcedCLIArgsPolicy", keys) == "Append";
    std::optional<Migration> migration = start(*exec, keys, appends, options, rewritten.unknown);
    if (!migration) continue;
    check_variables_policy(entry, keys, *migration);
    if (migration->peer().is_good_at_many_servers) report_servers(*migration, "");
    if (appends) migration->add_boundary();
    if (migration->is_complete()) write_exec(*exec, keys, *migration, options.plugin_dir);
    rewritten.findings.push_back({.path = "providers[" + std::to_string(i) + "].execConfig",
                                  .name = text_member(entry, "name", keys),
                                  .migration = *std::move(migration)});
  }
  return {};
}

bool has_comments(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).starts_with('#')) return true;
  }
  return false;
}

}  // namespace

Result<Rewritten> rewrite(const std::string& text, const RewriteOptions& options) {
  const std::optional<SecretString> converted = from_utf16(text);
  const std::string utf8 = converted ? std::string(converted->reveal()) : text;
  // JSON's parser takes no byte order mark.
  const bool has_mark = utf8.starts_with("\xef\xbb\xbf");
  Document document = TRY(read_document(utf8.substr(has_mark ? 3 : 0)));
  Rewritten rewritten;
  if (document.is_mapping && !options.context.empty()) {
    return Error::configuration("--context is given, and the file is a mapping",
                                "it chooses in a kubeconfig");
  }
  TRY(document.is_mapping ? rewrite_providers(document, options, rewritten)
                          : rewrite_users(document, options, rewritten));
  if (!document.is_mapping) rewritten.problems = kubeconfig_load_problems(document.value);
  bool is_changed = false;
  for (const Finding& finding : rewritten.findings) {
    is_changed = is_changed || finding.migration.is_complete();
  }
  if (!is_changed) {
    rewritten.text = utf8;
    return rewritten;
  }
  rewritten.text =
      document.is_json ? json::to_indented_text(document.value) : yaml::to_text(document.value);
  rewritten.has_lost_comments = !document.is_json && has_comments(utf8);
  return rewritten;
}

}  // namespace execcred::migrate
