// SPDX-License-Identifier: Apache-2.0
#include "fleet_needs.hpp"

#include "servers.hpp"

#include <execcred/base/text.hpp>
#include <execcred/kube/access.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <string_view>
#include <utility>

namespace execcred::init {
namespace {

using json::Value;

// The extension that becomes spec.cluster.config; nullptr if there is none.
const Value* config_of(const Value& cluster) {
  const Value* const extensions = cluster.find("extensions");
  if (extensions == nullptr || extensions->array() == nullptr) return nullptr;
  for (const Value& one : *extensions->array()) {
    const Value* const name = one.find("name");
    const bool is_exec = name != nullptr && name->string() != nullptr &&
                         *name->string() == "client.authentication.k8s.io/exec";
    if (is_exec) return one.find("extension");
  }
  return nullptr;
}

// The template with the fields of the config; empty if one of them is missing.
std::string expand(std::string_view text, const Value* config) {
  constexpr std::string_view kStart = "{config.";
  std::string result;
  for (std::size_t at = text.find(kStart); at != std::string_view::npos; at = text.find(kStart)) {
    const std::size_t end = text.find('}', at);
    const std::string_view field = text.substr(at + kStart.size(), end - at - kStart.size());
    const Value* const value = config == nullptr ? nullptr : config->find(field);
    if (value == nullptr || value->string() == nullptr || value->string()->empty()) return {};
    result.append(text.substr(0, at)).append(*value->string());
    text.remove_prefix(end + 1);
  }
  return result.append(text);
}

Value texts(const std::vector<std::string>& list) {
  json::Array array;
  for (const std::string& text : list) array.emplace_back(text);
  return Value(std::move(array));
}

Value object(json::Object members) { return Value(std::move(members)); }

std::vector<std::string> arguments_of(const Need& need) {
  std::vector<std::string> args = need.known->args;
  for (const std::string& name_space : need.other_namespaces) {
    args.push_back("--allow-namespace=" + name_space);
  }
  for (const std::string& one : server_patterns(need.servers)) {
    args.push_back("--allow-server=" + one);
  }
  return args;
}

Value entry_of(const std::string& name, const Need& need, const std::string& directory) {
  Value exec = object({{"apiVersion", Value("client.authentication.k8s.io/v1")},
                       {"command", Value(directory + "/" + need.known->plugin)},
                       {"args", texts(arguments_of(need))}});
  json::Array env;
  for (const auto& [variable, value] : need.known->env) {
    env.push_back(object({{"name", Value(variable)}, {"value", Value(value)}}));
  }
  if (!env.empty()) exec.add("env", Value(std::move(env)));
  exec.add("provideClusterInfo", Value(true));
  exec.add("interactiveMode", Value("Never"));
  return object({{"name", Value(name)},
                 {"execConfig", std::move(exec)},
                 {"profileSourcedCLIArgsPolicy", Value("Ignore")},
                 {"profileSourcedEnvVarsPolicy", Value("Ignore")}});
}

Value metadata(const std::string& name, const std::string& name_space) {
  return object({{"name", Value(name)}, {"namespace", Value(name_space)}});
}

Value role_of(const FleetNeeds& fleet, const std::string& name, const std::string& name_space) {
  json::Array rules;
  if (fleet.profile_namespaces().contains(name_space)) {
    rules.push_back(object({{"apiGroups", texts({std::string(kProfileGroup)})},
                            {"resources", texts({"clusterprofiles"})},
                            {"verbs", texts({"get", "list", "watch"})}}));
  }
  const auto secrets = fleet.secrets().find(name_space);
  if (secrets != fleet.secrets().end()) {
    rules.push_back(
        object({{"apiGroups", texts({""})},
                {"resources", texts({"secrets"})},
                {"resourceNames", texts({secrets->second.begin(), secrets->second.end()})},
                {"verbs", texts({"get"})}}));
  }
  return object({{"apiVersion", Value("rbac.authorization.k8s.io/v1")},
                 {"kind", Value("Role")},
                 {"metadata", metadata(name, name_space)},
                 {"rules", Value(std::move(rules))}});
}

Value binding_of(const cli::KnownConsumer& consumer, const std::string& name,
                 const std::string& name_space) {
  json::Array subjects;
  for (const std::string& account : consumer.service_accounts) {
    subjects.push_back(object({{"kind", Value("ServiceAccount")},
                               {"name", Value(account)},
                               {"namespace", Value(consumer.name_space)}}));
  }
  return object({{"apiVersion", Value("rbac.authorization.k8s.io/v1")},
                 {"kind", Value("RoleBinding")},
                 {"metadata", metadata(name, name_space)},
                 {"roleRef", object({{"apiGroup", Value("rbac.authorization.k8s.io")},
                                     {"kind", Value("Role")},
                                     {"name", Value(name)}})},
                 {"subjects", Value(std::move(subjects))}});
}

}  // namespace

void FleetNeeds::add(const ClusterProfile& profile) {
  profile_namespaces_.insert(profile.name_space.empty() ? consumer_->name_space
                                                        : profile.name_space);
  if (profile.provider_problem) {
    problems_.insert("ClusterProfile " + in_quotes(profile.full_name()) + ": " +
                     profile.provider_problem->message);
  }
  for (const AccessProvider& provider : profile.access_providers) add(profile, provider);
}

void FleetNeeds::add(const ClusterProfile& profile, const AccessProvider& provider) {
  const auto chosen = plugins_.find(provider.name);
  const cli::KnownProvider* const known = chosen == plugins_.end()
                                              ? cli::catalogue().find(provider.name)
                                              : cli::catalogue().find_plugin(chosen->second);
  if (known == nullptr) {
    unknown_.insert(provider.name);
    return;
  }
  const std::string quoted = "provider " + in_quotes(provider.name);
  if (known->plugin.empty()) {
    remarks_.insert(quoted + " gets no entry: " + known->note);
    return;
  }
  if (cli::is_one_of(provider.name, consumer_->built_ins)) {
    remarks_.insert(quoted + " gets no entry: " + consumer_->name +
                    " has a provider of this name built in, and never runs an entry for it");
    return;
  }
  const std::string of_profile = "ClusterProfile " + in_quotes(profile.full_name()) + ": ";
  const Result<Cluster> cluster = usable_cluster(provider, profile.version);
  if (!cluster) {
    problems_.insert(of_profile + cluster.error().message + ", so it is left out");
    return;
  }
  const std::string where = of_profile + provider.path;
  const Result<Url> url = parse_url(cluster->server);
  // A pattern of --allow-server would take an asterisk for any text.
  const bool is_plain = url && url->query.empty() && url->path.find('*') == std::string::npos;
  if (!is_plain) {
    problems_.insert(where + ".cluster.server is no plain https URL, so it is left out");
    return;
  }
  if (!known->note.empty()) remarks_.insert(quoted + ": " + known->note);
  Need& need = needs_[provider.name];
  need.known = known;
  need.servers.push_back(*url);
  if (known->is_projected && url->host.name.find(':') != std::string::npos) {
    remarks_.insert(where + ".cluster.server is an IPv6 address, which a Pod's mountPath cannot " +
                    "have, so its token is not mounted: give the server a name");
  } else if (known->is_projected) {
    projected_[url->host.name].emplace(origin_of(*url) + url->path, cluster->server);
  }
  add_secret(provider, where, need);
}

void FleetNeeds::add_secret(const AccessProvider& provider, const std::string& where, Need& need) {
  if (need.known->secret_name.empty()) return;
  const Value* const config = config_of(provider.cluster);
  const std::string name = expand(need.known->secret_name, config);
  std::string name_space = expand(need.known->secret_namespace, config);
  if (name_space.empty()) name_space = consumer_->name_space;
  const bool is_to_fill_in = !cli::fill_in_of(name).empty();
  if (!is_dns1123_label(name_space) || (!is_to_fill_in && !is_dns1123_subdomain(name))) {
    remarks_.insert(where + ".cluster names no Secret, so rbac.yaml lacks it");
    return;
  }
  if (name_space != consumer_->name_space) need.other_namespaces.insert(name_space);
  secrets_[name_space].insert(name);
}

std::map<std::string, std::string> FleetNeeds::projected() const {
  std::map<std::string, std::string> only;
  for (const auto& [host, servers] : projected_) {
    if (servers.size() == 1) only.emplace(host, servers.begin()->second);
  }
  return only;
}

std::set<std::string> FleetNeeds::remarks() const {
  std::set<std::string> remarks = remarks_;
  for (const auto& [host, servers] : projected_) {
    if (servers.size() == 1) continue;
    remarks.insert(std::to_string(servers.size()) + " servers have the host " + in_quotes(host) +
                   ", where a plugin would read one token for all, so no token is mounted: give " +
                   "each server a name of its own");
  }
  return remarks;
}

Value mapping_of(const FleetNeeds& fleet, const std::string& directory) {
  json::Array entries;
  for (const auto& [name, need] : fleet.needs()) {
    entries.push_back(entry_of(name, need, directory));
  }
  return object({{"providers", Value(std::move(entries))}});
}

std::string rbac_of(const FleetNeeds& fleet) {
  std::set<std::string> namespaces = fleet.profile_namespaces();
  for (const auto& [name_space, names] : fleet.secrets()) namespaces.insert(name_space);
  std::string text;
  for (const std::string& name_space : namespaces) {
    const std::string name = fleet.consumer().service_accounts.front() + "-clusterprofiles";
    text += "---\n" + yaml::to_text(role_of(fleet, name, name_space));
    text += "---\n" + yaml::to_text(binding_of(fleet.consumer(), name, name_space));
  }
  return text;
}

}  // namespace execcred::init
