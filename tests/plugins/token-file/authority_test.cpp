// SPDX-License-Identifier: Apache-2.0
// --server-ca-file: the cluster's CA data may hold no certificate that the file lacks.
#include "support/certificates.hpp"
#include "support/texts.hpp"
#include "support/token_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace blackbox;
using execcred::test::replaced;

namespace {

constexpr const char* kField = "spec.cluster.certificate-authority-data";

std::string ca_data(const std::string& pem) {
  return ",\"certificate-authority-data\":" + json_string(base64(pem));
}

// The same certificate with its base64 in lines of another length.
std::string rewrapped(const std::string& pem, std::size_t width) {
  const std::size_t start = pem.find('\n') + 1;
  const std::size_t end = pem.find("-----END");
  std::string body = replaced(pem.substr(start, end - start), "\n", "");
  for (std::size_t at = width; at < body.size(); at += width + 1) body.insert(at, "\n");
  return pem.substr(0, start) + body + "\n" + pem.substr(end);
}

struct Pinned {
  TokenFile file;
  std::string option;
  explicit Pinned(const std::string& pem)
      : option("--server-ca-file=" + file.sandbox().write("ca.crt", pem)) {}
  Outcome run(const std::string& more_of_cluster) const {
    return file.run_for(kServer, {option}, more_of_cluster);
  }
};

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("--server-ca-file: the pinned certificate is accepted in every form of PEM") {
  const Pinned pinned(kAuthorityOne);
  const std::string one = kAuthorityOne;
  for (const std::string& pem :
       {one, one + one, replaced(one, "\n", "\r\n"), one.substr(0, one.size() - 1), "\n\n" + one,
        "# the CA of spoke-1\nsubject=CN = one\n" + one + "\nend\n", rewrapped(one, 76),
        rewrapped(one, 10'000)}) {
    CAPTURE(pem);
    CHECK_SUCCESS(pinned.run(ca_data(pem)));
  }
  // The base64 around the PEM may have line breaks, as Go's decoder accepts them.
  std::string wrapped = base64(one);
  wrapped.insert(64, "\r\n");
  CHECK_SUCCESS(pinned.run(",\"certificate-authority-data\":" + json_string(wrapped)));
}

TEST_CASE("--server-ca-file: any of several pinned certificates is accepted, and no other one") {
  const Pinned pinned("# two\n" + kAuthorityOne + kAuthorityTwo);
  CHECK_SUCCESS(pinned.run(ca_data(kAuthorityOne)));
  CHECK_SUCCESS(pinned.run(ca_data(kAuthorityTwo)));
  CHECK_SUCCESS(pinned.run(ca_data(kAuthorityTwo + kAuthorityOne)));
  const Pinned one(kAuthorityOne);
  CHECK_REFUSAL(one.run(ca_data(kAuthorityTwo)), 1, kField);
  CHECK_REFUSAL(one.run(ca_data(kAuthorityOne + kAuthorityTwo)), 1, kField);
  CHECK_REFUSAL(one.run(ca_data(kAuthorityTwo + kAuthorityOne)), 1, kField);
}

TEST_CASE("--server-ca-file: CA data that is missing or unreadable is refused") {
  const Pinned pinned(kAuthorityOne);
  CHECK_REFUSAL(pinned.run(""), 1, kField);
  CHECK_REFUSAL(pinned.run(R"(,"certificate-authority-data":"")"), 1, kField);
  CHECK_REFUSAL(pinned.run(R"(,"certificate-authority-data":null)"), 1, kField);
  CHECK_REFUSAL(pinned.run(R"(,"certificate-authority-data":"%%%")"), 1, kField);
  CHECK_REFUSAL(pinned.run(",\"certificate-authority-data\":" + json_string(kAuthorityOne)), 1,
                kField);
  for (const std::string& pem :
       {std::string("garbage"), std::string("\n"), std::string("-----BEGIN CERTIFICATE-----\n"),
        std::string("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
        kAuthorityOne.substr(0, 200), kAuthorityOne.substr(30)}) {
    CAPTURE(pem);
    CHECK_REFUSAL(pinned.run(ca_data(pem)), 1, kField);
  }
}

TEST_CASE("--server-ca-file: a tls-server-name must be the server's own host") {
  const Pinned pinned(kAuthorityOne);
  const std::string ca = ca_data(kAuthorityOne);
  const auto run = [&](std::string_view server, const std::string& name) {
    return pinned.file.run_for(server, {pinned.option},
                               ca + ",\"tls-server-name\":" + json_string(name));
  };
  for (const std::string name : {"", "api.example.com", "API.Example.COM"}) {
    CAPTURE(name);
    CHECK_SUCCESS(run("https://api.example.com:6443", name));
  }
  CHECK_SUCCESS(run("https://10.1.2.3:6443", "10.1.2.3"));
  CHECK_SUCCESS(run("https://[fd00::1]:6443", "fd00:0::1"));
  for (const std::string name : {"node-7.example.com", "example.com", "*.example.com",
                                 "api.example.com.", "api.example.com:6443", "10.1.2.3", " "}) {
    CAPTURE(name);
    CHECK_REFUSAL(run("https://api.example.com:6443", name), 1,
                  "spec.cluster.tls-server-name '" + name + "' is not the server's own host name");
  }
  CHECK_REFUSAL(run("https://10.1.2.3:6443", "10.1.2.4"), 1, "spec.cluster.tls-server-name");
  // Without --server-ca-file the ClusterProfile may choose it.
  CHECK_SUCCESS(pinned.file.run_for("https://api.example.com:6443", {},
                                    ",\"tls-server-name\":\"node-7.example.com\""));
}

TEST_CASE("--server-ca-file: a hidden second certificate that a client would trust is refused") {
  const Pinned pinned(kAuthorityOne);
  const std::string one = kAuthorityOne;
  const std::string two = kAuthorityTwo;
  std::string no_newline = one.substr(0, one.size() - 1) + two;
  for (const std::string& pem : {
           no_newline,
           one + replaced(two, "\n", "\r"),
           one + replaced(two, "CERTIFICATE", "TRUSTED CERTIFICATE"),
           one + replaced(two, "CERTIFICATE", "X509 CERTIFICATE"),
           one + replaced(two, "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE----- "),
           one + replaced(two, "-----END CERTIFICATE-----", "-----END CERTIFICATE-----\t"),
           one + " " + two,
           one + "text " + two,
           one + std::string(1, '\0') + two,
           one + replaced(two, "-----BEGIN CERTIFICATE-----\n",
                          "-----BEGIN CERTIFICATE-----\nProc-Type: 4\n\n"),
           "-----BEGIN CERTIFICATE-----\n" + two + one,
           one + rewrapped(two, 1),
           replaced(one, "-----END", "AAAA\n-----END"),
           one + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
       }) {
    CAPTURE(pem);
    CHECK_REFUSAL(pinned.run(ca_data(pem)), 1, kField);
  }
}

TEST_CASE("--server-ca-file needs the cluster's information and verified certificates") {
  const Pinned pinned(kAuthorityOne);
  CHECK_REFUSAL(pinned.file.run({pinned.option}), 2, "provideClusterInfo: true");
  CHECK_REFUSAL(pinned.run(",\"insecure-skip-tls-verify\":true" + ca_data(kAuthorityOne)), 1,
                "spec.cluster.insecure-skip-tls-verify");
}

TEST_CASE("--server-ca-file and --allow-server must both agree") {
  const Pinned pinned(kAuthorityOne);
  const std::string right = "--allow-server=https://10.1.2.3:6443";
  CHECK_SUCCESS(pinned.file.run_for(kServer, {pinned.option, right}, ca_data(kAuthorityOne)));
  CHECK_REFUSAL(pinned.file.run_for(kServer, {pinned.option, right}, ca_data(kAuthorityTwo)), 1,
                kField);
  CHECK_REFUSAL(pinned.file.run_for(kServer, {pinned.option, "--allow-server=https://10.1.2.4"},
                                    ca_data(kAuthorityOne)),
                1, "spec.cluster.server");
}

TEST_CASE("--server-ca-file: a file that is no set of certificates is a usage error") {
  const TokenFile file;
  const Sandbox& sandbox = file.sandbox();
  std::string large = kAuthorityOne;
  while (large.size() <= 1024 * 1024) large += large;
  for (const std::string& path :
       {sandbox.at("none"), sandbox.path().native(), std::string("/dev/null"),
        sandbox.write("empty", ""), sandbox.write("text", "no PEM\n"),
        sandbox.write("cut", kAuthorityOne.substr(0, 300)), sandbox.write("large", large),
        sandbox.write("key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
        sandbox.write("writable", kAuthorityOne, 0666)}) {
    CAPTURE(path);
    const Outcome outcome =
        file.run_for(kServer, {"--server-ca-file=" + path}, ca_data(kAuthorityOne));
    CHECK_FAILURE(outcome, 2, "'" + path + "'");
  }
  CHECK_REFUSAL(file.run({"--server-ca-file="}), 2, "--server-ca-file");
}

TEST_CASE("--server-ca-file has no environment form") {
  const Pinned pinned(kAuthorityOne);
  CHECK_SUCCESS(
      pinned.file.run_for(kServer, {}, ca_data(kAuthorityTwo),
                          {"EXECCRED_SERVER_CA_FILE=" + pinned.file.sandbox().at("ca.crt")}));
}

TEST_CASE("without --server-ca-file the CA data is not parsed") {
  const TokenFile file;
  for (const std::string data : {"%%%", "bm90aGluZw==", "", "a b"}) {
    CAPTURE(data);
    CHECK_SUCCESS(file.run_for(kServer, {"--allow-server=https://10.1.2.3:6443"},
                               ",\"certificate-authority-data\":" + json_string(data)));
  }
}

TEST_SUITE_END();
