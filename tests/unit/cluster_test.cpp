// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/try.hpp>
#include <execcred/exec/cluster.hpp>
#include <execcred/json/json_reader.hpp>

#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;

constexpr auto kConfiguration = Error::Kind::configuration;

Result<Cluster> parse_kubeconfig(const std::string& text) {
  const json::Value value = TRY(json::parse(text));
  const json::ObjectReader object = TRY(json::ObjectReader::open(value, "cluster"));
  return parse_kubeconfig_cluster(object);
}

Result<Cluster> parse_exec(const std::string& text) {
  const json::Value value = TRY(json::parse(text));
  const json::ObjectReader object = TRY(json::ObjectReader::open(value, "spec.cluster"));
  return parse_exec_cluster(object);
}

TEST_CASE("parse_kubeconfig_cluster: every known field is passed on to the plugin") {
  const Result<Cluster> cluster = parse_kubeconfig(
      R"({"server":"https://h:6443/p","tls-server-name":"n","insecure-skip-tls-verify":true,)"
      R"("certificate-authority-data":"AAEC","proxy-url":"http://proxy:3128",)"
      R"("disable-compression":true,"unknown":[],"extensions":[)"
      R"({"name":"other","extension":{"x":1}},)"
      R"({"name":"client.authentication.k8s.io/exec","extension":{"b":1,"a":"2"}}]})");
  REQUIRE(cluster);
  CHECK(json::to_text(to_json(*cluster)) ==
        R"({"server":"https://h:6443/p","tls-server-name":"n","insecure-skip-tls-verify":true,)"
        R"("certificate-authority-data":"AAEC","proxy-url":"http://proxy:3128",)"
        R"("disable-compression":true,"config":{"b":1,"a":"2"}})");
}

TEST_CASE("parse_kubeconfig_cluster: absent, null and zero fields are left out, except config") {
  for (const std::string text :
       {R"({"server":"https://h"})",
        R"({"server":"https://h","tls-server-name":"","insecure-skip-tls-verify":false,)"
        R"("certificate-authority-data":"","certificate-authority":"","proxy-url":"",)"
        R"("disable-compression":false,)"
        R"("extensions":[]})",
        R"({"server":"https://h","tls-server-name":null,"insecure-skip-tls-verify":null,)"
        R"("certificate-authority-data":null,"certificate-authority":null,"proxy-url":null,)"
        R"("extensions":null})",
        R"({"server":"https://h","extensions":[{"name":"other","extension":{"x":1}}]})",
        R"({"server":"https://h","extensions":[{"name":"client.authentication.k8s.io/exec"}]})",
        R"({"server":"https://h","extensions":[)"
        R"({"name":"client.authentication.k8s.io/exec","extension":null}]})"}) {
    CAPTURE(text);
    const Result<Cluster> cluster = parse_kubeconfig(text);
    REQUIRE(cluster);
    CHECK(json::to_text(to_json(*cluster)) == R"({"server":"https://h","config":null})");
  }
}

TEST_CASE("parse_kubeconfig_cluster: the base64 of the CA is encoded again, as Go does") {
  const Result<Cluster> cluster =
      parse_kubeconfig(R"({"server":"https://h","certificate-authority-data":"AA\nEC\r\n"})");
  REQUIRE(cluster);
  CHECK(cluster->certificate_authority_data == "AAEC");
}

TEST_CASE("parse_kubeconfig_cluster: an unsafe or malformed field is refused with its path") {
  struct Case {
    std::string text;
    std::string_view told;
  };
  const std::string server = R"({"server":"https://h",)";
  for (const Case& c : std::vector<Case>{
           {"{}", "cluster.server is missing"},
           {R"({"server":""})", "cluster.server is empty"},
           {R"({"server":null})", "cluster.server is missing"},
           {R"({"server":["https://h"]})", "cluster.server must be a string"},
           {server + R"("certificate-authority":"/etc/ca.crt"})", "cluster.certificate-authority"},
           {server +
                R"("certificate-authority":"/etc/ca.crt","certificate-authority-data":"AAEC"})",
            "certificate-authority-data"},
           {server + R"("certificate-authority":{}})", "cluster.certificate-authority"},
           {server + R"("certificate-authority-data":"not base64"})",
            "cluster.certificate-authority-data is no base64"},
           {server + R"("certificate-authority-data":"AAE"})", "is no base64"},
           {server + R"("certificate-authority-data":"-_-_"})", "is no base64"},
           {server + R"("certificate-authority-data":1})", "cluster.certificate-authority-data"},
           {server + R"("insecure-skip-tls-verify":"false"})", "cluster.insecure-skip-tls-verify"},
           {server + R"("disable-compression":0})", "cluster.disable-compression"},
           {server + R"("tls-server-name":1})", "cluster.tls-server-name"},
           {server + R"("tls-server-name":"a\u0000"})", "cluster.tls-server-name"},
           {server + R"("proxy-url":"http://a\r\nb"})", "cluster.proxy-url"},
           {server + R"("extensions":{}})", "cluster.extensions must be an array"},
           {server + R"("extensions":["x"]})", "cluster.extensions[0]"},
           {server + R"("extensions":[{"extension":{}}]})", "cluster.extensions[0].name"},
           {server + R"("extensions":[{"name":"a"},{"name":"b"},{"name":"a"}]})",
            "cluster.extensions[2].name"},
           {server + R"("extensions":[{"name":"client.authentication.k8s.io/exec","extension":1},)"
                     R"({"name":"client.authentication.k8s.io/exec","extension":2}]})",
            "cluster.extensions[1].name"}}) {
    CAPTURE(c.text);
    check_fails(parse_kubeconfig(c.text), kConfiguration, c.told);
  }
}

TEST_CASE(
    "parse_exec_cluster: ignores extra fields of some clients, and does not check the CA data") {
  const Result<Cluster> cluster = parse_exec(
      R"({"server":"https://h","certificate-authority":"/tmp/ca","certificate-authority-data":"?",)"
      R"("extensions":"x","config":[1]})");
  REQUIRE(cluster);
  CHECK(cluster->certificate_authority_data == "?");
  CHECK(json::to_text(cluster->config) == "[1]");
}

}  // namespace
}  // namespace execcred
