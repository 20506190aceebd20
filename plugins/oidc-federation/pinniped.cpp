// SPDX-License-Identifier: Apache-2.0
#include "pinniped.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/oauth/token_reply.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/x509/certificate.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace execcred::oidc_federation {
namespace {

constexpr std::size_t kMaxShown = 500;

struct Concierge {
  std::string url = {};  // without a final slash
  HttpSettings http = {};
};

Result<Concierge> find_concierge(const ConciergeOptions& options, const CredentialRequest& request,
                                 const Environment& environment) {
  TRY(check_concierge_destination(options, request));
  Concierge concierge = {.url = options.endpoint, .http = {.proxy = proxy_of(environment)}};
  if (!options.endpoint.empty()) {
    if (!options.ca_file.empty()) {
      concierge.http.tls.ca_certificates =
          TRY(read_ca_file(options.ca_file)
                  .context(request.reading("--concierge-ca-file", options.ca_file)));
    }
  } else {
    const Cluster& cluster = *request.info.cluster;
    concierge.url = cluster.server;
    concierge.http.tls.server_name = cluster.tls_server_name;
    if (!cluster.proxy_url.empty()) concierge.http.proxy = {.url = cluster.proxy_url};
    if (!cluster.certificate_authority_data.empty()) {
      std::optional<std::string> ca = decode_base64(cluster.certificate_authority_data);
      if (!ca) return Error::no_credential("the cluster's certificate-authority-data is no base64");
      concierge.http.tls.ca_certificates = *std::move(ca);
    }
  }
  while (concierge.url.ends_with('/')) concierge.url.pop_back();
  return concierge;
}

SecretString make_body(const ConciergeOptions& options, const SecretString& subject) {
  json::Value authenticator;
  authenticator.add("apiGroup",
                    json::Value("authentication.concierge." + options.api_group_suffix));
  const bool is_jwt = options.authenticator_type == "jwt";
  authenticator.add("kind", json::Value(is_jwt ? "JWTAuthenticator" : "WebhookAuthenticator"));
  authenticator.add("name", json::Value(options.authenticator_name));
  json::Value spec;
  spec.add("token", json::Value(subject.reveal()));
  spec.add("authenticator", std::move(authenticator));
  json::Value document;
  document.add("apiVersion",
               json::Value("login.concierge." + options.api_group_suffix + "/v1alpha1"));
  document.add("kind", json::Value("TokenCredentialRequest"));
  document.add("metadata", json::Value(json::Object()));
  document.add("spec", std::move(spec));
  std::string text = json::to_text(document);
  json::wipe(document);
  SecretString body(text);
  wipe(text);
  return body;
}

// Empty if the member is absent or null. A text may have several lines.
Result<std::string> text_of(const json::ObjectReader& object, std::string_view name) {
  const json::Value* const value = object.find(name);
  if (value == nullptr) return std::string();
  if (value->string() != nullptr) return *value->string();
  return json::wrong_kind(object.path_of(name), "a string", *value);
}

Result<Credential> take_certificate(const json::ObjectReader& found, TimePoint now) {
  Credential credential{.client_certificate = TRY(text_of(found, "clientCertificateData"))};
  std::string key = TRY(text_of(found, "clientKeyData"));
  credential.client_key = SecretString(key);
  wipe(key);
  TRY(check_pair(credential, now));
  return credential;
}

Result<Credential> take_token(std::string text, TimePoint now) {
  const SecretString content(text);
  wipe(text);
  Credential credential;
  BearerToken token = TRY(bearer_token(content));
  const std::optional<UnverifiedClaims> claims = TRY(token.claims());
  TRY(check_token(claims, now, credential));
  credential.token = std::move(token).take();
  return credential;
}

Result<Credential> take_credential(const json::ObjectReader& found, TimePoint now) {
  std::string token = TRY(text_of(found, "token"));
  Credential credential =
      TRY(token.empty() ? take_certificate(found, now) : take_token(std::move(token), now));
  const std::string text = TRY(text_of(found, "expirationTimestamp"));
  if (!text.empty()) {
    const TimePoint end =
        TRY(parse_rfc3339(text).context("reading the credential's expirationTimestamp"));
    if (end <= now) return Error::no_credential("the Concierge's credential has ended at " + text);
    credential.expires_at = std::min(end, credential.expires_at.value_or(end));
  }
  if (credential.expires_at) {
    credential.expires_at = std::min(*credential.expires_at, now + kLongestLifetime);
  }
  return credential;
}

Result<Credential> read_document(const json::Value& document, TimePoint now) {
  const json::ObjectReader root = TRY(json::ObjectReader::open(document, ""));
  const std::optional<json::ObjectReader> status = TRY(root.optional_object("status"));
  std::string message;
  std::optional<json::ObjectReader> found;
  if (status) {
    message = TRY(text_of(*status, "message"));
    found = TRY(status->optional_object("credential"));
  }
  if (found && message.empty()) return take_credential(*found, now);
  return Error::no_credential("the Concierge gives no credential" +
                                  (message.empty() ? "" : ": " + shown_text(message, kMaxShown)),
                              "does its authenticator accept the subject token?");
}

Result<Credential> read_reply(const HttpResponse& reply, const std::string& server, TimePoint now) {
  if (reply.status != 200 && reply.status != 201) {
    Error error = status_failure(reply, server);
    const Result<json::SecretValue> document = json::parse_secret(reply.body.reveal());
    const std::string message =
        document ? json::text_or_empty(**document, "message") : std::string();
    if (!message.empty()) error.message += ": " + shown_text(message, kMaxShown);
    return error;
  }
  const json::SecretValue document = TRY(json_object_of(reply, server));
  Result<Credential> credential = read_document(*document, now);
  if (credential) return credential;
  Error error = std::move(credential).error();
  error.kind = Error::Kind::no_credential;
  return error;
}

}  // namespace

Status check_concierge_destination(const ConciergeOptions& concierge,
                                   const CredentialRequest& request) {
  if (!concierge.endpoint.empty()) return {};
  if (!request.info.cluster) return missing_cluster_info(request.as_typed("--flow") + "=pinniped");
  if (!request.rules.allow_server.empty()) return {};
  return Error{.kind = Error::Kind::configuration,
               .message = "the subject token would go to whichever server a ClusterProfile names",
               .hint =
                   "set --concierge-endpoint=URL, or --allow-server=PATTERN for the clusters "
                   "that may have it"};
}

Result<Credential> ask_concierge(const ConciergeOptions& options, const CredentialRequest& request,
                                 const SecretString& subject, CallContext& call) {
  Concierge concierge = TRY(find_concierge(options, request, call.environment));
  const std::string server = redacted_url(concierge.url);
  deadline::enter_phase("asking the Concierge");
  call.debug("asking the Concierge at " + server);
  HttpRequest post = {.method = "POST",
                      .url = concierge.url + "/apis/login.concierge." + options.api_group_suffix +
                             "/v1alpha1/tokencredentialrequests",
                      .body = make_body(options, subject)};
  post.secrets.push_back(subject.copy());
  post.add_header("Content-Type", "application/json");
  post.add_header("Accept", "application/json");
  const auto client = make_http_client(std::move(concierge.http), call);
  const auto ask = [&]() -> Result<Credential> {
    const HttpResponse reply = TRY(send_with_retries(*client, std::move(post), call));
    return read_reply(reply, server, call.clock.now());
  };
  return ask().context("asking the Concierge at " + server);
}

}  // namespace execcred::oidc_federation
