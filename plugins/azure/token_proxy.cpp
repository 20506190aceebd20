// SPDX-License-Identifier: Apache-2.0
#include "token_proxy.hpp"

#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>

#include <string_view>
#include <utility>

namespace execcred::azure {
namespace {

constexpr std::string_view kProxy = "AZURE_KUBERNETES_TOKEN_PROXY";
constexpr std::string_view kServerName = "AZURE_KUBERNETES_SNI_NAME";
constexpr std::string_view kCaFile = "AZURE_KUBERNETES_CA_FILE";
constexpr std::string_view kCaData = "AZURE_KUBERNETES_CA_DATA";

Status check_alone(const Environment& environment) {
  for (const std::string_view name : {kServerName, kCaFile, kCaData}) {
    if (!environment.get(name)) continue;
    return Error::configuration(
        std::string(kProxy) + " is not set, but " + std::string(name) + " is",
        "AKS's webhook sets them together; remove it, or name the proxy");
  }
  return {};
}

Status read_url(std::string_view text, TokenProxy& proxy) {
  const std::string subject = std::string(kProxy) + " " + redacted_url(text) + " ";
  const std::string hint = "it is https://HOST[:PORT][/PATH], without user info, query or fragment";
  const Result<Url> url = parse_url(text);
  if (!url) return Error::configuration(subject + url.error().message, hint);
  if (url->scheme != "https") return Error::configuration(subject + "is no https URL", hint);
  if (!url->query.empty()) return Error::configuration(subject + "has a query", hint);
  proxy.origin = origin_of(*url);
  proxy.url = proxy.origin + url->path;
  while (proxy.url.ends_with('/')) proxy.url.pop_back();
  return {};
}

Result<std::string> read_certificates(const Environment& environment) {
  const auto file = environment.get(kCaFile);
  const auto data = environment.get(kCaData);
  if (file && data) {
    return Error::configuration(
        std::string(kCaFile) + " and " + std::string(kCaData) + " are both set",
        "one of them gives the CA certificates of the token proxy");
  }
  if (file) {
    return read_ca_file(std::string(*file))
        .context("reading " + std::string(kCaFile) + " " + in_quotes(*file))
        .hint("it names the CA certificates of the token proxy, in PEM");
  }
  if (!data) return std::string();
  const Result<std::vector<std::string>> certificates = parse_pem_certificates(*data);
  if (certificates) return std::string(*data);
  return Error::configuration(std::string(kCaData) + " " + certificates.error().message,
                              "it holds PEM certificates");
}

}  // namespace

void TokenProxy::apply(TlsSettings& tls) const {
  tls.server_name = server_name;
  if (!ca_certificates.empty()) tls.ca_certificates = ca_certificates;
}

Result<std::optional<TokenProxy>> token_proxy_of(const Environment& environment) {
  const auto text = environment.get(kProxy);
  if (!text) {
    TRY(check_alone(environment));
    return std::optional<TokenProxy>();
  }
  TokenProxy proxy;
  TRY(read_url(*text, proxy));
  if (const auto name = environment.get(kServerName)) {
    const Result<Host> host = parse_host(*name);
    if (!host) {
      return Error::configuration(
          std::string(kServerName) + " " + in_quotes(*name) + " " + host.error().message,
          "it is the name that the token proxy's certificate has");
    }
    proxy.server_name = *name;
  }
  proxy.ca_certificates = TRY(read_certificates(environment));
  return std::optional(std::move(proxy));
}

}  // namespace execcred::azure
