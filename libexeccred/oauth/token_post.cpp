// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/token_post.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/oauth/failure.hpp>

#include <optional>
#include <utility>

namespace execcred {
namespace {

constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

void add_secret(const SecretString& secret, SecretTexts& secrets) {
  if (secret.empty()) return;
  secrets.push_back(secret.copy());
  secrets.push_back(form_urlencode(secret.reveal()));
}

// Sends the post, made anew for each attempt, whatever request it is given.
class PostSender final : public HttpClient {
 public:
  PostSender(HttpClient& client, const TokenPost& post, std::string server)
      : client_(client), post_(post), server_(std::move(server)) {}

  Result<HttpResponse> send(const HttpRequest& wanted) override {
    Result<HttpRequest> request = make_request(wanted);
    if (!request) {
      request.error().is_local = true;
      return std::move(request).error();
    }
    Result<HttpResponse> reply = client_.send(*request);
    if (!reply) return reply;
    std::optional<Error> error = oauth_failure(*reply, server_, secrets_);
    if (error && wanted.is_spent_by_sending) return spent(*std::move(error));
    // The reply itself has the status and the Retry-After that a repetition is decided by.
    const bool is_passing_status = reply->status == 429 || reply->status >= 500;
    if (error && error->is_transient != is_passing_status) return *std::move(error);
    return reply;
  }

  SecretTexts take_secrets() { return std::move(secrets_); }

 private:
  Result<HttpRequest> make_request(const HttpRequest& wanted) {
    HttpRequest request = {.method = wanted.method,
                           .url = wanted.url,
                           .is_spent_by_sending = wanted.is_spent_by_sending};
    request.add_header("Content-Type", kFormType);
    request.add_header("Accept", "application/json");
    const Form form = TRY(post_.make_form(request));
    request.body = form.encoded();
    secrets_.clear();
    for (const SecretString& secret : post_.secrets) add_secret(secret, secrets_);
    for (const Form::Field& field : form.fields()) {
      if (field.is_secret) add_secret(field.value, secrets_);
    }
    for (const HttpHeader& header : request.headers) {
      if (header.name != "Authorization") continue;
      const std::string_view value = header.value.reveal();
      add_secret(SecretString(value.substr(value.find(' ') + 1)), secrets_);  // without "Basic "
    }
    return request;
  }

  HttpClient& client_;
  const TokenPost& post_;
  std::string server_;
  SecretTexts secrets_;  // of the last attempt
};

}  // namespace

Result<TokenReply> post_for_token(HttpClient& client, const TokenPost& post, CallContext& call,
                                  const RetryPolicy& policy) {
  const Result<Url> url = parse_url(post.url);
  if (!url || url->scheme != "https") {
    return Error{.kind = Error::Kind::configuration,
                 .message = "the token URL " + redacted_url(post.url) + " " +
                            (url ? "is no https URL" : url.error().message)};
  }
  PostSender sender(client, post, origin_of(*url));
  const HttpResponse reply = TRY(send_with_retries(
      sender, {.method = "POST", .url = post.url, .is_spent_by_sending = post.is_spent_by_sending},
      call, policy));
  return parse_token_reply(reply, {.token = post.token,
                                   .now = call.clock.now(),
                                   .server = origin_of(*url),
                                   .secrets = sender.take_secrets()});
}

}  // namespace execcred
