// SPDX-License-Identifier: Apache-2.0
#include "servers.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/base/url_pattern.hpp>
#include <execcred/json/json_reader.hpp>

#include <algorithm>
#include <string_view>

namespace execcred::migrate {
namespace {

using json::Value;

// Limited, because each run of the plugin gets all patterns as arguments, and reads them all.
constexpr std::size_t kMaxServers = 100;

// Passes the elements of a kubeconfig's list to `receive`: the name, and the member `kind`, which
// holds the rest.
template <class Receive>
void for_each(const Value& kubeconfig, std::string_view list, std::string_view kind,
              Receive receive) {
  const Value* value = kubeconfig.find(list);
  if (value == nullptr || value->array() == nullptr) return;
  for (const Value& entry : *value->array()) {
    const Value* inner = entry.find(kind);
    if (inner != nullptr) receive(json::text_or_empty(entry, "name"), *inner);
  }
}

// The pattern that matches this URL and no other; empty if no pattern does.
std::string pattern_of(const std::string& text, UrlPattern::Use use) {
  const Result<Url> url = parse_url(text);
  if (!url || url->path.ends_with("/*")) return {};
  const bool is_v6 = url->host.kind == Host::Kind::address && url->host.address.v6;
  std::string pattern = url->scheme + "://" + (is_v6 ? "[" + url->host.name + "]" : url->host.name);
  if (url->port != default_port(url->scheme)) pattern += ":" + std::to_string(url->port);
  pattern += url->path;
  const Result<UrlPattern> parsed = UrlPattern::parse(pattern, use);
  return parsed && parsed->matches(*url) ? pattern : std::string();
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

void add_cluster(const std::string& name, const Value& cluster, ServerRules& rules) {
  const auto stop = [&](std::string_view why) {
    rules = ServerRules();
    rules.obstacle = "cluster " + in_quotes(name) + " " + std::string(why);
  };
  const Value* insecure = cluster.find("insecure-skip-tls-verify");
  if (insecure != nullptr && insecure->boolean() != nullptr && *insecure->boolean()) {
    return stop("has insecure-skip-tls-verify, which --allow-server refuses");
  }
  const std::string server =
      pattern_of(json::text_or_empty(cluster, "server"), UrlPattern::Use::server);
  if (server.empty()) return stop("has a server that no pattern can express");
  add_once(rules.servers, server);
  const std::string proxy_url = json::text_or_empty(cluster, "proxy-url");
  if (proxy_url.empty()) return;
  const std::string proxy = pattern_of(proxy_url, UrlPattern::Use::proxy);
  if (proxy.empty()) return stop("has a proxy-url that no pattern can express");
  add_once(rules.proxies, proxy);
}

}  // namespace

Clusters::Clusters(const Value& kubeconfig) {
  for_each(kubeconfig, "clusters", "cluster", [this](const std::string& name, const Value& inner) {
    clusters_.try_emplace(name, &inner);
  });
  for_each(kubeconfig, "contexts", "context",
           [this](const std::string& /*name*/, const Value& inner) {
             clusters_of_user_[json::text_or_empty(inner, "user")].push_back(
                 json::text_or_empty(inner, "cluster"));
           });
}

const ServerRules& Clusters::rules_of(const std::string& user) {
  const auto [rules, is_new] = rules_.try_emplace(user);
  if (is_new) rules->second = make_rules(user);
  return rules->second;
}

ServerRules Clusters::make_rules(const std::string& user) const {
  ServerRules rules;
  if (const auto names = clusters_of_user_.find(user); names != clusters_of_user_.end()) {
    for (const std::string& name : names->second) {
      const auto cluster = clusters_.find(name);
      if (cluster == clusters_.end()) {
        return {.obstacle = "cluster " + in_quotes(name) + " of a context is not in this file"};
      }
      add_cluster(name, *cluster->second, rules);
      if (!rules.obstacle.empty()) return rules;
      const bool has_many_servers = rules.servers.size() > kMaxServers;
      if (has_many_servers || rules.proxies.size() > kMaxServers) {
        return {.obstacle = "it is used at more than " + std::to_string(kMaxServers) +
                            (has_many_servers ? " servers" : " proxies")};
      }
    }
  }
  if (rules.servers.empty()) rules.obstacle = "no context here names its clusters";
  return rules;
}

}  // namespace execcred::migrate
