// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/access_rules.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace execcred {
namespace {

Error refused(std::string message, std::string hint) {
  return Error::by_rule(cause::kServerNotAllowed, std::move(message), std::move(hint));
}

template <class Pattern>
std::string list(const std::vector<Pattern>& patterns) {
  std::vector<std::string> texts;
  texts.reserve(patterns.size());
  for (const Pattern& pattern : patterns) texts.push_back(pattern.text());
  return quoted_list(texts);
}

bool matches_any(const std::vector<UrlPattern>& patterns, const Url& url) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&url](const UrlPattern& pattern) { return pattern.matches(url); });
}

Result<Url> parse_server(std::string_view server, std::string_view field) {
  const std::string subject = std::string(field) + " " + redacted_url(server) + " ";
  const std::string_view scheme = server.substr(0, server.find("://"));
  const bool has_other = scheme.size() < server.size() && !scheme.empty() &&
                         std::all_of(scheme.begin(), scheme.end(), is_alphanumeric) &&
                         ascii_lower(scheme) != "https";
  if (!has_other) {
    Result<Url> url = parse_url(server);
    if (!url) url.error().message.insert(0, subject);
    return std::move(url).hint("it must be https://HOST[:PORT][/PATH]");
  }
  return Error{.kind = Error::Kind::no_credential,
               .message = subject + "is not https",
               .hint = "credentials are given for https servers only",
               .cause = cause::kServerNotAllowed};
}

Status check_server(const AccessRules& rules, const Cluster& cluster) {
  constexpr std::string_view kField = "spec.cluster.server";
  Result<Url> url = parse_server(cluster.server, kField);
  if (!url) {
    // With --allow-server, a server that cannot be identified for certain is not allowed.
    const bool is_refused =
        !rules.allow_server.empty() || url.error().cause == cause::kServerNotAllowed;
    if (!is_refused) return std::move(url).error();
    return refused(std::move(url.error().message), std::move(url.error().hint));
  }
  if (rules.allow_server.empty() || matches_any(rules.allow_server, *url)) return {};
  return refused(
      std::string(kField) + " " + redacted_url(cluster.server) + " matches no --allow-server",
      "allowed: " + list(rules.allow_server) +
          "; add --allow-server=PATTERN if this cluster is meant");
}

Status check_proxy(const AccessRules& rules, const Cluster& cluster, std::string_view who) {
  if (cluster.proxy_url.empty()) return {};
  const Result<Url> url = parse_url(cluster.proxy_url);
  if (url && matches_any(rules.allow_proxy, *url)) return {};
  const std::string subject = "spec.cluster.proxy-url " + redacted_url(cluster.proxy_url) + " ";
  if (!url) {
    return refused(subject + url.error().message,
                   "with " + std::string(who) +
                       " a proxy must be plain http://, https:// or socks5://HOST:PORT");
  }
  return refused(
      subject + "matches no --allow-proxy",
      "with " + std::string(who) + " a proxy must be allowed too: --allow-proxy=PATTERN");
}

Status check_verified(const Cluster& cluster, std::string_view who) {
  if (!cluster.insecure_skip_tls_verify) return {};
  return refused("spec.cluster.insecure-skip-tls-verify is set",
                 std::string(who) + " needs a server whose certificate is verified");
}

// Every certificate that the client would trust must be one of the pinned ones.
Status check_certificate_authority(const AccessRules& rules, const Cluster& cluster) {
  const std::string path = in_quotes(rules.server_ca_file.native());
  const std::string pinned_text =
      TRY(read_file(rules.server_ca_file, kMaxPemFile).context("reading --server-ca-file"));
  const Result<std::vector<std::string>> pinned = parse_pem_certificates(pinned_text);
  if (!pinned) {
    return Error::configuration("--server-ca-file " + path + " " + pinned.error().message);
  }
  const std::string field = "spec.cluster.certificate-authority-data ";
  const std::string hint = "the cluster's CA must be that of --server-ca-file " + path;
  if (cluster.certificate_authority_data.empty()) return refused(field + "is missing", hint);
  const std::optional<std::string> text = decode_base64(cluster.certificate_authority_data);
  if (!text) return refused(field + "is no base64", hint);
  const Result<std::vector<std::string>> given = parse_pem_certificates(*text);
  if (!given) return refused(field + given.error().message, hint);
  for (const std::string& certificate : *given) {
    if (std::find(pinned->begin(), pinned->end(), certificate) == pinned->end()) {
      return refused(field + "holds a certificate that is not pinned", hint);
    }
  }
  return {};
}

// The pinned CA may have signed certificates for other hosts than this one.
Status check_tls_server_name(const Cluster& cluster) {
  if (is_same_verified_host(cluster.server, cluster.tls_server_name, "")) return {};
  return refused("spec.cluster.tls-server-name " + in_quotes(cluster.tls_server_name) +
                     " is not the server's own host name",
                 "with --server-ca-file the certificate must be for the host of "
                 "spec.cluster.server; remove tls-server-name");
}

// The host that `name` means. An IPv6 address may be in brackets, as in a URL, or without them, as
// in tls-server-name.
std::optional<Host> verified_host(std::string_view name) {
  Host host{.kind = Host::Kind::address, .name = std::string(name)};
  if (parse_ip_address(name, host.address)) return host;
  Result<Host> parsed = parse_host(name);
  return parsed ? std::optional(std::move(parsed).value()) : std::nullopt;
}

}  // namespace

bool is_same_verified_host(std::string_view server, std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto host_of = [server](std::string_view name) -> std::optional<Host> {
    if (!name.empty()) return verified_host(name);
    Result<Url> url = parse_url(server);
    return url ? std::optional(std::move(url->host)) : std::nullopt;
  };
  const std::optional<Host> first = host_of(a);
  return first && first == host_of(b);
}

Error missing_cluster_info(std::string_view who) {
  return Error{.kind = Error::Kind::configuration,
               .message = std::string(who) +
                          " needs the cluster's information, and the client "
                          "sent none",
               .hint = "set provideClusterInfo: true where the client runs this plugin",
               .cause = cause::kClusterInfoMissing};
}

Error lacks_cluster_info(Error error) {
  std::string remedies = std::move(error.hint);
  error.hint =
      "set provideClusterInfo: true where the client runs this plugin, so that the ClusterProfile "
      "can name it";
  if (!remedies.empty()) error.hint += "; or " + remedies;
  error.cause = cause::kClusterInfoMissing;
  return error;
}

Status check_server_is_https(std::string_view server, std::string_view field) {
  TRY(parse_server(server, field));
  return {};
}

Status check_cluster(const AccessRules& rules, const ExecInfo& info, std::string_view named_by) {
  const bool is_bound = !rules.allow_server.empty();
  const bool is_pinned = !rules.server_ca_file.empty();
  if (!info.cluster) {
    if (is_bound) return missing_cluster_info("--allow-server");
    if (is_pinned) return missing_cluster_info("--server-ca-file");
    return {};
  }
  TRY(check_server(rules, *info.cluster));
  if (is_bound) named_by = "--allow-server";
  if (!named_by.empty()) TRY(check_connection(rules, *info.cluster, named_by, false));
  if (is_pinned) TRY(check_verified(*info.cluster, "--server-ca-file"));
  if (is_pinned) TRY(check_certificate_authority(rules, *info.cluster));
  if (is_pinned) TRY(check_tls_server_name(*info.cluster));
  return {};
}

Status check_connection(const AccessRules& rules, const Cluster& cluster, std::string_view who,
                        bool allow_insecure) {
  if (!allow_insecure) TRY(check_verified(cluster, who));
  return check_proxy(rules, cluster, who);
}

Status check_audience(const AccessRules& rules, std::string_view audience, const ExecInfo& info) {
  const std::string server = info.cluster ? info.cluster->server : std::string();
  if (rules.allow_audience.empty()) {
    return Error::without_permission(
        "the audience " + in_quotes(audience) +
            " comes from the ClusterProfile, which is not allowed",
        "set --audience in the mapping's args, or --allow-audience=PATTERN");
  }
  const bool is_allowed = std::any_of(
      rules.allow_audience.begin(), rules.allow_audience.end(),
      [&](const AudiencePattern& pattern) { return pattern.matches(audience, server); });
  if (is_allowed) return {};
  const bool needs_server =
      std::any_of(rules.allow_audience.begin(), rules.allow_audience.end(),
                  [](const AudiencePattern& pattern) { return pattern.text() == "server"; });
  if (needs_server && !info.cluster) return missing_cluster_info("--allow-audience=server");
  return Error::by_rule(
      cause::kConfigRefused,
      "the ClusterProfile's audience " + in_quotes(audience) + " matches no --allow-audience",
      "allowed: " + list(rules.allow_audience));
}

}  // namespace execcred
