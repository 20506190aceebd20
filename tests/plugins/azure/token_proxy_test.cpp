// SPDX-License-Identifier: Apache-2.0
// AKS's identity bindings: a proxy is called instead of Entra if AKS's webhook sets its variables.
#include "cloud.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const std::string kAt = "/bindings";

// Runs the plugin with a proxy of its own, whose CA is neither the system's nor --ca-file's.
class Binding {
 public:
  Binding() : ca_path(cloud.sandbox.write("proxy-ca.pem", proxy.ca_pem())) {
    token = new_secret();
    proxy.on(kAt + token_path(kTenant), reply(200, token_reply(token)));
  }

  Texts to_proxy(const std::string& url) const {
    return {"AZURE_KUBERNETES_TOKEN_PROXY=" + url, "AZURE_KUBERNETES_CA_FILE=" + ca_path};
  }
  Outcome run(const Texts& variables) const {
    return cloud.run_cold({.variables = cloud.workload_variables() + variables});
  }

  Cloud cloud;
  ScriptedServer proxy;
  std::string ca_path;
  std::string token;
};

}  // namespace

TEST_CASE("identity binding: the proxy is called below its own path, and Entra is not called") {
  const Binding binding;
  for (const std::string& url :
       {binding.proxy.url(kAt), binding.proxy.url(kAt + "/"), binding.proxy.url(kAt + "//")}) {
    CAPTURE(url);
    const Outcome outcome = binding.run(binding.to_proxy(url));
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == binding.token);
    const Received sent = binding.proxy.last(kAt + token_path(kTenant));
    CHECK(sent.method == "POST");
    CHECK(sent.field("client_assertion") == binding.cloud.federated);
    CHECK(sent.field("client_id") == kClient);
    CHECK(sent.header("Host") == binding.proxy.authority());
  }
  CHECK(binding.cloud.entra.connections() == 0);
}

TEST_CASE("identity binding: its CA replaces the system's, as a file or as data") {
  const Binding binding;
  const std::string url = "AZURE_KUBERNETES_TOKEN_PROXY=" + binding.proxy.url(kAt);
  const std::string data = "AZURE_KUBERNETES_CA_DATA=";
  CHECK_SUCCESS(binding.run({url, data + binding.proxy.ca_pem()}));
  CHECK_FAILURE(binding.run({url, data + binding.cloud.entra.ca_pem(), "EXECCRED_TIMEOUT=2s"}), 3,
                "certificate");
  CHECK_FAILURE(binding.run({url, "EXECCRED_TIMEOUT=2s"}), 3, "certificate");
  CHECK_REFUSAL(binding.run({url, data + binding.proxy.ca_pem(),
                             "AZURE_KUBERNETES_CA_FILE=" + binding.ca_path}),
                2, "are both set");
}

TEST_CASE("identity binding: a rotated CA file applies at once, and tokens are cached") {
  const Binding binding;
  const auto run = [&] {
    return binding.cloud.run({.variables = binding.cloud.workload_variables() +
                                           binding.to_proxy(binding.proxy.url(kAt)) +
                                           Texts{"EXECCRED_TIMEOUT=2s"}});
  };
  binding.cloud.sandbox.write("proxy-ca.pem", binding.cloud.entra.ca_pem());
  CHECK_FAILURE(run(), 3, "certificate");
  binding.cloud.sandbox.write("proxy-ca.pem", binding.proxy.ca_pem());
  CHECK_SUCCESS(run());
  CHECK_SUCCESS(run());
  CHECK(binding.proxy.count(kAt + token_path(kTenant)) == 1);
  // A token from Entra itself is another entry.
  CHECK_SUCCESS(binding.cloud.run({.variables = binding.cloud.workload_variables()}));
  CHECK(binding.cloud.calls() == 1);
}

TEST_CASE("identity binding: the certificate is verified for AZURE_KUBERNETES_SNI_NAME") {
  const Binding binding;
  const Texts proxy = binding.to_proxy(binding.proxy.url(kAt));
  CHECK_SUCCESS(binding.run(proxy + Texts{"AZURE_KUBERNETES_SNI_NAME=localhost"}));
  const Outcome other =
      binding.run(proxy + Texts{"AZURE_KUBERNETES_SNI_NAME=other.ests.aks", "EXECCRED_TIMEOUT=2s"});
  CHECK_FAILURE(other, 3, "not for 'other.ests.aks'");
  CHECK_REFUSAL(binding.run(proxy + Texts{"AZURE_KUBERNETES_SNI_NAME=a b"}), 2,
                "AZURE_KUBERNETES_SNI_NAME");
}

TEST_CASE("identity binding: invalid variables are an error, and no server is called") {
  const Binding binding;
  const std::string host = binding.proxy.authority();
  for (const std::string& alone : {std::string("AZURE_KUBERNETES_SNI_NAME=localhost"),
                                   "AZURE_KUBERNETES_CA_FILE=" + binding.ca_path,
                                   "AZURE_KUBERNETES_CA_DATA=" + binding.proxy.ca_pem()}) {
    CAPTURE(alone);
    CHECK_REFUSAL(binding.run({alone}), 2, "AZURE_KUBERNETES_TOKEN_PROXY is not set");
  }
  for (const std::string& url :
       {"http://" + host, "https://user@" + host, "https://u:p4ssword@" + host,
        "https://" + host + "?a=b", "https://" + host + "/p?a", "https://" + host + "#f", host,
        std::string("https://"), "ftp://" + host, "//" + host}) {
    CAPTURE(url);
    CHECK_REFUSAL(binding.run(binding.to_proxy(url)), 2, "AZURE_KUBERNETES_TOKEN_PROXY");
  }
  const std::string url = "AZURE_KUBERNETES_TOKEN_PROXY=" + binding.proxy.url(kAt);
  const std::string empty = binding.cloud.sandbox.write("empty.pem", "");
  CHECK_REFUSAL(binding.run({url, "AZURE_KUBERNETES_CA_FILE=/nowhere.pem"}), 2, "/nowhere.pem");
  CHECK_REFUSAL(binding.run({url, "AZURE_KUBERNETES_CA_FILE=" + empty}), 2,
                "AZURE_KUBERNETES_CA_FILE");
  CHECK_REFUSAL(binding.run({url, "AZURE_KUBERNETES_CA_DATA=none"}), 2, "AZURE_KUBERNETES_CA_DATA");
  CHECK(binding.proxy.connections() == 0);
  CHECK(binding.cloud.calls() == 0);
}

TEST_CASE("identity binding: empty variables are unset, and a managed identity ignores them") {
  const Binding binding;
  CHECK_SUCCESS(binding.run({"AZURE_KUBERNETES_TOKEN_PROXY=", "AZURE_KUBERNETES_SNI_NAME="}));
  CHECK_SUCCESS(binding.cloud.managed({}, {"AZURE_KUBERNETES_SNI_NAME=localhost"}));
  CHECK(binding.cloud.calls() == 2);
}

TEST_CASE("identity binding: an error of the proxy is reported as the proxy's answer") {
  Binding binding;
  binding.proxy.on(kAt + token_path(kTenant),
                   reply(400, entra_error("700213", "invalid_client", "no binding")));
  const Outcome outcome = binding.run(binding.to_proxy(binding.proxy.url(kAt)));
  CHECK_REFUSAL(outcome, 1, "AADSTS700213");
  CHECK(blackbox::says(outcome, binding.proxy.authority()));
}

}  // namespace execcred::test
