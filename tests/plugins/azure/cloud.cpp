// SPDX-License-Identifier: Apache-2.0
#include "cloud.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace execcred::test {
namespace {

// All tokens begin with the same text, which is remembered as one secret for all of them.
std::string opaque_token(int number) {
  const std::string digits = std::to_string(1'000'000 + number);
  return "fr0mEntra-kept-secret-by-everybody-" + digits;
}

}  // namespace

std::string token_path(const std::string& tenant) { return "/" + tenant + "/oauth2/v2.0/token"; }

Cloud::Cloud()
    : federated(service_account_token("ns:app")),
      federated_path(sandbox.write("federated", federated)),
      ca_path(sandbox.write("ca.pem", entra.ca_pem())),
      header("k3ptBetweenTheAppAndItsPlatform") {
  blackbox::remember_secret(header);
  blackbox::remember_secret(opaque_token(0).substr(0, 24));
  const auto give = [this](Stream& stream, const Received&) {
    stream.write(reply(200, token_reply(next_token())));
  };
  for (const char* tenant : {kTenant, kOtherTenant, "contoso.onmicrosoft.com"}) {
    entra.on(token_path(tenant), give);
  }
  metadata.on(kImds, give);
  metadata.on(kAppService, give);
}

std::string Cloud::next_token() { return opaque_token(++tokens_); }

Texts Cloud::workload_options() const {
  return {"--identity=workload", std::string("--client-id=") + kClient,
          std::string("--tenant-id=") + kTenant, "--federated-token-file=" + federated_path,
          "--authority-host=" + entra.url()};
}

Texts Cloud::workload_variables() const {
  return {std::string("AZURE_CLIENT_ID=") + kClient, std::string("AZURE_TENANT_ID=") + kTenant,
          "AZURE_FEDERATED_TOKEN_FILE=" + federated_path, "AZURE_AUTHORITY_HOST=" + entra.url("/")};
}

Texts Cloud::imds_variables() const {
  return {"AZURE_POD_IDENTITY_AUTHORITY_HOST=" + metadata.url()};
}

Texts Cloud::app_service_variables() const {
  return {"IDENTITY_ENDPOINT=" + metadata.url(kAppService), "IDENTITY_HEADER=" + header};
}

blackbox::Command Cloud::command(const Ask& ask) const {
  Texts arguments;
  if (ask.has_cache) arguments.push_back("--cache-dir=" + cache_path);
  const Texts variables = ask.variables + Texts{"EXECCRED_CA_FILE=" + ca_path};
  blackbox::Command command = plugin_command("execcred-azure", arguments + ask.arguments,
                                             variables + asked_for(ask.server, ask.config));
  command.patience = ask.patience;
  return command;
}

Outcome Cloud::workload(const Texts& arguments, Texts variables) const {
  return run_cold({.arguments = workload_options() + arguments, .variables = std::move(variables)});
}

Outcome Cloud::managed(const Texts& arguments, const Texts& variables) const {
  return run_cold({.arguments = Texts{"--identity=managed"} + arguments,
                   .variables = imds_variables() + variables});
}

void Cloud::set_federated(const std::string& content) const { sandbox.write("federated", content); }

void Cloud::entra_answers(const std::string& body, int status, const std::string& headers) {
  entra.on(token_path(kTenant), reply(status, body, headers));
}

void Cloud::imds_answers(const std::string& body, int status, const std::string& headers) {
  metadata.on(kImds, reply(status, body, headers));
}

std::string service_account_token(const std::string& account, std::int64_t seconds) {
  return new_jwt(R"("iss":"https://issuer.example.com/","sub":"system:serviceaccount:)" + account +
                     R"(","aud":["api://AzureADTokenExchange"])",
                 seconds);
}

std::string token_reply(const std::string& token, const std::string& more) {
  return R"({"token_type":"Bearer","expires_in":3600,"ext_expires_in":3600,"access_token":)" +
         blackbox::json_string(token) + more + "}";
}

std::string entra_error(const std::string& code, const std::string& error,
                        const std::string& description) {
  return R"({"error":)" + blackbox::json_string(error) + R"(,"error_description":)" +
         blackbox::json_string("AADSTS" + code + ": " + description +
                               "\r\nTrace ID: 0f1e\r\nCorrelation ID: 2d3c\r\nTimestamp: "
                               "2026-01-01 00:00:00Z") +
         R"(,"error_codes":[)" + code + R"(],"trace_id":"0f1e","correlation_id":"2d3c"})";
}

}  // namespace execcred::test
