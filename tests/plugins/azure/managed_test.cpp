// SPDX-License-Identifier: Apache-2.0
// Managed identity: which endpoint is called, and how.
#include "cloud.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

constexpr const char* kResource =
    "/subscriptions/0/resourceGroups/rg (x)/providers/Microsoft.ManagedIdentity/"
    "userAssignedIdentities/app";

Outcome app_service(const Cloud& cloud, const Texts& arguments = {}, const Texts& variables = {}) {
  return cloud.run_cold({.arguments = Texts{"--identity=managed"} + arguments,
                         .variables = cloud.app_service_variables() + variables});
}

std::string visible_resource() {
  std::string text = kResource;
  std::erase(text, ' ');
  return text;
}

}  // namespace

TEST_CASE("IMDS: one GET with the header, the API version and the resource, but no credential") {
  const Cloud cloud;
  const Outcome outcome = cloud.managed();
  CHECK_SUCCESS(outcome);
  REQUIRE(cloud.calls() == 1);
  const Received sent = cloud.metadata.last(kImds);
  CHECK(sent.method == "GET");
  CHECK(sent.body == "");
  CHECK(sent.header("Metadata") == "true");
  CHECK(sent.header("Authorization") == "");
  CHECK(sent.header("X-Forwarded-For") == "");
  CHECK(sent.header("X-IDENTITY-HEADER") == "");
  CHECK(sent.parameters() == Texts{"api-version=2018-02-01", std::string("resource=") + kAks});
}

TEST_CASE("IMDS: a user-assigned identity is selected by its client, object or resource ID") {
  const Cloud cloud;
  const std::string resource = visible_resource();
  struct Case {
    std::string option, parameter;
  };
  for (const Case& c :
       {Case{std::string("--client-id=") + kClient, std::string("client_id=") + kClient},
        Case{std::string("--identity-object-id=") + kClient, std::string("object_id=") + kClient},
        Case{"--identity-resource-id=" + resource, "msi_res_id=" + resource}}) {
    CHECK_SUCCESS(cloud.managed({c.option}));
    const Texts sent = cloud.metadata.last(kImds).parameters();
    CHECK(sent.size() == 3);
    CHECK(std::count(sent.begin(), sent.end(), c.parameter) == 1);
  }
  CHECK(cloud.metadata.last(kImds).target.find("msi_res_id=%2Fsubscriptions%2F0%2F") !=
        std::string::npos);
  CHECK_SUCCESS(cloud.managed({"--server-id=https://management.azure.com/"}));
  CHECK(cloud.metadata.last(kImds).parameters().back() == "resource=https://management.azure.com/");
}

TEST_CASE("AZURE_CLIENT_ID names the identity, unless an option names one") {
  const Cloud cloud;
  const Texts variable = {std::string("AZURE_CLIENT_ID=") + kOtherClient};
  CHECK_SUCCESS(cloud.managed({}, variable));
  CHECK(cloud.metadata.last(kImds).parameters()[1] == std::string("client_id=") + kOtherClient);
  CHECK_SUCCESS(cloud.managed({std::string("--client-id=") + kClient}, variable));
  CHECK(cloud.metadata.last(kImds).parameters()[1] == std::string("client_id=") + kClient);
  CHECK_SUCCESS(cloud.managed({"--identity-resource-id=" + visible_resource()}, variable));
  CHECK(cloud.metadata.last(kImds).target.find("client_id") == std::string::npos);
  CHECK_SUCCESS(cloud.managed({}, {"AZURE_CLIENT_ID="}));
  CHECK(cloud.metadata.last(kImds).parameters().size() == 2);
  CHECK_FAILURE(cloud.managed({}, {"AZURE_CLIENT_ID=me"}), 2, "AZURE_CLIENT_ID: 'me' is no GUID");
}

TEST_CASE(
    "an identity that is named twice, or has an invalid name, is refused before any request") {
  const Cloud cloud;
  const std::string client = std::string("--client-id=") + kClient;
  const std::string object = std::string("--identity-object-id=") + kClient;
  const std::string resource = "--identity-resource-id=" + visible_resource();
  for (const Texts& twice : {Texts{client, object}, Texts{client, resource},
                             Texts{object, resource}, Texts{client, object, resource}}) {
    CHECK_REFUSAL(cloud.managed(twice), 2, "named twice");
  }
  CHECK_FAILURE(cloud.managed({object}, {"EXECCRED_IDENTITY_RESOURCE_ID=" + visible_resource()}), 2,
                "the managed identity is named twice");
  for (const std::string bad :
       {"--identity-object-id=me", "--identity-resource-id=app", "--identity-resource-id=/x",
        "--identity-resource-id=/subscriptions/a b", "--client-id=me"}) {
    CAPTURE(bad);
    CHECK_FAILURE(cloud.managed({bad}), 2, bad.substr(0, bad.find('=')) + ": ");
  }
  CHECK(cloud.calls() == 0);
}

TEST_CASE("App Service: the request has the app's endpoint, password and API version") {
  const Cloud cloud;
  CHECK_SUCCESS(app_service(cloud));
  REQUIRE(cloud.calls() == 1);
  const Received sent = cloud.metadata.last(kAppService);
  CHECK(sent.method == "GET");
  CHECK(sent.header("X-IDENTITY-HEADER") == cloud.header);
  CHECK(sent.parameters() == Texts{"api-version=2019-08-01", std::string("resource=") + kAks});
  CHECK_SUCCESS(app_service(cloud, {std::string("--client-id=") + kClient}));
  CHECK(cloud.metadata.last(kAppService).parameters()[1] == std::string("client_id=") + kClient);
  CHECK_SUCCESS(app_service(cloud, {"--identity-resource-id=" + visible_resource()}));
  CHECK(cloud.metadata.last(kAppService).parameters()[1] == "mi_res_id=" + visible_resource());
  // If both are set, App Service's endpoint takes precedence over the machine's.
  CHECK_SUCCESS(app_service(cloud, {}, cloud.imds_variables()));
  CHECK(cloud.metadata.requests(kImds).empty());
}

TEST_CASE("no endpoint of a managed identity is called through a proxy") {
  const Cloud cloud;
  const ScriptedServer proxy(ScriptedServer::Transport::plain);
  const Texts proxies = {"HTTP_PROXY=" + proxy.url(), "http_proxy=" + proxy.url(),
                         "HTTPS_PROXY=" + proxy.url(), "ALL_PROXY=" + proxy.url(),
                         "NO_PROXY=example.com"};
  CHECK_SUCCESS(cloud.managed({}, proxies));
  CHECK_SUCCESS(app_service(cloud, {}, proxies));
  // An https endpoint is not called through a proxy either.
  CHECK_FAILURE(
      cloud.run_cold(
          {.arguments = {"--identity=managed", "--timeout=2s"},
           .variables = proxies + Texts{"AZURE_POD_IDENTITY_AUTHORITY_HOST=https://imds.invalid"}}),
      3, "cannot resolve 'imds.invalid'");
  CHECK(proxy.connections() == 0);
}

TEST_CASE("an endpoint with plain http must be on this machine or link-local") {
  const Cloud cloud;
  for (const std::string host :
       {"http://10.0.0.1", "http://imds.example.com", "http://localhost.example.com",
        "http://169.253.0.1", "http://169.254.169.254.example.com", "ftp://127.0.0.1", "127.0.0.1",
        "http://u:p@127.0.0.1", "http://127.0.0.1?a=b", "http://127.0.0.1/#x", "http://"}) {
    CAPTURE(host);
    CHECK_FAILURE(cloud.run_cold({.arguments = {"--identity=managed"},
                                  .variables = {"AZURE_POD_IDENTITY_AUTHORITY_HOST=" + host}}),
                  2, "AZURE_POD_IDENTITY_AUTHORITY_HOST");
    CHECK_FAILURE(
        cloud.run_cold({.arguments = {"--identity=managed"},
                        .variables = {"IDENTITY_ENDPOINT=" + host, "IDENTITY_HEADER=secret"}}),
        2, "IDENTITY_ENDPOINT");
  }
  const std::string port = cloud.metadata.url().substr(cloud.metadata.url().rfind(':'));
  CHECK_SUCCESS(cloud.run_cold(
      {.arguments = {"--identity=managed"},
       .variables = {"AZURE_POD_IDENTITY_AUTHORITY_HOST=http://localhost" + port + "//"}}));
}

TEST_CASE("a platform with another protocol is refused by its name, and IMDS is not called") {
  const Cloud cloud;
  struct Case {
    Texts variables;
    std::string name;
  };
  for (const Case& c :
       {Case{{"IDENTITY_ENDPOINT=http://127.0.0.1:1/", "IMDS_ENDPOINT=http://127.0.0.1:1/"},
             "Azure Arc"},
        Case{{"IDENTITY_ENDPOINT=http://127.0.0.1:1/", "IDENTITY_HEADER=x",
              "IDENTITY_SERVER_THUMBPRINT=00"},
             "Service Fabric"},
        Case{{"MSI_ENDPOINT=http://127.0.0.1:1/"}, "Cloud Shell"},
        Case{{"IDENTITY_ENDPOINT=http://127.0.0.1:1/"}, "IDENTITY_HEADER"}}) {
    CHECK_REFUSAL(cloud.managed({}, c.variables), 2, c.name);
  }
  CHECK_FAILURE(cloud.managed({}, {"IDENTITY_ENDPOINT=" + cloud.metadata.url(kAppService),
                                   "IDENTITY_HEADER=a\nb"}),
                2, "IDENTITY_HEADER is no value of a header");
  CHECK(cloud.calls() == 0);
}

TEST_CASE("options of the other kind of identity are refused as flags and ignored as variables") {
  const Cloud cloud;
  for (const std::string& option :
       Texts{std::string("--tenant-id=") + kTenant, std::string("--allow-tenant=") + kTenant,
             "--federated-token-file=" + cloud.federated_path,
             "--authority-host=" + cloud.entra.url(), "--ca-file=" + cloud.ca_path}) {
    CAPTURE(option);
    CHECK_REFUSAL(cloud.managed({option}), 2, option.substr(0, option.find('=')));
  }
  for (const std::string& option : Texts{"--identity-resource-id=" + visible_resource(),
                                         std::string("--identity-object-id=") + kClient}) {
    CHECK_REFUSAL(cloud.workload({option}), 2, "--identity=managed");
    CHECK_REFUSAL(cloud.run_cold({.arguments = {option}, .variables = cloud.workload_variables()}),
                  2, "--identity=managed");
  }
  CHECK(cloud.calls() == 0);
  CHECK_SUCCESS(cloud.managed({}, cloud.workload_variables() + Texts{"EXECCRED_TENANT_ID=a.b"}));
  CHECK(cloud.entra.requests().empty());
}

TEST_CASE("a ClusterProfile's tenant is ignored for a managed identity") {
  const Cloud cloud;
  CHECK_SUCCESS(cloud.run_cold({.arguments = {"--identity=managed"},
                                .variables = cloud.imds_variables(),
                                .config = std::string(R"({"tenantId":")") + kTenant + "\"}"}));
}

TEST_CASE("App Service: no message shows the password, even if the endpoint's reply holds it") {
  Cloud cloud;
  cloud.metadata.on(kAppService, [](Stream& stream, const Received& request) {
    stream.write(reply(401, R"({"statusCode":401,"message":"bad header )" +
                                request.header("X-IDENTITY-HEADER") + "\"}"));
  });
  const Outcome outcome = app_service(cloud, {"--debug"});
  CHECK(outcome.exit_code == 1);
  CHECK(blackbox::secret_in(outcome.error_output) == "");
  CHECK(blackbox::says(outcome, "bad header ***"));
  // The same holds for a reply with status 200.
  for (const std::string member : {"error", "token_type"}) {
    cloud.metadata.on(kAppService, [member](Stream& stream, const Received& request) {
      stream.write(reply(200, R"({"access_token":"a",")" + member + "\":\"" +
                                  request.header("X-IDENTITY-HEADER") + "\"}"));
    });
    CHECK_FAILURE(app_service(cloud), 1, "'***'");
  }
}

TEST_CASE("no redirect is followed" * doctest::description("promises 5, 14")) {
  for (const int status : {301, 302, 307, 308}) {
    Cloud cloud;
    ScriptedServer thief(ScriptedServer::Transport::plain);
    cloud.metadata.on(kImds, redirect(status, thief.url("/t")));
    cloud.metadata.on(kAppService, redirect(status, thief.url("/t")));
    CHECK_FAILURE(cloud.managed(), 1, "a redirect, which is never followed");
    CHECK_FAILURE(app_service(cloud), 1, "a redirect, which is never followed");
    CHECK(thief.connections() == 0);
  }
}

}  // namespace execcred::test
