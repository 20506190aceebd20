// SPDX-License-Identifier: Apache-2.0
// Workload identity: what is sent to Entra, and what the request needs.
#include "cloud.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

Texts sent_fields(const std::string& assertion, const std::string& client = kClient,
                  const std::string& server = kAks) {
  return {"client_assertion=" + assertion,
          "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          "client_id=" + client, "grant_type=client_credentials", "scope=" + server + "/.default"};
}

// The options without those that start with this.
Texts without(Texts texts, const std::string& start) {
  std::erase_if(texts, [&](const std::string& text) { return text.starts_with(start); });
  return texts;
}

}  // namespace

TEST_CASE("one POST to the tenant's token endpoint, with only the fields of an assertion") {
  const Cloud cloud;
  const Outcome outcome = cloud.workload();
  CHECK_SUCCESS(outcome);
  REQUIRE(cloud.calls() == 1);
  const Received sent = cloud.last_post();
  CHECK(sent.method == "POST");
  CHECK(sent.target == token_path(kTenant));
  CHECK(sent.fields() == sent_fields(cloud.federated));
  CHECK(sent.header("Content-Type") == "application/x-www-form-urlencoded");
  CHECK(sent.header("Authorization") == "");
  CHECK(sent.header("Cookie") == "");
  CHECK_FALSE(sent.has_certificate);
  CHECK(is_about(claimed_seconds(outcome), claim_for(3600)));
}

TEST_CASE("the webhook's variables are sufficient, with and without KUBERNETES_EXEC_INFO") {
  const Cloud cloud;
  for (const std::string server : {kSpoke, ""}) {
    CHECK_SUCCESS(cloud.run_cold({.variables = cloud.workload_variables(), .server = server}));
    CHECK(cloud.last_post().fields() == sent_fields(cloud.federated));
  }
  CHECK(cloud.calls() == 2);
}

TEST_CASE("a flag beats EXECCRED variables, they beat AZURE variables, and empty ones are unset") {
  const Cloud cloud;
  const Texts variables = cloud.workload_variables();
  const std::string own = std::string("EXECCRED_CLIENT_ID=") + kOtherClient;
  CHECK_SUCCESS(cloud.run_cold({.variables = variables + Texts{own}}));
  CHECK(cloud.last_post().field("client_id") == kOtherClient);
  CHECK_SUCCESS(cloud.run_cold(
      {.arguments = {std::string("--client-id=") + kClient}, .variables = variables + Texts{own}}));
  CHECK(cloud.last_post().field("client_id") == kClient);
  CHECK_SUCCESS(cloud.run_cold({.variables = variables + Texts{"EXECCRED_CLIENT_ID="}}));
  CHECK(cloud.last_post().field("client_id") == kClient);
}

TEST_CASE("the authority must be an https origin or a host, for other values nothing is sent") {
  const Cloud cloud;
  const std::string host = cloud.entra.authority();
  for (const std::string& good :
       Texts{"https://" + host, "https://" + host + "/", host, host + "/"}) {
    CAPTURE(good);
    CHECK_SUCCESS(cloud.workload({}, {}));
    const Texts options = without(cloud.workload_options(), "--authority-host");
    CHECK_SUCCESS(cloud.run_cold({.arguments = options + Texts{"--authority-host=" + good}}));
    CHECK_SUCCESS(
        cloud.run_cold({.arguments = options, .variables = {"AZURE_AUTHORITY_HOST=" + good}}));
  }
  const std::size_t connections = cloud.entra.connections();
  for (const std::string& bad :
       Texts{"http://" + host, "https://" + host + "/tenant", "https://" + host + "?a=b",
             "ftp://" + host, "https://u:p@" + host, "https://", "https://" + host + "#f",
             std::string("https://a b")}) {
    CAPTURE(bad);
    const Texts options = without(cloud.workload_options(), "--authority-host");
    CHECK_FAILURE(cloud.run_cold({.arguments = options + Texts{"--authority-host=" + bad}}), 2,
                  "--authority-host");
    CHECK_FAILURE(
        cloud.run_cold({.arguments = options, .variables = {"AZURE_AUTHORITY_HOST=" + bad}}), 2,
        "AZURE_AUTHORITY_HOST");
  }
  CHECK(cloud.entra.connections() == connections);
}

TEST_CASE("a configured authority gets one call, and no other server is called") {
  const Cloud cloud;
  const ScriptedServer proxy(ScriptedServer::Transport::plain);
  CHECK_SUCCESS(cloud.workload(
      {}, {"HTTPS_PROXY=" + proxy.url(), "HTTP_PROXY=" + proxy.url(), "ALL_PROXY=" + proxy.url()}));
  CHECK(proxy.connections() == 0);
  CHECK(cloud.calls() == 1);
}

TEST_CASE("the default authority is the public cloud's, called through the environment's proxy") {
  const Cloud cloud;
  ScriptedServer proxy(ScriptedServer::Transport::plain);
  proxy.on("login.microsoftonline.com:443", reply(502, ""));
  const Outcome outcome = cloud.run_cold(
      {.arguments = without(cloud.workload_options(), "--authority-host") + Texts{"--timeout=2s"},
       .variables = {"HTTPS_PROXY=" + proxy.url()}});
  CHECK_FAILURE(outcome, 3, "did not connect to login.microsoftonline.com:443: it");
  REQUIRE(!proxy.requests().empty());
  for (const Received& asked : proxy.requests()) {
    CHECK(asked.method == "CONNECT");
    CHECK(asked.target == "login.microsoftonline.com:443");
  }
}

TEST_CASE("the federated token: white space around it is not sent") {
  const Cloud cloud;
  for (const std::string around : {"\n", "\r\n", " ", "\n\n\t"}) {
    cloud.set_federated(std::string(around).append(cloud.federated).append(around));
    CHECK_SUCCESS(cloud.workload());
    CHECK(cloud.last_post().field("client_assertion") == cloud.federated);
    CHECK(cloud.last_post().body.find("%0A") == std::string::npos);
  }
}

TEST_CASE("the federated token file is read again in each run") {
  const Cloud cloud;
  CHECK_SUCCESS(cloud.workload({"--no-cache"}));
  const std::string renewed = service_account_token("ns:app");
  cloud.set_federated(renewed);
  CHECK_SUCCESS(cloud.workload({"--no-cache"}));
  CHECK(cloud.last_post().field("client_assertion") == renewed);
}

TEST_CASE("without a valid federated token nothing is sent") {
  const Cloud cloud;
  for (const std::string& content :
       Texts{std::string(), std::string("\n"), std::string("not-a-jwt"), std::string("two words"),
             std::string("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"),
             std::string("{\"access_token\":\"x\"}"), service_account_token("ns:app", -60),
             cloud.federated + "\n" + cloud.federated, std::string("eyJhbGciOiJub25lIn0.e30")}) {
    CAPTURE(content);
    cloud.set_federated(content);
    CHECK_FAILURE(cloud.workload(), 1, "the federated token");
  }
  cloud.set_federated(std::string(200'000, 'a'));
  CHECK_FAILURE(cloud.workload(), 2, "it is larger than 128 KiB");
  const Texts options = without(cloud.workload_options(), "--federated-token-file");
  for (const std::string path : {"/nope", "/", "/dev/null", "/dev/zero"}) {
    CAPTURE(path);
    CHECK_FAILURE(cloud.run_cold({.arguments = options + Texts{"--federated-token-file=" + path}}),
                  2, "cannot read");
  }
  CHECK(cloud.entra.connections() == 0);
}

TEST_CASE("--show-config names the variable that sets a value, unless an option sets it") {
  const Cloud cloud;
  Ask ask = {.arguments = {"--show-config"}, .variables = cloud.workload_variables()};
  const auto shown = [&](const std::string& option) {
    const Outcome outcome = cloud.run(ask);
    CHECK(outcome.exit_code == 0);
    return blackbox::shown_setting(outcome.output, option);
  };
  CHECK(shown("--client-id") == std::string(kClient) + " AZURE_CLIENT_ID");
  CHECK(shown("--tenant-id") == std::string(kTenant) + " AZURE_TENANT_ID");
  CHECK(shown("--federated-token-file") == cloud.federated_path + " AZURE_FEDERATED_TOKEN_FILE");
  CHECK(shown("--authority-host") == cloud.entra.url("/") + " AZURE_AUTHORITY_HOST");
  ask.config = std::string(R"({"tenantId":")") + kOtherTenant + "\"}";
  CHECK(shown("--tenant-id") == std::string(kOtherTenant) + " spec.cluster.config.tenantId");
  ask.variables.push_back(std::string("EXECCRED_CLIENT_ID=") + kOtherClient);
  CHECK(shown("--client-id") == std::string(kOtherClient) + " EXECCRED_CLIENT_ID");
  ask.arguments.push_back(std::string("--client-id=") + kClient);
  CHECK(shown("--client-id") == std::string(kClient) + " --client-id");
  // With a managed identity only AZURE_CLIENT_ID applies.
  ask = {.arguments = {"--show-config", "--identity=managed"},
         .variables = cloud.workload_variables()};
  CHECK(shown("--client-id") == std::string(kClient) + " AZURE_CLIENT_ID");
  CHECK(shown("--tenant-id") == "- unset");
  CHECK(shown("--authority-host") == "https://login.microsoftonline.com default");
  CHECK(cloud.calls() == 0);
}

TEST_CASE("with a managed identity, the webhook's other variables are not validated") {
  const Cloud cloud;
  CHECK_SUCCESS(cloud.managed({}, {"AZURE_TENANT_ID=common", "AZURE_AUTHORITY_HOST=http://x"}));
  CHECK_SUCCESS(cloud.managed({"--identity-resource-id=/subscriptions/a"}, {"AZURE_CLIENT_ID=me"}));
}

TEST_CASE("a missing value is reported with the flag and the variable that set it") {
  const Cloud cloud;
  struct Case {
    std::string option, text, variable;
  };
  for (const Case& c : {Case{"--client-id", "no client id is set", "AZURE_CLIENT_ID"},
                        Case{"--tenant-id", "no tenant is set", "AZURE_TENANT_ID"},
                        Case{"--federated-token-file", "no federated token file is set",
                             "AZURE_FEDERATED_TOKEN_FILE"}}) {
    CAPTURE(c.option);
    const Outcome outcome =
        cloud.run_cold({.arguments = without(cloud.workload_options(), c.option)});
    CHECK_FAILURE(outcome, 2, c.text);
    CHECK(blackbox::says(outcome, c.option));
    CHECK(blackbox::says(outcome, c.variable));
  }
  CHECK(cloud.calls() == 0);
}

TEST_CASE("without --identity: a token file selects workload, else the error names both kinds") {
  const Cloud cloud;
  const Texts options = without(cloud.workload_options(), "--identity");
  CHECK_SUCCESS(cloud.run_cold({.arguments = options}));
  CHECK_SUCCESS(cloud.run_cold({.variables = cloud.workload_variables()}));
  CHECK(cloud.metadata.requests().empty());
  const Outcome outcome =
      cloud.run_cold({.arguments = without(options, "--federated-token-file"),
                      .variables = cloud.imds_variables() + cloud.app_service_variables()});
  CHECK_REFUSAL(outcome, 2, "no identity is chosen");
  CHECK(blackbox::says(outcome, "--identity=managed"));
  CHECK(blackbox::says(outcome, "azure.workload.identity/use"));
  CHECK(cloud.metadata.requests().empty());
}

TEST_CASE("invalid identifiers are refused before anything is sent, and their source is named") {
  const Cloud cloud;
  for (const std::string bad :
       {"me", "9999999-8888-7777-6666-555555555555", "99999999",
        "99999999-8888-7777-6666-55555555555g", "99999999-8888-7777-6666-555555555555 "}) {
    CAPTURE(bad);
    const Texts options = without(cloud.workload_options(), "--client-id");
    CHECK_FAILURE(cloud.run_cold({.arguments = options + Texts{"--client-id=" + bad}}), 2,
                  "--client-id");
    CHECK_REFUSAL(cloud.run_cold({.arguments = options, .variables = {"AZURE_CLIENT_ID=" + bad}}),
                  2, "GUID");
  }
  for (const std::string bad :
       {"", " ", "a b", "api://x y", "id&scope=other", "x/.default", "a\nb", "ü", "a%20b", "a,b"}) {
    CAPTURE(bad);
    CHECK_FAILURE(cloud.workload({"--server-id=" + bad}), 2, "--server-id");
  }
  CHECK(cloud.calls() == 0);
}

TEST_CASE("--server-id is the first part of the scope, as a URI or as a GUID") {
  const Cloud cloud;
  for (const std::string id : {"api://spoke-1.example.com", "https://management.azure.com/",
                               "f7c54bd8-ccb9-4a1c-b2a7-c2fcb0ff0a1d"}) {
    CHECK_SUCCESS(cloud.workload({"--server-id=" + id}));
    CHECK(cloud.last_post().field("scope") == id + "/.default");
  }
}

TEST_CASE("no redirect is followed: the assertion stays with the authority" *
          doctest::description("promises 5, 14")) {
  for (const int status : {301, 302, 303, 307, 308}) {
    Cloud cloud;
    ScriptedServer thief(ScriptedServer::Transport::plain);
    cloud.entra.on(token_path(kTenant), redirect(status, thief.url("/t")));
    CHECK_FAILURE(cloud.workload(), 1, "a redirect, which is never followed");
    CHECK(thief.connections() == 0);
    CHECK(cloud.calls() == 1);
  }
}

TEST_CASE("an authority with a certificate of another CA gets no request") {
  const Cloud cloud;
  const ScriptedServer other;
  const std::string ca = cloud.sandbox.write("other-ca.pem", other.ca_pem());
  CHECK_FAILURE(cloud.workload({"--ca-file=" + ca, "--timeout=2s"}), 3,
                "unable to get local issuer certificate");
  CHECK_FAILURE(cloud.workload({"--ca-file=/nope"}), 2,
                "cannot read '/nope': No such file or directory");
  CHECK_REFUSAL(cloud.workload({"--ca-file=" + cloud.sandbox.write("none.pem", "")}), 2,
                "--ca-file");
  CHECK(cloud.entra.requests().empty());
}

TEST_CASE("an authority that is silent or closes the connection ends the run in time") {
  Cloud cloud;
  cloud.entra.on(token_path(kTenant),
                 [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome silent = cloud.workload({"--timeout=1s"});
  CHECK_FAILURE(silent, 3, "did not reply within");
  CHECK(silent.elapsed < blackbox::kNoWait);
  cloud.entra.on(token_path(kTenant), [](Stream& stream, const Received&) {
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"access_token\"");
    stream.cut();
  });
  CHECK_FAILURE(cloud.workload({"--timeout=2s"}), 3,
                "closed the connection in the middle of its reply");
}

TEST_CASE("--show-config shows every setting, and no server is called") {
  const Cloud cloud;
  const Outcome outcome = cloud.workload({"--show-config"});
  CHECK(outcome.exit_code == 0);
  for (const std::string text : {"--identity", "workload", kTenant, kClient, kAks, "--allow-tenant",
                                 "--authority-host", "--identity-resource-id", "--cache-dir"}) {
    CHECK(outcome.output.find(text) != std::string::npos);
  }
  CHECK(cloud.calls() == 0);
}

TEST_CASE("--debug shows where the token is requested, and no secret") {
  const Cloud cloud;
  const Outcome outcome = cloud.workload({"--debug"});
  CHECK(outcome.exit_code == 0);
  CHECK(blackbox::says(outcome, cloud.entra.url()));
  CHECK(blackbox::says(outcome, kTenant));
  CHECK(blackbox::secret_in(outcome.error_output) == "");
}

}  // namespace execcred::test
