// SPDX-License-Identifier: Apache-2.0
//
// An HTTPS server on 127.0.0.1 and a free port, for tests with a real client and a real server. It
// runs as long as the object exists.
//
//   LoopbackServer idp([](const auto& request) {
//     return LoopbackServer::Response{.status = request.method == "POST" ? 200 : 405};
//   });
//   client.trust(idp.ca_pem());
//   client.post(idp.url("/token"));
//   CHECK(idp.requests().size() == 1);
//
// TLS 1.2 and 1.3. One thread and one request per connection; the handler may thus run in several
// threads at once, and must return: the destructor waits for it (never for a silent client).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http_message.hpp"

namespace execcred::test {

class LoopbackServer {
 public:
  using Request = HttpRequest;
  using Response = HttpResponse;
  using Handler = std::function<Response(const Request&)>;

  // Listens when it returns. Throws std::runtime_error if it cannot. A handler that throws answers
  // 500 with the exception's text.
  explicit LoopbackServer(Handler handler);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  LoopbackServer(LoopbackServer&&) = delete;
  LoopbackServer& operator=(LoopbackServer&&) = delete;

  // "https://127.0.0.1:PORT" and the path, which starts with a slash or is empty.
  [[nodiscard]] std::string url(std::string_view path = {}) const;

  // The authority that signed the certificate of this server, and of no other server.
  [[nodiscard]] const std::string& ca_pem() const;

  // The complete requests so far, recorded before their handler runs.
  [[nodiscard]] std::vector<Request> requests() const;

  // Connections accepted so far, also those that never became a request.
  [[nodiscard]] std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace execcred::test
