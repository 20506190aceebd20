// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/template.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/access_rules.hpp>

#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kClusterName = "{clusterName}";

Result<std::string> cluster_name_value(std::string_view cluster_name, const ExecInfo& info) {
  if (!cluster_name.empty()) return std::string(cluster_name);
  if (!info.cluster) return missing_cluster_info(kClusterName);
  const json::Value* const field = info.cluster->config.find("clusterName");
  const bool is_empty = field != nullptr && field->string() != nullptr;
  return Error::configuration(
      "{clusterName} needs the cluster's name, and " +
          std::string(is_empty ? "spec.cluster.config.clusterName is empty" : "none is given"),
      "pass --cluster=NAME, or set clusterName in the ClusterProfile's extension "
      "client.authentication.k8s.io/exec");
}

Result<std::string> server_host_value(const ExecInfo& info) {
  if (!info.cluster) return missing_cluster_info(kServerHost);
  Result<Url> url = parse_url(info.cluster->server);
  if (!url) {
    return Error::configuration(
        "spec.cluster.server " + redacted_url(info.cluster->server) + " " + url.error().message,
        "");
  }
  return std::move(url->host.name);
}

Result<std::string> value_of(std::string_view placeholder, std::string_view cluster_name,
                             const ExecInfo& info) {
  if (placeholder == "clusterName") return cluster_name_value(cluster_name, info);
  if (placeholder == "server.host") return server_host_value(info);
  return Error::configuration(
      in_quotes("{" + std::string(placeholder) + "}") + " is no placeholder",
      "the placeholders are {clusterName} and {server.host}");
}

}  // namespace

bool names_server(std::string_view text) {
  return text.find(kServerHost) != std::string_view::npos;
}

bool needs_cluster_info(std::string_view text, bool has_cluster_name) {
  return names_server(text) ||
         (!has_cluster_name && text.find(kClusterName) != std::string_view::npos);
}

bool has_unexpanded_template(std::string_view text) {
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
    at = text.find_first_not_of("{- \t", at);
    if (at == std::string_view::npos) return false;
    if (text[at] == '.') return true;
  }
  return false;
}

Result<std::string> expand_template(std::string_view text, std::string_view cluster_name,
                                    const ExecInfo& info) {
  std::string expanded;
  for (;;) {
    const std::size_t brace = text.find_first_of("{}");
    expanded += text.substr(0, brace);
    if (brace == std::string_view::npos) return expanded;
    const std::size_t end = text.find('}', brace);
    if (text[brace] == '}' || end == std::string_view::npos) {
      return Error::configuration("has a brace without its counterpart",
                                  "the placeholders are {clusterName} and {server.host}");
    }
    const std::string_view placeholder = text.substr(brace + 1, end - brace - 1);
    const std::string value = TRY(value_of(placeholder, cluster_name, info));
    if (!is_dns1123_subdomain(value)) {
      return Error::configuration("the value of {" + std::string(placeholder) + "}, " +
                                      in_quotes(value) +
                                      ", is no DNS name (RFC 1123: a-z, 0-9, '-' and '.')",
                                  "only such names are put into a path");
    }
    expanded += value;
    text.remove_prefix(end + 1);
  }
}

}  // namespace execcred
