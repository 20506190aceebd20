// SPDX-License-Identifier: Apache-2.0
// HTTP for a server whose replies say more than their status: whether a failure may pass, and what
// to tell people about it.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>

#include <functional>
#include <optional>
#include <utility>

namespace execcred::azure {

class JudgingClient final : public HttpClient {
 public:
  // nullopt: the reply is not known to be a failure.
  using Judge = std::function<std::optional<Error>(const HttpResponse&)>;

  // `client` must outlive this.
  JudgingClient(HttpClient& client, Judge judge) : client_(client), judge_(std::move(judge)) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    Result<HttpResponse> reply = client_.send(request);
    failure_.reset();
    if (!reply) return reply;
    failure_ = judge_(*reply);
    // The reply itself has the status and the Retry-After that a repetition is decided by.
    if (failure_ && !(failure_->is_transient && is_repeated(reply->status))) return *failure_;
    return reply;
  }

  // What the last reply was judged to be.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  // By send_with_retries().
  static bool is_repeated(int status) {
    return status == 429 || status == 500 || (status >= 502 && status <= 504);
  }

  HttpClient& client_;
  Judge judge_;
  std::optional<Error> failure_;
};

}  // namespace execcred::azure
