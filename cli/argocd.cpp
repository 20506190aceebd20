// SPDX-License-Identifier: Apache-2.0
#include "argocd.hpp"

#include <execcred/base/text.hpp>

#include <utility>

namespace execcred::cli {

bool has_argocd_placeholder(std::string_view argument) {
  return argument.find(kArgocdName) != std::string_view::npos ||
         argument.find(kArgocdServer) != std::string_view::npos;
}

std::string fill_argocd_placeholders(std::string_view argument, std::string_view name,
                                     std::string_view server) {
  std::string filled;
  while (!argument.empty()) {
    const bool is_name = argument.starts_with(kArgocdName);
    if (is_name || argument.starts_with(kArgocdServer)) {
      filled += is_name ? name : server;
      argument.remove_prefix(is_name ? kArgocdName.size() : kArgocdServer.size());
    } else {
      filled += argument.front();
      argument.remove_prefix(1);
    }
  }
  return filled;
}

std::vector<std::string> fill_argocd_placeholders(std::vector<std::string> arguments,
                                                  std::string_view name, std::string_view server) {
  for (std::string& argument : arguments) {
    if (!has_argocd_placeholder(argument)) continue;
    argument = fill_argocd_placeholders(argument, name, server);
  }
  return arguments;
}

Status check_argocd_server(std::string_view server, std::string_view consequence) {
  while (server.ends_with('/')) server.remove_suffix(1);
  if (server != "https://kubernetes.default.svc") return {};
  return Error::configuration("Argo CD takes the server " + in_quotes(server) +
                                  " for its own cluster, and " + std::string(consequence),
                              "use another name or address of this server in the ClusterProfile");
}

json::Value argocd_config(const Cluster& cluster, json::Value config,
                          std::vector<json::Member> tls) {
  json::Value client((json::Object()));
  client.add("insecure", json::Value(cluster.insecure_skip_tls_verify));
  if (!cluster.tls_server_name.empty()) {
    client.add("serverName", json::Value(cluster.tls_server_name));
  }
  if (!cluster.certificate_authority_data.empty()) {
    client.add("caData", json::Value(cluster.certificate_authority_data));
  }
  for (json::Member& member : tls) client.add(member.name, std::move(member.value));
  config.add("tlsClientConfig", std::move(client));
  if (!cluster.proxy_url.empty()) config.add("proxyUrl", json::Value(cluster.proxy_url));
  if (cluster.disable_compression) config.add("disableCompression", json::Value(true));
  return config;
}

}  // namespace execcred::cli
