// SPDX-License-Identifier: Apache-2.0
// How a cluster is reached, in its two forms: spec.cluster of an ExecCredential
// (k8s.io/client-go/pkg/apis/clientauthentication), and the Cluster of a kubeconfig v1, which a
// ClusterProfile's accessProviders hold (KEP-4322).
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <string_view>

namespace execcred::json {
class ObjectReader;
}

namespace execcred {

// The extension of a kubeconfig Cluster whose value becomes spec.cluster.config.
inline constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

struct Cluster {
  std::string server = {};  // as it was written; not empty
  std::string tls_server_name = {};
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority_data = {};  // base64 of PEM, or empty
  std::string proxy_url = {};
  bool disable_compression = false;
  json::Value config = {};  // any JSON value, verbatim; null where there is none
};

// Reads spec.cluster. The CA is not parsed, because only --server-ca-file needs it. Unknown members
// (certificate-authority, extensions, which some clients send) are ignored. Fails (configuration).
Result<Cluster> parse_exec_cluster(const json::ObjectReader& object);

// Reads the Cluster of a kubeconfig or ClusterProfile. The config comes from the extension named
// kExecExtension. Fails (configuration) for malformed base64, for two extensions of one name, and
// for a certificate-authority path, with which the writer of a ClusterProfile would choose a local
// file of the reader.
Result<Cluster> parse_kubeconfig_cluster(const json::ObjectReader& object);

// The same object that client-go writes as spec.cluster: in its order, without zero values, and
// always with config.
json::Value to_json(const Cluster& cluster);

}  // namespace execcred
