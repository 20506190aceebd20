// SPDX-License-Identifier: Apache-2.0
// Findings about mappings for execcred-bootstrap.
#include "lint.hpp"

#include <execcred/json/json.hpp>

namespace execcred {
namespace {

using test::check_findings;

const std::string kExec = "providers[0].execConfig";
const std::string kServer = "--allow-server=https://*.example.com:6443";
const std::string kInner = R"(--credential=["/plugins/execcred-spiffe","--type=jwt"])";
const std::string kAccount = "--service-account=fleet/controller";

// A mapping with these arguments.
std::string with(const std::vector<std::string>& args, const std::string& more = "") {
  return R"({"providers":[{"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
         R"("command":"/plugins/execcred-bootstrap","args":[)" +
         test::in_json(args) + R"(],"provideClusterInfo":true})" + more + "}]}";
}

std::string profile(const std::string& config) {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
         R"("metadata":{"name":"a","namespace":"b"},"status":{"accessProviders":[{"name":"p",)"
         R"("cluster":{"server":"https://a.example.com:6443","extensions":[)"
         R"({"name":"client.authentication.k8s.io/exec","extension":)" +
         config + "}]}}]}}";
}

TEST_CASE("lint: a complete mapping for bootstrap has no findings") {
  check_findings(with({"--via=token-request", kAccount, kInner, kServer}), {});
  check_findings(with({"--via=csr", "--user=a", kInner, kServer}), {});
}

TEST_CASE("lint: bootstrap without --allow-server, an account or a user") {
  const std::string args = kExec + ".args";
  check_findings(with({"--via=token-request", kAccount, kInner}),
                 {{args, "whichever server a ClusterProfile names"}});
  check_findings(with({"--via=token-request", kInner, kServer}),
                 {{args, "--via=token-request needs --service-account"}});
  check_findings(with({"--via=csr", kInner, kServer}), {{args, "--via=csr needs --user"}});
  check_findings(with({"--via=csr", "--user=a", "--key-type=dsa", kInner, kServer}),
                 {{args + "[2]", "--key-type: 'dsa' is no type of key"}});
}

TEST_CASE("lint: bootstrap's inner plugin has a relative path, or is missing") {
  check_findings(with({"--via=csr", "--user=a", kServer, R"(--credential=["execcred-spiffe"])"}),
                 {{kExec + ".args[3]", "is no absolute path"}});
  check_findings(with({"--via=csr", "--user=a", kServer}), {{kExec + ".args", "--credential"}});
}

TEST_CASE("lint: fields of a ClusterProfile are not checked for bootstrap") {
  const std::string mapping = with({"--via=csr", "--user=a", kInner, kServer});
  check_findings({{.text = mapping, .name = "m"},
                  {.text = profile(R"({"lifetime":7,"user":"admin","via":"csr"})"), .name = "p"}},
                 {});
}

}  // namespace
}  // namespace execcred
