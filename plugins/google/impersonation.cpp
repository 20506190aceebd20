// SPDX-License-Identifier: Apache-2.0
#include "access_token.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/oauth/token_reply.hpp>
#include <execcred/os/deadline.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace execcred::google {
namespace {

constexpr std::size_t kMaxMessage = 400;
constexpr std::size_t kMaxStatus = 60;

json::Value strings(const std::vector<std::string>& texts) {
  json::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return json::Value(std::move(array));
}

std::string body_of(const Impersonation& impersonation, const std::vector<std::string>& scopes) {
  json::Value body;
  body.add("delegates",
           impersonation.delegates ? strings(*impersonation.delegates) : json::Value());
  body.add("scope", strings(scopes));
  body.add("lifetime", json::Value(std::to_string(impersonation.lifetime.count()) + "s"));
  return json::to_text(body);
}

std::string_view hint_for(int status) {
  if (status == 403) {
    return "the account that impersonates needs roles/iam.serviceAccountTokenCreator on the "
           "service account, or "
           "roles/iam.workloadIdentityUser for a workload identity pool";
  }
  return status == 404 ? "check the service account's e-mail address" : "";
}

// The error in {"error":{"code":403,"message":"…","status":"PERMISSION_DENIED"}}
// (https://google.aip.dev/193).
Error api_failure(const HttpResponse& reply, const std::string& server) {
  Error error = status_failure(reply, server);
  if (reply.status >= 300 && reply.status < 400) return error;
  error.hint = hint_for(reply.status);
  const Result<json::SecretValue> document = json::parse_secret(reply.body.reveal());
  const json::Value* const described = document ? (*document)->find("error") : nullptr;
  if (described != nullptr) {
    const std::string status = json::text_or_empty(*described, "status");
    const std::string message = json::text_or_empty(*described, "message");
    if (!status.empty()) error.message += " with " + shown_text(status, kMaxStatus);
    if (!message.empty()) error.message += ": " + shown_text(message, kMaxMessage);
  }
  return error;
}

Result<AccessToken> read_reply(const json::Value& document, TimePoint now) {
  std::string text = json::text_or_empty(document, "accessToken");
  const SecretString secret{std::string_view(text)};
  wipe(text);
  if (secret.empty()) return Error::no_credential("the reply has no string 'accessToken'");
  BearerToken bearer = TRY(bearer_token(secret));
  const std::optional<UnverifiedClaims> claims = TRY(bearer.claims());
  AccessToken token = {.token = std::move(bearer).take()};
  const Result<TimePoint> end = parse_rfc3339(json::text_or_empty(document, "expireTime"));
  if (!end) return Error::no_credential("the reply has no time 'expireTime'");
  if (*end <= now)
    return Error::no_credential("the reply's token has ended already, by its 'expireTime'");
  token.expires_at = std::min(*end, now + kLongestLifetime);
  if (!claims) return token;
  TRY(check_lifetime(*claims, now));
  if (claims->expires_at) token.expires_at = std::min(*token.expires_at, *claims->expires_at);
  return token;
}

Result<AccessToken> post(const Impersonation& impersonation, const AccessToken& as,
                         const std::vector<std::string>& scopes, HttpClient& client,
                         CallContext& call) {
  const Url url = TRY(parse_url(impersonation.url));
  const std::string server = origin_of(url);
  HttpRequest request = {.method = "POST", .url = impersonation.url};
  request.add_header("Content-Type", "application/json");
  request.add_header("Accept", "application/json");
  SecretString authorization("Bearer ");
  authorization.append(as.token.reveal());
  request.headers.push_back({.name = "Authorization", .value = std::move(authorization)});
  request.body = SecretString(body_of(impersonation, scopes));
  call.debug("asking " + server + " to act as " + in_quotes(impersonation.account));
  const HttpResponse reply = TRY(send_with_retries(client, std::move(request), call));
  if (reply.status != 200) return api_failure(reply, server);
  const json::SecretValue document = TRY(json_object_of(reply, server));
  return read_reply(*document, call.clock.now()).context("reading the reply of " + server);
}

}  // namespace

Result<AccessToken> impersonate(const Impersonation& impersonation, const AccessToken& as,
                                const std::vector<std::string>& scopes, HttpClient& client,
                                CallContext& call) {
  deadline::enter_phase("impersonating the service account");
  return post(impersonation, as, scopes, client, call)
      .context("impersonating the service account " + in_quotes(impersonation.account));
}

}  // namespace execcred::google
