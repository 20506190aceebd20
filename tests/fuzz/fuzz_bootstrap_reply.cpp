// SPDX-License-Identifier: Apache-2.0
// A cluster's answer to execcred-bootstrap: to a TokenRequest, and to a GET of a
// CertificateSigningRequest. The input is "STATUS BODY", and every request gets this answer. An
// accepted answer is a token of the requested account, or a certificate of the requested key. No
// message shows the token that was sent.
#include "error_text.hpp"
#include "fuzz.hpp"
#include "issued_for.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>

#include <bootstrap/signing_request.hpp>
#include <bootstrap/token_request.hpp>

#include <openssl/err.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace execcred::fuzz {
namespace {

constexpr const char* kSent = "bootstrap-token-that-was-sent";
constexpr std::string_view kSubject = "system:serviceaccount:fleet:controller";

class FixedClock final : public Clock {
 public:
  TimePoint now() const override { return kNow; }
};

class OneAnswer final : public HttpClient {
 public:
  OneAnswer(int status, std::string_view body) : status_(status), body_(body) {}

  Result<HttpResponse> send(const HttpRequest& /*request*/) override {
    require(++count_ < 40, "a bounded number of requests");
    return HttpResponse{.status = status_, .body = SecretString(body_)};
  }

 private:
  int status_;
  std::string body_;
  int count_ = 0;
};

bootstrap::Options options_for(bootstrap::Via via) {
  bootstrap::Options options;
  options.via = via;
  options.service_account = "fleet/controller";
  options.audiences = {"server"};
  options.user = issued_subject().common_name;
  options.groups = issued_subject().organizations;
  return options;
}

HubClient client(int status, std::string_view body, const CallContext& call) {
  Hub hub{.server = "https://10.1.2.3:6443", .token = SecretString(kSent), .noun = "the cluster"};
  hub.origin = "--credential";
  return {std::move(hub), std::make_unique<OneAnswer>(status, body), call,
          RetryPolicy{.attempts = 1}};
}

void check_error(const Error& error) {
  const std::string text = text_of(error);
  require(error.kind == Error::Kind::unavailable || error.kind == Error::Kind::no_credential,
          "the cluster is at fault");
  require(text.size() < 4000, "a short message");
  require(text.find(std::string(kSent).substr(0, 12)) == std::string::npos,
          "nothing of what was sent");
}

// The claims of a JWT, by another parser.
nlohmann::json claims_of(const std::string& token) {
  const std::size_t first = token.find('.');
  const std::size_t second = token.find('.', first + 1);
  require(first != std::string::npos && second != std::string::npos, "a JWT");
  const std::optional<std::string> text =
      decode_base64url(token.substr(first + 1, second - first - 1));
  require(text.has_value(), "base64url");
  return nlohmann::json::parse(*text, nullptr, false);
}

void check_token(const Credential& credential, std::string_view body) {
  const std::string token(credential.token.reveal());
  require(!token.empty() && is_visible_ascii(token), "one word");
  require(!credential.expires_at || *credential.expires_at > kNow, "a token that has not ended");
  const nlohmann::json reply = nlohmann::json::parse(body, nullptr, false);
  // Unread members may contain numbers that no double can hold.
  if (reply.is_discarded()) return;
  require(reply.at("status").at("token").get<std::string>() == token, "the token of the reply");
  const nlohmann::json claims = claims_of(token);
  if (claims.is_discarded()) return;
  require(claims.at("sub") == kSubject, "of the account that was asked for");
  const nlohmann::json& audience = claims.at("aud");
  require(audience == "server" ||
              std::find(audience.begin(), audience.end(), "server") != audience.end(),
          "for the audience that was asked for");
}

void check_token_request(int status, std::string_view body, const CallContext& call) {
  HubClient cluster = client(status, body, call);
  const Result<Issued> fresh =
      bootstrap::request_token(options_for(bootstrap::Via::token_request), cluster, call);
  if (!fresh) return check_error(call.outcome->secrets.redacted(fresh.error()));
  require(status / 100 == 2, "a success is a 2xx");
  check_token(fresh->credential, body);
}

void check_signing_request(int status, std::string_view body, const CallContext& call) {
  HubClient cluster = client(status, body, call);
  bootstrap::PendingRequestStore store({}, CacheKey(), call.clock);
  store.write(
      {.name = "execcred-1", .request = "request", .private_key = SecretString(kIssuedKey)});
  const bootstrap::Options options = options_for(bootstrap::Via::csr);
  bootstrap::CertificateSigning signing(options, store, call.clock.now());
  const Result<Issued> fresh = signing.obtain(cluster, call);
  require(ERR_peek_error() == 0, "no error is left for others to find");
  if (!fresh) return check_error(call.outcome->secrets.redacted(fresh.error()));
  require(fresh->credential.client_key.reveal() == kIssuedKey, "our key");
  require(fresh->credential.expires_at > kNow, "a certificate that has not expired");
  const nlohmann::json reply = nlohmann::json::parse(body, nullptr, false);
  if (reply.is_discarded()) return;
  require(reply.at("spec").at("request") == encode_base64("request"), "of our request");
  const auto& conditions = reply.at("status").at("conditions");
  require(std::any_of(conditions.begin(), conditions.end(),
                      [](const nlohmann::json& condition) {
                        return condition.is_object() &&
                               condition.value("type", nlohmann::json()) == "Approved";
                      }),
          "that was approved");
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> halves = parts(input, " ", 2);
  int status = 0;
  for (const char c : halves[0].substr(0, 3)) status = 10 * status + (is_digit(c) ? c - '0' : 1);
  const FixedClock clock;
  CallContext call{.clock = clock};
  call.may_retry = false;
  // This avoids waiting.
  call.is_needed = false;
  check_token_request(status, halves[1], call);
  check_signing_request(status, halves[1], call);
}

}  // namespace execcred::fuzz
