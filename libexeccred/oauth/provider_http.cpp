// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/provider_http.hpp>

#include <utility>

namespace execcred {
namespace {

// Tells the cache what it has to know of the replies.
class CallObserver final : public HttpClient {
 public:
  CallObserver(std::unique_ptr<HttpClient> client, ProviderCall& call)
      : client_(std::move(client)), call_(call) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    Result<HttpResponse> reply = client_->send(request);
    if (reply && request.is_spent_by_sending) call_.is_spent = true;
    if (!reply || reply->status < 300) return reply;
    if (reply->retry_after > Duration(0)) call_.retry_after = reply->retry_after;
    return reply;
  }

 private:
  std::unique_ptr<HttpClient> client_;
  ProviderCall& call_;
};

}  // namespace

RetryPolicy provider_policy(const Services& services, const ProviderCall& call) {
  RetryPolicy policy = {.deadline = call.deadline,
                        .debug = [&services](std::string_view step) { services.debug(step); }};
  if (!call.may_retry) policy.attempts = 1;
  return policy;
}

ProviderHttp provider_http(HttpSettings settings, const Services& services, ProviderCall& call) {
  settings.deadline = call.deadline;
  return {.client = std::make_unique<CallObserver>(make_http_client(std::move(settings)), call),
          .policy = provider_policy(services, call)};
}

}  // namespace execcred
