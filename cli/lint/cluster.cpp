// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include "exec.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/access_rules.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/kubeconfig_rules.hpp>
#include <execcred/x509/certificate.hpp>

#include <optional>

namespace execcred::lint {
namespace {

using json::ObjectReader;

constexpr std::string_view kServerForm = "it must be https://HOST[:PORT][/PATH]";

// Kueue takes the host of a URL without a port for an address with its brackets, and then for a
// name.
bool is_host_for_kueue(std::string_view server, const Host& host) {
  if (host.kind == Host::Kind::name) return is_dns1123_subdomain(host.name);
  const std::size_t begin = server.find("://") + 3;
  const std::string_view authority =
      server.substr(begin, server.find_first_of("/?", begin) - begin);
  return !authority.ends_with(']');
}

void check_server_for_kueue(const Scope& scope, std::string_view server, const std::string& path) {
  const Result<Url> url = parse_url(server);
  if (scope.limits().consumer != "kueue" || !url || is_host_for_kueue(server, url->host)) return;
  const bool is_address = url->host.kind == Host::Kind::address;
  scope.as(rule::kKueue)
      .error(path,
             "is " + redacted_url(server) +
                 (is_address ? ", an IPv6 address without a port" : ", with no DNS-1123 name") +
                 ", which Kueue refuses as an untrusted server endpoint",
             is_address ? "write its port, such as :443" : "name the server as DNS does");
}

void check_server(const Scope& scope, const ObjectReader& cluster, ClusterOf owner) {
  const Result<std::string> server = cluster.required_string("server");
  if (!server) {
    scope.add(Severity::error, server.error(), cluster.path(), kServerForm);
    return;
  }
  const Status https = check_server_is_https(*server, cluster.path_of("server"));
  if (https) return check_server_for_kueue(scope, *server, cluster.path_of("server"));
  const Result<Url> url = parse_url(*server);
  const bool is_plain_http = url && url->scheme == "http" && owner != ClusterOf::cluster_profile;
  scope.add(is_plain_http ? Severity::warning : Severity::error, https.error(),
            cluster.path_of("server"), kServerForm);
}

void check_proxy(const Scope& scope, const ObjectReader& cluster) {
  const std::string path = cluster.path_of("proxy-url");
  const Result<std::optional<std::string>> proxy = cluster.optional_string("proxy-url");
  if (!proxy) {
    scope.add(Severity::error, proxy.error(), cluster.path(), "it must be a URL");
    return;
  }
  if (!*proxy || (*proxy)->empty()) return;
  const Result<Proxy> parsed = parse_proxy(**proxy);
  if (parsed) return;
  scope.error(path, "is " + redacted_url(**proxy) + ", which " + parsed.error().message,
              "it must be http://, https:// or socks5://HOST:PORT");
}

// Whether the bytes are one DER element, a SEQUENCE, without bytes after it.
bool is_der_sequence(std::string_view der) {
  const auto byte = [&der](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(der[i]));
  };
  if (der.size() < 2 || byte(0) != 0x30) return false;
  if (byte(1) < 0x80) return der.size() == 2 + byte(1);
  const std::size_t length_bytes = byte(1) - 0x80;
  if (length_bytes == 0 || length_bytes > 4 || der.size() < 2 + length_bytes) return false;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length = length << 8 | byte(2 + i);
  return der.size() == 2 + length_bytes + length;
}

// What clients in other languages may read differently in certificates that Go reads.
std::string difference_of_authority(std::string_view pem) {
  const Result<std::vector<std::string>> certificates = parse_pem_certificates(pem);
  if (!certificates) return certificates.error().message;
  for (const std::string& der : *certificates) {
    if (!is_der_sequence(der)) return "holds a CERTIFICATE block that is no certificate";
  }
  return {};
}

void check_authority(const Scope& scope, const ObjectReader& cluster, ClusterOf owner) {
  constexpr std::string_view kData = "certificate-authority-data";
  constexpr std::string_view kHint = "write base64 of PEM certificates, and nothing else";
  const bool is_of_profile = owner == ClusterOf::cluster_profile;
  const json::Value* const file = cluster.find("certificate-authority");
  // As in the commands, "" counts as absent.
  const bool is_empty_file =
      file != nullptr && file->string() != nullptr && file->string()->empty();
  const bool has_file = file != nullptr && !is_empty_file;
  if (has_file && is_of_profile) {
    scope.error(cluster.path_of("certificate-authority"),
                "is a path: each reader would use its own local file",
                "put the certificates into certificate-authority-data");
  }
  const json::Value* value = cluster.find(kData);
  const std::string path = cluster.path_of(kData);
  if (value != nullptr && value->string() == nullptr) {
    scope.error(path, "must be a string, not " + std::string(value->kind()),
                "write base64 of PEM certificates");
    return;
  }
  const bool has_data = value != nullptr && !value->string()->empty();
  const std::optional<std::string> pem = has_data ? decode_base64(*value->string()) : std::nullopt;
  if (has_data && !pem) return scope.error(path, "is no base64", kHint);
  if (pem) {
    const auto certificates = parse_go_certificates(*pem);
    const Result<std::string> authorities = go_authorities(*pem);
    const std::string difference = difference_of_authority(*pem);
    if (!certificates) {
      if (is_of_profile) scope.error(path, certificates.error().message, kHint);
    } else if (!is_of_profile && !authorities) {
      scope.error(path, authorities.error().message, kHint);
    } else if (!difference.empty()) {
      scope.add(is_of_profile ? Severity::error : Severity::warning, path, difference, kHint);
    }
  }
  if (!is_of_profile) return;
  const Result<bool> insecure = cluster.boolean_or_false("insecure-skip-tls-verify");
  if (insecure && *insecure && (has_data || has_file)) {
    scope.error(cluster.path_of("insecure-skip-tls-verify"),
                "is true beside certificates, which clients refuse", "remove it");
  }
}

void check_flags(const Scope& scope, const ObjectReader& cluster) {
  for (const std::string_view name : {"insecure-skip-tls-verify", "disable-compression"}) {
    const Result<bool> flag = cluster.boolean_or_false(name);
    if (!flag) scope.add(Severity::error, flag.error(), cluster.path(), "write true or false");
  }
  const Result<bool> insecure = cluster.boolean_or_false("insecure-skip-tls-verify");
  if (insecure && *insecure) {
    scope.warning(cluster.path_of("insecure-skip-tls-verify"),
                  "is true: any machine that answers for the server gets the credential",
                  "give certificate-authority-data instead");
  }
  const Result<std::optional<std::string>> name = cluster.optional_string("tls-server-name");
  if (!name) return scope.add(Severity::error, name.error(), cluster.path(), "write a host's name");
  if (!*name || (*name)->empty()) return;
  const Result<Host> host = parse_host(**name);
  if (host) return;
  scope.error(cluster.path_of("tls-server-name"),
              "is " + in_quotes(**name) + ", which " + host.error().message, "write a host's name");
}

// sigs.k8s.io/cluster-inventory-api copies only server, CA data and proxy into the client's
// configuration.
void check_dropped_fields(const Scope& scope, const ObjectReader& cluster) {
  constexpr std::string_view kDropped = "is dropped by upstream's Go library: its clients ";
  const auto warn = [&](std::string_view field, std::string_view effect, std::string_view hint) {
    scope.warning(cluster.path_of(field), std::string(kDropped) + std::string(effect), hint);
  };
  const Result<std::optional<std::string>> name = cluster.optional_string("tls-server-name");
  if (name && *name && !(*name)->empty()) {
    warn("tls-server-name", "verify the certificate for the host of server",
         "add that host's name to the certificate");
  }
  const Result<bool> insecure = cluster.boolean_or_false("insecure-skip-tls-verify");
  if (insecure && *insecure) {
    warn("insecure-skip-tls-verify", "verify the certificate anyway",
         "give certificate-authority-data instead");
  }
  const Result<bool> is_plain = cluster.boolean_or_false("disable-compression");
  if (is_plain && *is_plain) {
    warn("disable-compression", "ask for compressed replies anyway",
         "leave it out, so that all clients do the same");
  }
}

}  // namespace

void check_cluster(const Scope& scope, const ObjectReader& cluster, ClusterOf owner) {
  check_fields(scope, cluster,
               {"server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority",
                "certificate-authority-data", "proxy-url", "disable-compression", "extensions"},
               false);
  const bool is_of_profile = owner == ClusterOf::cluster_profile;
  if (!is_of_profile) {
    for (const Error& problem : kubeconfig_cluster_problems(cluster.value(), cluster.path())) {
      scope.add(Severity::error, problem, cluster.path());
    }
  }
  if (is_of_profile || !json::text_or_empty(cluster.find("server")).empty()) {
    check_server(scope, cluster, owner);
  }
  check_flags(scope, cluster);
  if (is_of_profile) check_dropped_fields(scope, cluster);
  check_authority(scope, cluster, owner);
  if (is_of_profile) check_proxy(scope, cluster);
  check_extensions(scope.as(rule::kExtension), cluster, owner);
}

}  // namespace execcred::lint
