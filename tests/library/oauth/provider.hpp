// SPDX-License-Identifier: Apache-2.0
// A token endpoint on loopback, over TLS, with replies that a test sets.
#pragma once

#include "support/stream_server.hpp"

#include <execcred/http/http.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace execcred::test {

class ScriptedProvider {
 public:
  // Sends the replies in turn, and repeats the last. A client_ca requires its certificates.
  explicit ScriptedProvider(std::vector<std::string> replies, const Identity* client_ca = nullptr)
      : replies_(std::move(replies)),
        server_([this](Stream& stream) { converse(stream); },
                {.identity = &identity_, .client_ca = client_ca}) {}

  std::string url(const std::string& path = "/token") const { return server_.url(path); }
  std::string origin() const { return server_.url(""); }
  HttpSettings settings() const { return {.tls = {.ca_certificates = ca_.pem}}; }

  // For replies that name the server's port.
  void set_replies(std::vector<std::string> replies) {
    const std::scoped_lock lock(mutex_);
    replies_ = std::move(replies);
  }

  std::vector<std::string> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }

 private:
  void converse(Stream& stream) {
    for (std::string request = stream.read_request(); !request.empty();
         request = stream.read_request()) {
      if (!stream.write(take(std::move(request)))) return;
    }
  }

  std::string take(std::string request) {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(std::move(request));
    return replies_[std::min(requests_.size(), replies_.size()) - 1];
  }

  mutable std::mutex mutex_;
  std::vector<std::string> replies_;   // under mutex_
  std::vector<std::string> requests_;  // likewise
  Identity ca_ = make_ca("provider CA");
  Identity identity_ = make_identity({.issuer = &ca_});
  StreamServer server_;
};

inline std::string http_reply(int status, const std::string& body,
                              const std::string& headers = {}) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + headers + "\r\n" + body;
}

}  // namespace execcred::test
