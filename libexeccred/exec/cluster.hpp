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

// Reads spec.cluster. The CA is not parsed: only --server-ca-file needs it. Unknown members
// (certificate-authority, extensions, which some clients send) are ignored.
Result<Cluster> parse_exec_cluster(const json::ObjectReader& object);

// Of a kubeconfig or ClusterProfile. A certificate-authority path is refused, because the writer of
// a ClusterProfile would choose a local file of the reader; so are malformed base64 and two
// extensions of one name. The config comes from the extension named kExecExtension.
Result<Cluster> parse_kubeconfig_cluster(const json::ObjectReader& object);

// As client-go writes spec.cluster: its order, zero values left out, config always there.
json::Value to_json(const Cluster& cluster);

}  // namespace execcred
