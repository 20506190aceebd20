// SPDX-License-Identifier: Apache-2.0
// A client, and its hub on loopback with answers that a test may set.
#pragma once

#include "support/kubernetes_api.hpp"
#include "support/loopback_server.hpp"

#include <execcred/hub/client.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace execcred::test {

inline constexpr const char* kHubToken = "t0ken";

class HubFixture {
 public:
  using Answer = std::function<HttpResponse(const HttpRequest&)>;

  // Answers as a kube-apiserver, unless `answer` is set.
  explicit HubFixture(Answer answer = {})
      : server_([answer = std::move(answer)](const HttpRequest& request) {
          if (answer) return answer(request);
          const std::vector<ApiUser> users = {
              {.token = kHubToken, .name = "minter", .uid = "u1", .groups = {}}};
          return answer_as_api_server(request, authenticate(request, users));
        }) {}

  HubClient client() const {
    execcred::Hub hub{
        .server = server_.url(), .token = SecretString(kHubToken), .origin = "a test"};
    hub.http.tls.ca_certificates = server_.ca_pem();
    return {std::move(hub), {}, {.first_pause = std::chrono::milliseconds(1)}};
  }
  std::vector<HttpRequest> requests() const { return server_.requests(); }

 private:
  LoopbackServer server_;
};

inline HttpResponse hub_status(int code, const std::string& reason, const std::string& message,
                               const std::string& details = "{}") {
  return {.status = code,
          .headers = {"Content-Type: application/json"},
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
                  R"(","reason":")" + reason + R"(","details":)" + details + R"(,"code":)" +
                  std::to_string(code) + "}"};
}

}  // namespace execcred::test
