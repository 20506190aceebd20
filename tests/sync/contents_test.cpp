// SPDX-License-Identifier: Apache-2.0
#include "sync/contents.hpp"
#include "sync/mark.hpp"
#include "sync/names.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/kubeconfig.hpp>

#include <chrono>
#include <string>
#include <utility>

#include "unit/expect.hpp"

using namespace execcred;
using namespace execcred::sync;
using namespace std::chrono_literals;
using execcred::test::check_fails;
using execcred::test::contains;

namespace {

const std::chrono::sys_seconds kStart{std::chrono::seconds(1'800'000'000)};
constexpr const char* kCa = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

class Sample {
 public:
  explicit Sample(std::string name = "spoke-1") : name_(std::move(name)) {
    access_.provider = "p";
    access_.cluster_profile = "fleet/" + name_;
    access_.cluster.server = "https://spoke.example:6443";
    access_.cluster.certificate_authority_data = encode_base64(kCa);
    access_.cluster.config = json::Value("for the plugin");
    credential_.token = SecretString("t0ken");
  }

  Access& access() { return access_; }
  Credential& credential() { return credential_; }
  Issue issue(std::chrono::seconds lifetime = 1h) const {
    return {.access = access_,
            .name_space = "fleet",
            .name = name_,
            .credential = credential_,
            .issued = kStart,
            .expires = kStart + lifetime};
  }

 private:
  std::string name_;
  Access access_;
  Credential credential_;
};

std::string text(const Contents& contents, std::string_view key) {
  const auto found = contents.find(key);
  return found == contents.end() ? "(absent)" : std::string(found->second.reveal());
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("a folder has files for token, CA, server and expiry, and a kubeconfig of these files") {
  const Sample sample;
  const Contents contents = folder_contents(sample.issue());
  CHECK(contents.size() == 5);
  CHECK(text(contents, "token") == "t0ken");
  CHECK(text(contents, "ca.crt") == kCa);
  CHECK(text(contents, "server") == "https://spoke.example:6443");
  CHECK(text(contents, "expiration") == "2027-01-15T09:00:00Z");
  const std::string kubeconfig = text(contents, "kubeconfig");
  CHECK(contains(kubeconfig, "certificate-authority: ca.crt\n"));
  CHECK(contains(kubeconfig, "tokenFile: token\n"));
  CHECK_FALSE(contains(kubeconfig, "t0ken"));
  CHECK_FALSE(contains(kubeconfig, "extensions"));
}

TEST_CASE("a client certificate is the files tls.crt and tls.key, without a token") {
  Sample sample;
  sample.credential().token = SecretString();
  sample.credential().client_certificate = "CERTIFICATE";
  sample.credential().client_key = SecretString("KEY");
  const Contents contents = folder_contents(sample.issue());
  CHECK(text(contents, "token") == "(absent)");
  CHECK(text(contents, "tls.crt") == "CERTIFICATE");
  CHECK(text(contents, "tls.key") == "KEY");
  CHECK(contains(text(contents, "kubeconfig"), "client-key: tls.key\n"));
}

TEST_CASE("a credential without an expiry has no file expiration") {
  const Sample sample;
  Issue issue = sample.issue();
  issue.expires.reset();
  CHECK(text(folder_contents(issue), "expiration") == "(absent)");
}

TEST_CASE("each format has the type, labels and keys that its readers look for") {
  const Sample sample;
  const auto form = [&](SecretFormat format) {
    Result<SecretForm> made = secret_form(format, sample.issue(24h));
    REQUIRE(made.has_value());
    return std::move(made).value();
  };
  const SecretForm flux = form(SecretFormat::kubeconfig);
  CHECK(flux.type == "Opaque");
  CHECK(contains(text(flux.data, "value"), "token: t0ken\n"));
  CHECK(contains(text(flux.data, "value"), "current-context: fleet/spoke-1\n"));
  const SecretForm cluster_api = form(SecretFormat::cluster_api);
  CHECK(cluster_api.type == "cluster.x-k8s.io/secret");
  CHECK(cluster_api.labels.at("cluster.x-k8s.io/cluster-name") == "spoke-1");
  CHECK(text(cluster_api.data, "value") == text(flux.data, "value"));
  const SecretForm istio = form(SecretFormat::istio);
  CHECK(istio.labels.at("istio/multiCluster") == "true");
  CHECK(istio.annotations.at("networking.istio.io/cluster") == "spoke-1");
  CHECK(text(istio.data, "spoke-1") == text(flux.data, "value"));
  const SecretForm token = form(SecretFormat::token);
  CHECK(text(token.data, "token") == "t0ken");
  CHECK(text(token.data, "kubeconfig") == "(absent)");
  CHECK(text(token.data, "expiration") == "2027-01-16T08:00:00Z");
  const SecretForm argocd = form(SecretFormat::argocd);
  CHECK(argocd.labels.at("argocd.argoproj.io/secret-type") == "cluster");
  CHECK(text(argocd.data, "name") == "fleet/spoke-1");
  CHECK(text(argocd.data, "server") == "https://spoke.example:6443");
  const Result<json::Value> config = json::parse(text(argocd.data, "config"));
  REQUIRE(config.has_value());
  CHECK(*config->find("bearerToken")->string() == "t0ken");
  CHECK(*config->find("tlsClientConfig")->find("caData")->string() == encode_base64(kCa));
}

TEST_CASE("each format holds a client certificate and its key where its readers look for them") {
  Sample sample;
  sample.credential().token = SecretString();
  sample.credential().client_certificate = "CERTIFICATE";
  sample.credential().client_key = SecretString("KEY");
  const auto data = [&](SecretFormat format) {
    Result<SecretForm> made = secret_form(format, sample.issue(24h));
    REQUIRE(made.has_value());
    return std::move(made->data);
  };
  const Contents token = data(SecretFormat::token);
  CHECK(text(token, "tls.crt") == "CERTIFICATE");
  CHECK(text(token, "tls.key") == "KEY");
  CHECK(text(token, "token") == "(absent)");
  const Contents argocd = data(SecretFormat::argocd);
  const Result<json::Value> config = json::parse(text(argocd, "config"));
  REQUIRE(config.has_value());
  CHECK(config->find("bearerToken") == nullptr);
  const json::Value* const tls = config->find("tlsClientConfig");
  CHECK(*tls->find("certData")->string() == encode_base64("CERTIFICATE"));
  CHECK(*tls->find("keyData")->string() == encode_base64("KEY"));
  for (const auto& [format, key] :
       {std::pair(SecretFormat::kubeconfig, "value"), std::pair(SecretFormat::cluster_api, "value"),
        std::pair(SecretFormat::istio, "spoke-1")}) {
    const Contents contents = data(format);
    const std::string kubeconfig = text(contents, key);
    CAPTURE(kubeconfig);
    CHECK(contains(kubeconfig, "client-certificate-data: " + encode_base64("CERTIFICATE") + "\n"));
    CHECK(contains(kubeconfig, "client-key-data: " + encode_base64("KEY") + "\n"));
    CHECK_FALSE(contains(kubeconfig, "token"));
  }
}

TEST_CASE("Argo CD's Secret has the TLS server name, the proxy, and whether TLS is verified") {
  Sample sample;
  Cluster& cluster = sample.access().cluster;
  cluster.tls_server_name = "api.internal";
  cluster.proxy_url = "http://proxy.example:3128";
  cluster.disable_compression = true;
  const auto config = [&] {
    const Result<SecretForm> form = secret_form(SecretFormat::argocd, sample.issue());
    REQUIRE(form.has_value());
    Result<json::Value> parsed = json::parse(text(form->data, "config"));
    REQUIRE(parsed.has_value());
    return std::move(parsed).value();
  };
  const json::Value reached = config();
  CHECK(*reached.find("proxyUrl")->string() == "http://proxy.example:3128");
  CHECK(*reached.find("disableCompression")->boolean());
  CHECK(*reached.find("tlsClientConfig")->find("serverName")->string() == "api.internal");
  CHECK_FALSE(*reached.find("tlsClientConfig")->find("insecure")->boolean());
  // Argo CD refuses a CA beside insecure.
  cluster.insecure_skip_tls_verify = true;
  cluster.certificate_authority_data.clear();
  const json::Value unchecked = config();
  CHECK(*unchecked.find("tlsClientConfig")->find("insecure")->boolean());
  CHECK(unchecked.find("tlsClientConfig")->find("caData") == nullptr);
}

TEST_CASE("the format istio refuses credentials of an hour, and takes those of 12 hours") {
  const Sample sample;
  check_fails(secret_form(SecretFormat::istio, sample.issue(1h)), Error::Kind::configuration,
              "the credential lives for 1h");
  CHECK(secret_form(SecretFormat::istio, sample.issue(12h)).has_value());
  // A plugin may report a little less than 12 hours.
  CHECK(secret_form(SecretFormat::istio, sample.issue(12h - 31s)).has_value());
  Issue endless = sample.issue();
  endless.expires.reset();
  CHECK(secret_form(SecretFormat::istio, endless).has_value());
}

TEST_CASE("a Secret that the readers of its format could not use is refused") {
  Sample hub;
  hub.access().cluster.server = "https://kubernetes.default.svc/";
  check_fails(secret_form(SecretFormat::argocd, hub.issue()), Error::Kind::configuration,
              "for its own cluster");
  const Sample long_name(std::string(64, 'a'));
  check_fails(secret_form(SecretFormat::cluster_api, long_name.issue()), Error::Kind::configuration,
              "cannot be the value of a label");
}

TEST_CASE("Secret names: the default of each format, and a template") {
  const auto names = SecretNames::parse(std::nullopt, {SecretFormat::token, SecretFormat::argocd});
  REQUIRE(names.has_value());
  CHECK(names->name_of(SecretFormat::token, "fleet", "a").value() == "a-token");
  CHECK(names->name_of(SecretFormat::argocd, "fleet", "a").value() == "a-argocd");
  CHECK(names->name_of(SecretFormat::istio, "fleet", "a").value() == "istio-remote-secret-a");
  CHECK(names->name_of(SecretFormat::cluster_api, "fleet", "a").value() == "a-kubeconfig");
  check_fails(names->name_of(SecretFormat::token, "fleet", std::string(250, 'a')),
              Error::Kind::configuration, "cannot be a Secret's name");
  const auto other = SecretNames::parse("{namespace}.{name}.x", {SecretFormat::token});
  REQUIRE(other.has_value());
  CHECK(other->name_of(SecretFormat::token, "fleet", "a").value() == "fleet.a.x");
}

TEST_CASE("Secret names: invalid templates, and templates that give one name twice, are refused") {
  const std::vector<SecretFormat> token = {SecretFormat::token};
  check_fails(SecretNames::parse("{cluster}", token), Error::Kind::configuration,
              "placeholder '{cluster}'");
  check_fails(SecretNames::parse("{name}_x", token), Error::Kind::configuration,
              "cannot be a Secret's name");
  check_fails(SecretNames::parse("{name", token), Error::Kind::configuration,
              "cannot be a Secret's name");
  const std::vector<SecretFormat> both = {SecretFormat::kubeconfig, SecretFormat::cluster_api};
  check_fails(SecretNames::parse(std::nullopt, both), Error::Kind::configuration,
              "kubeconfig and cluster-api would have one name");
  check_fails(SecretNames::parse("{name}", {SecretFormat::token, SecretFormat::argocd}),
              Error::Kind::configuration, "would have one name");
  CHECK(SecretNames::parse("{name}-flux", both).has_value());
}

TEST_CASE("a mark is read as it was written, and anything else is refused") {
  const Mark mark{.instance = "blue",
                  .name_space = "fleet",
                  .name = "a",
                  .uid = "u-1",
                  .issued = kStart,
                  .expires = kStart + 1h,
                  .digest = "sha256:00",
                  .is_expired = true};
  const Result<Mark> read = parse_marker(marker_text(mark));
  REQUIRE(read.has_value());
  CHECK(read->is_of(mark));
  CHECK(read->uid == "u-1");
  CHECK(read->issued == mark.issued);
  CHECK(read->expires == mark.expires);
  CHECK(read->digest == mark.digest);
  CHECK(read->is_expired);
  check_fails(parse_marker("{}"), Error::Kind::configuration, "no marker of execcred sync");
  check_fails(parse_marker("[1]"), Error::Kind::configuration, "no marker of execcred sync");
  check_fails(parse_marker("{"), Error::Kind::configuration, "line 1");
  Texts labels;
  Texts annotations = {{"others.io/x", "kept"}};
  write_mark(mark, labels, annotations);
  CHECK(annotations.at("others.io/x") == "kept");
  labels["app.kubernetes.io/managed-by"] = "helm";
  CHECK_FALSE(mark_of(labels, annotations).has_value());
}

TEST_CASE("two ClusterProfiles of one name are the same unless both have a uid and these differ") {
  const Mark old{.instance = "i", .name_space = "n", .name = "a", .uid = "1"};
  Mark other = old;
  other.uid = "2";
  CHECK_FALSE(old.is_same_object(other));
  other.uid = "";
  CHECK(old.is_same_object(other));
}

TEST_CASE("the digest changes with the server and with the plugin's arguments") {
  Sample sample;
  const std::string before = digest_of(sample.access());
  CHECK(before == digest_of(Sample().access()));
  sample.access().cluster.server = "https://other.example:6443";
  CHECK(digest_of(sample.access()) != before);
  sample = Sample();
  sample.access().exec.args.push_back("--x");
  CHECK(digest_of(sample.access()) != before);
}
