// SPDX-License-Identifier: Apache-2.0
// The proxy of AKS's identity bindings, which is used instead of Entra: it exchanges the service
// account's token for one of the bound identity. Its webhook sets variables, which are read as in
// azure-identity 1.27 (WorkloadIdentityCredential, enable_azure_proxy):
//
//   AZURE_KUBERNETES_TOKEN_PROXY    an https URL; the path of the request follows its own
//   AZURE_KUBERNETES_SNI_NAME       the name that its certificate has, if not the URL's host
//   AZURE_KUBERNETES_CA_FILE, or    its CA certificates, in place of the system's
//   AZURE_KUBERNETES_CA_DATA
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>

#include <optional>
#include <string>

namespace execcred::azure {

struct TokenProxy {
  std::string url = {};     // "https://HOST:PORT/PATH", without a slash at its end
  std::string origin = {};  // of the URL, for messages
  std::string server_name = {};
  std::string ca_certificates = {};  // PEM; empty: those of others count

  // Sets the TLS settings for the proxy: the server name, and its CA certificates if it has its
  // own.
  void apply(TlsSettings& tls) const;
};

// nullopt if no variable is set. The CA file is read in each run, because it rotates. Fails
// (configuration) if the other variables are set without the proxy, if there are both a CA file and
// CA data, if the URL is not a plain https URL, or if the certificates are malformed.
Result<std::optional<TokenProxy>> token_proxy_of(const Environment& environment);

}  // namespace execcred::azure
