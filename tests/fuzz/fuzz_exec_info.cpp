// SPDX-License-Identifier: Apache-2.0
// KUBERNETES_EXEC_INFO: an accepted document, written as by client-go, is read back as the same.
#include "fuzz.hpp"

#include <execcred/exec/exec_credential.hpp>

#include <algorithm>
#include <string>

namespace execcred::fuzz {
namespace {

bool is_same(const Cluster& a, const Cluster& b) {
  return a.server == b.server && a.tls_server_name == b.tls_server_name &&
         a.insecure_skip_tls_verify == b.insecure_skip_tls_verify &&
         a.certificate_authority_data == b.certificate_authority_data &&
         a.proxy_url == b.proxy_url && a.disable_compression == b.disable_compression &&
         a.config == b.config;
}

void check_info(const ExecInfo& info) {
  require(!info.cluster || !info.cluster->server.empty(), "a cluster has a server");
  const std::string written = write_exec_info(info);
  require(written.ends_with("}\n") && std::count(written.begin(), written.end(), '\n') == 1,
          "one line");
  require(written.find_first_of("<>&") == std::string::npos, "escaped as by Go");
  const ApiVersion other = info.version == ApiVersion::v1 ? ApiVersion::v1beta1 : ApiVersion::v1;
  const Result<ExecInfo> again = parse_exec_info(written, other);
  // Escapes may make the text larger than the limit.
  if (!again && written.size() > json::Limits().bytes) return;
  require(again.has_value(), "what is written can be read");
  require(again->version == info.version && again->interactive == info.interactive,
          "the same question");
  require(again->cluster.has_value() == info.cluster.has_value(), "about a cluster, or none");
  require(!info.cluster || is_same(*again->cluster, *info.cluster), "the same cluster");
  require(write_exec_info(*again) == written, "written in one way");
}

}  // namespace

void check(std::string_view input) {
  for (const ApiVersion version : {ApiVersion::v1, ApiVersion::v1beta1}) {
    const Result<ExecInfo> info = parse_exec_info(input, version);
    if (info) {
      check_info(*info);
    } else {
      require(info.error().kind == Error::Kind::configuration, "a bad question is configuration");
    }
  }
}

}  // namespace execcred::fuzz
