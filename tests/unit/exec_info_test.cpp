// SPDX-License-Identifier: Apache-2.0
// The document that clients send in KUBERNETES_EXEC_INFO.
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/exec/exec_credential.hpp>

#include <array>
#include <string>

namespace execcred {
namespace {

using test::check_fails;
using test::contains;

constexpr auto kConfiguration = Error::Kind::configuration;

ExecInfo parse(std::string_view text, ApiVersion if_absent = ApiVersion::v1) {
  Result<ExecInfo> info = parse_exec_info(text, if_absent);
  CAPTURE(text);
  if (!info) FAIL(test::full_text(info.error()));
  return std::move(info).value();
}

// A document whose spec.cluster is this.
std::string with_cluster(std::string_view cluster) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)" +
         std::string(cluster) + R"(,"interactive":false}})";
}

TEST_CASE("parse_api_version: accepts only the short and the full name") {
  CHECK(*parse_api_version("v1") == ApiVersion::v1);
  CHECK(*parse_api_version("v1beta1") == ApiVersion::v1beta1);
  CHECK(*parse_api_version("client.authentication.k8s.io/v1") == ApiVersion::v1);
  CHECK(*parse_api_version("client.authentication.k8s.io/v1beta1") == ApiVersion::v1beta1);
  for (const std::string_view text :
       {"", "V1", "v1alpha1", "v2", "1", "client.authentication.k8s.io/",
        "client.authentication.k8s.io/v1alpha1", "Client.authentication.k8s.io/v1", " v1", "v1 ",
        "client.authentication.k8s.io/client.authentication.k8s.io/v1", "k8s.io/v1"}) {
    CAPTURE(text);
    check_fails(parse_api_version(text), kConfiguration, "v1 and v1beta1");
  }
}

TEST_CASE("parse_exec_info: accepts the documents that real clients send") {
  struct Case {
    std::string_view client, text;
    bool has_cluster;
  };
  for (
      const Case& c : std::array<Case, 14>{
          {{"client-go",
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://h:6443","config":null},"interactive":false}})",
            true},
           {"client-go without provideClusterInfo",
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})",
            false},
           {"another key order",
            R"({"spec":{"interactive":false,"cluster":{"config":null,"server":"https://h:6443"}},"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"})",
            true},
           {"Python: the raw cluster of its kubeconfig",
            R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": {"interactive": true, "cluster": {"server": "https://h:6443", "certificate-authority": "/tmp/ca.crt", "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"a": 1}}]}}})",
            true},
           {"Python aio",
            R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "spec": {"interactive": false}})",
            false},
           {"C#: misspelt kind",
            R"({"kind":"ExecCredentials","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},"status":null})",
            false},
           {"kube-rs",
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":true,"cluster":null},"status":null})",
            false},
           {"old kube-rs: kind null",
            R"({"kind":null,"apiVersion":"client.authentication.k8s.io/v1","spec":{}})", false},
           {"KEP-541's response",
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"response":{"code":401},"interactive":false}})",
            false},
           {"no spec",
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})", false},
           {"spec null", R"({"apiVersion":"client.authentication.k8s.io/v1","spec":null})", false},
           {"interactive null",
            R"({"apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":null}})",
            false},
           {"no kind", R"({"apiVersion":"client.authentication.k8s.io/v1","spec":{}})", false},
           {"kind empty, white space",
            " \n{ \"kind\" : \"\" ,\t\"apiVersion\" : \"client.authentication.k8s.io/v1\" }\r\n",
            false}}}) {
    CAPTURE(c.client);
    const ExecInfo info = parse(c.text, ApiVersion::v1beta1);
    CHECK(info.version == ApiVersion::v1);
    CHECK(info.interactive ==
          contains(c.text, R"("interactive": true)") + contains(c.text, R"("interactive":true)"));
    REQUIRE(info.cluster.has_value() == c.has_cluster);
    if (c.has_cluster) {
      CHECK(info.cluster->server == "https://h:6443");
      CHECK(info.cluster->config.is_null());
      CHECK(info.cluster->certificate_authority_data.empty());
    }
  }
}

TEST_CASE("parse_exec_info: the document's version is used, without one, the caller's version") {
  for (const ApiVersion given : {ApiVersion::v1, ApiVersion::v1beta1}) {
    for (const std::string_view text : {"{}", R"({"apiVersion":null})", R"({"apiVersion":""})"}) {
      CHECK(parse(text, given).version == given);
    }
    CHECK(parse(R"({"apiVersion":"client.authentication.k8s.io/v1"})", given).version ==
          ApiVersion::v1);
    CHECK(parse(R"({"apiVersion":"client.authentication.k8s.io/v1beta1"})", given).version ==
          ApiVersion::v1beta1);
  }
}

TEST_CASE("parse_exec_info: config may have any type, and is kept unchanged") {
  for (const std::string_view config :
       {"null", "true", "1", R"("text")", "[]", "{}", R"([1,[2,{"a":null}]])",
        R"({"z":1,"a":2,"big":123456789012345678901234567890,"real":1.50,"exp":1e40})"}) {
    CAPTURE(config);
    const ExecInfo info =
        parse(with_cluster(R"({"server":"https://h","config":)" + std::string(config) + "}"));
    CHECK(json::to_text(info.cluster->config) == config);
  }
}

TEST_CASE("parse_exec_info: reads every field of the cluster") {
  const ExecInfo info = parse(with_cluster(
      R"({"server":"https://1.2.3.4:6443","tls-server-name":"bar","insecure-skip-tls-verify":true,)"
      R"("certificate-authority-data":"AAEC\n","proxy-url":"http://u:p@h:9/p?a=b\u0026c=d",)"
      R"("disable-compression":true,"config":{"audience":"x"}})"));
  CHECK(info.cluster->server == "https://1.2.3.4:6443");
  CHECK(info.cluster->tls_server_name == "bar");
  CHECK(info.cluster->insecure_skip_tls_verify);
  CHECK(info.cluster->certificate_authority_data == "AAEC\n");
  CHECK(info.cluster->proxy_url == "http://u:p@h:9/p?a=b&c=d");
  CHECK(info.cluster->disable_compression);
}

TEST_CASE("parse_exec_info: an invalid document is refused with the path of the field") {
  struct Case {
    std::string text;
    std::string_view path;
  };
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  for (const Case& c : std::vector<Case>{
           {"", "the document"},
           {" \n", "the document"},
           {"null", "the document"},
           {"[]", "the document"},
           {"{", "the document"},
           {"{}{}", "the document"},
           {"{} x", "the document"},
           {R"({"spec":{},"spec":{}})", "spec"},
           {R"({"kind":"Pod"})", "kind"},
           {R"({"kind":1})", "kind"},
           {R"({"kind":"execcredential"})", "kind"},
           {R"({"apiVersion":"client.authentication.k8s.io/v1alpha1"})", "apiVersion"},
           {R"({"apiVersion":"v1"})", "apiVersion"},
           {R"({"apiVersion":"authentication.k8s.io/v1"})", "apiVersion"},
           {R"({"apiVersion":1})", "apiVersion"},
           {R"({"spec":[]})", "spec"},
           {R"({"spec":{"interactive":"false"}})", "spec.interactive"},
           {R"({"spec":{"cluster":"https://h"}})", "spec.cluster"},
           {with_cluster("{}"), "spec.cluster.server"},
           {with_cluster(R"({"server":""})"), "spec.cluster.server"},
           {with_cluster(R"({"server":null})"), "spec.cluster.server"},
           {with_cluster(R"({"server":1})"), "spec.cluster.server"},
           {with_cluster(R"({"server":"https://h\n"})"), "spec.cluster.server"},
           {with_cluster(R"({"server":"https://h","server":"https://evil"})"), "server"},
           {with_cluster(R"({"server":"https://h","insecure-skip-tls-verify":"true"})"),
            "spec.cluster.insecure-skip-tls-verify"},
           {with_cluster(R"({"server":"https://h","certificate-authority-data":1})"),
            "spec.cluster.certificate-authority-data"},
           {with_cluster(R"({"server":"https://h","proxy-url":{}})"), "spec.cluster.proxy-url"},
           {with_cluster(R"({"server":"https://h","config":{"a":1,"a":2}})"), "more than once"},
           {with_cluster(R"({"server":"https://h","config":)" + deep + "}"), "nested deeper"},
           {"{\"x\":\"" + std::string(128 * 1024, 'x') + "\"}", "larger than"}}) {
    CAPTURE(c.text.substr(0, 200));
    check_fails(parse_exec_info(c.text, ApiVersion::v1), kConfiguration, c.path);
  }
}

TEST_CASE("write_exec_info: writes byte for byte what client-go sends") {
  for (
      const std::string_view line : std::array<std::string_view, 4>{
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})"
          "\n",
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{"interactive":true}})"
          "\n",
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://1.2.3.4:6443","config":null},"interactive":false}})"
          "\n",
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://1.2.3.4:6443","tls-server-name":"bar","insecure-skip-tls-verify":true,"certificate-authority-data":"AAEC","proxy-url":"http://u:p@h:9/p?a=b\u0026c=d","disable-compression":true,"config":{"audience":"x","n":12345678901234567890123,"s":"\u003ca\u003e \u2028 ü"}},"interactive":false}})"
          "\n"}) {
    CHECK(write_exec_info(parse(line, ApiVersion::v1)) == line);
  }
}

TEST_CASE("write_exec_info: a written document is read back with the same values") {
  ExecInfo info{.version = ApiVersion::v1beta1,
                .interactive = true,
                .cluster = Cluster{.server = "https://h/<&>\u2029\"\\",
                                   .tls_server_name = "n",
                                   .config = *json::parse(R"({"b":[1,"<"],"a":null})")}};
  const std::string line = write_exec_info(info);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK_FALSE(contains(line, "<"));
  const ExecInfo read = parse(line);
  CHECK(read.version == info.version);
  CHECK(read.interactive);
  CHECK(read.cluster->server == info.cluster->server);
  CHECK(read.cluster->tls_server_name == "n");
  CHECK(read.cluster->config == info.cluster->config);
}

}  // namespace
}  // namespace execcred
