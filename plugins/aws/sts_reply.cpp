// SPDX-License-Identifier: Apache-2.0
#include "sts_reply.hpp"

#include "xml.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>

#include <array>
#include <utility>

namespace execcred::aws {
namespace {

constexpr std::size_t kMaxCode = 60;
constexpr std::size_t kMaxMessage = 400;

constexpr std::string_view kClock = "check this machine's clock";

// The error codes of STS, and those of every AWS service.
constexpr std::array<KnownFailure, 25> kErrors = {{
    {"Throttling", true, {}},
    {"ThrottlingException", true, {}},
    {"ThrottledException", true, {}},
    {"RequestThrottled", true, {}},
    {"RequestThrottledException", true, {}},
    {"RequestLimitExceeded", true, {}},
    {"TooManyRequestsException", true, {}},
    {"BandwidthLimitExceeded", true, {}},
    {"SlowDown", true, {}},
    {"PriorRequestNotComplete", true, {}},
    {"RequestTimeout", true, {}},
    {"RequestTimeoutException", true, {}},
    {"IDPCommunicationError", true, "STS cannot reach the issuer of the web identity"},
    {"ServiceUnavailable", true, {}},
    {"InternalFailure", true, {}},
    {"AccessDenied", false,
     "check the role's trust policy, and that this identity may assume the role",
     cause::kSourceForbidden},
    {"ExpiredTokenException", false,
     "check that whatever renews the web identity's token is still running, and this machine's "
     "clock",
     cause::kSourceExpired},
    {"ExpiredToken", false, "the session that signs has ended; check whatever renews it",
     cause::kSourceExpired},
    {"InvalidIdentityToken", false,
     "check that IAM knows the token's issuer as an identity provider, and its audience"},
    {"IDPRejectedClaim", false, "check the role's trust policy, and the token's claims"},
    {"InvalidClientTokenId", false, "the access key is not known, or the session's token is"},
    {"RegionDisabledException", false, "STS is not enabled in this region for this account"},
    {"RequestExpired", false, kClock},
    {"RequestTimeTooSkewed", false, kClock},
    {"SignatureDoesNotMatch", false, "check the secret access key and this machine's clock"},
}};

Result<json::SecretValue> document_of(const HttpResponse& reply) {
  const std::string_view text = trim(reply.body.reveal());
  if (!text.starts_with('<')) return json::parse_secret(text);
  return json::SecretValue(TRY(parse_xml(text)));
}

std::string text_at(const json::Value& document, std::initializer_list<std::string_view> path) {
  return json::text_or_empty(json::find_at(document, path));
}

struct Failure {
  std::string code = {};
  std::string message = {};
};

// The error in {"Error":{"Code","Message"}}, which may be within an ErrorResponse.
Failure failure_in(const json::Value& document) {
  const json::Value* const inner = document.find("ErrorResponse");
  const json::Value& response = inner == nullptr ? document : *inner;
  return {.code = text_at(response, {"Error", "Code"}),
          .message = text_at(response, {"Error", "Message"})};
}

Error described(const HttpResponse& reply, const Failure& failure, const std::string& server) {
  std::string message =
      server + " answered with the error '" + shown_text(failure.code, kMaxCode) + "'";
  if (!failure.message.empty()) {
    message += ": " + shown_text(failure.message, kMaxMessage);
  }
  return known_failure(kErrors, failure.code, reply.status, std::move(message));
}

Result<RoleSession> session_in(const json::Value& document, const std::string& action) {
  const std::string response = action + "Response";
  const std::string result = action + "Result";
  const json::Value* const found = json::find_at(document, {response, result, "Credentials"});
  if (found == nullptr) return Error::no_credential("it has no credentials of " + action);
  RoleSession session;
  session.credentials = TRY(aws_credentials_of_json(*found, "SessionToken"));
  if (session.credentials.session_token.empty() || !session.credentials.expires_at) {
    return Error::no_credential("its credentials lack a session token, or an end");
  }
  const std::string arn = text_at(document, {response, result, "AssumedRoleUser", "Arn"});
  if (is_visible_ascii(arn)) session.arn = arn.substr(0, kMaxMessage);
  return session;
}

// Whether the reply's code says that the same request may succeed a moment later.
bool is_passing_error(const HttpResponse& reply) {
  const Result<json::SecretValue> document = document_of(reply);
  if (!document) return false;
  const KnownFailure* const known = find_failure(kErrors, failure_in(**document).code);
  return known != nullptr && known->may_pass;
}

}  // namespace

Verdict judge_sts_reply(const HttpRequest& request, const HttpResponse& reply) {
  if (reply.status == 400 && is_passing_error(reply)) return Verdict::retry(reply.retry_after);
  return judge_status(request, reply);
}

Result<RoleSession> read_sts_reply(const HttpResponse& reply, const std::string& action,
                                   const std::string& server) {
  const Result<json::SecretValue> document = document_of(reply);
  if (!document) {
    if (reply.status != 200) return status_failure(reply, server);
    return Error::no_credential(
        "what " + server + " answered is neither JSON nor XML of STS: " + document.error().message,
        "check the URL");
  }
  const Failure failure = failure_in(**document);
  if (!failure.code.empty()) return described(reply, failure, server);
  if (reply.status != 200) return status_failure(reply, server);
  return session_in(**document, action).context("reading what " + server + " answered");
}

}  // namespace execcred::aws
