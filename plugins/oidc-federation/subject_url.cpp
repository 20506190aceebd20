// SPDX-License-Identifier: Apache-2.0
#include "subject_url.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/google_metadata.hpp>
#include <execcred/oauth/local_url.hpp>

#include <utility>

namespace execcred::oidc_federation {
namespace {

constexpr std::string_view kRequestToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

// `field` is empty if the whole body is the token.
Result<SecretString> fetch_token(HttpRequest request, const std::string& field, TlsSettings tls,
                                 CallContext& call) {
  const Url url = TRY(parse_url(request.url));
  const HttpResponse reply = TRY(ask_local_url(std::move(request), std::move(tls), call));
  return token_of_reply(reply, origin_of(url), field);
}

Result<TlsSettings> tls_of(const SubjectOptions& subject, const CredentialRequest& run) {
  TlsSettings tls;
  if (subject.ca_file.empty()) return tls;
  tls.ca_certificates =
      TRY(read_ca_file(subject.ca_file).context(run.reading("--subject-ca-file", subject.ca_file)));
  return tls;
}

Result<std::string_view> needed_variable(const Environment& environment, std::string_view name) {
  if (const auto value = environment.get(name)) return *value;
  return Error::configuration(
      "the variable " + std::string(name) + " is not set",
      "it is there in a job of GitHub Actions with the permission id-token: write");
}

Result<std::string> github_url(const Options& options, const Environment& environment) {
  constexpr std::string_view kVariable = "ACTIONS_ID_TOKEN_REQUEST_URL";
  const std::string_view base = TRY(needed_variable(environment, kVariable));
  const char separator = base.find('?') == std::string_view::npos ? '?' : '&';
  std::string url(base);
  url += separator;
  url += "audience=" + percent_encode(subject_audience(options));
  TRY(check_local_url(url).context("reading the variable " + std::string(kVariable)));
  return url;
}

}  // namespace

const std::string& subject_audience(const Options& options) {
  return options.subject.audience.empty() ? options.server.issuer_url : options.subject.audience;
}

Status plan_url(const SubjectOptions& subject, Inputs& inputs) {
  const Url url = TRY(parse_url(subject.url));
  // The answer of a server on this machine or at a link-local address depends on the machine.
  if (is_local_host(url.host)) inputs.add_machine();
  return {};
}

Result<SecretString> fetch_url(const SubjectOptions& subject, const CredentialRequest& run,
                               CallContext& call) {
  HttpRequest request = {.url = subject.url};
  for (const RequestHeader& header : subject.headers) {
    request.headers.push_back({.name = header.name, .value = SecretString(header.value)});
  }
  TlsSettings tls = TRY(tls_of(subject, run));
  return fetch_token(std::move(request), subject.field, std::move(tls), call);
}

// The request token belongs to the job: another job is another identity.
Status plan_github_actions(const Options& options, Inputs& inputs) {
  TRY(github_url(options, inputs.environment()));
  TRY(needed_variable(inputs.environment(), kRequestToken));
  return {};
}

Result<SecretString> fetch_github_actions(const Options& options, const CredentialRequest& run,
                                          CallContext& call) {
  HttpRequest request = TRY([&]() -> Result<HttpRequest> {
    std::string url = TRY(github_url(options, call.environment));
    return HttpRequest{.url = std::move(url)};
  }());
  const std::string_view token = TRY(needed_variable(call.environment, kRequestToken));
  SecretString authorization("bearer ");
  authorization.append(token);
  request.headers.push_back({.name = "Authorization", .value = std::move(authorization)});
  request.add_header("Accept", "application/json; api-version=2.0");
  TlsSettings tls = TRY(tls_of(options.subject, run));
  return fetch_token(std::move(request), "value", std::move(tls), call);
}

void plan_gcp_metadata(Inputs& inputs) {
  inputs.add_machine();
  google_metadata_host(inputs.environment());
}

Result<SecretString> fetch_gcp_metadata(const Options& options, CallContext& call) {
  const std::string path = "instance/service-accounts/default/identity?audience=" +
                           percent_encode(subject_audience(options)) + "&format=full";
  const HttpResponse reply = TRY(ask_google_metadata(path, call));
  return token_of_reply(reply, "the metadata server", "");
}

}  // namespace execcred::oidc_federation
