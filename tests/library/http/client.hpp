// SPDX-License-Identifier: Apache-2.0
// What tests of the HTTP client share.
#pragma once

#include "support/stream_server.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/http/http.hpp>

#include <string>
#include <utility>

namespace execcred::test {

// A successful reply with its length.
inline std::string ok_reply(const std::string& body, const std::string& headers = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}

// A request over plain http to a test's server.
inline HttpRequest get(std::string url) {
  return {.url = std::move(url), .allow_plain_http = true};
}

inline Result<HttpResponse> ask(const StreamServer& server, HttpSettings settings = {}) {
  return make_http_client(std::move(settings))->send(get(server.url()));
}

inline std::string authority(const StreamServer& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

inline HttpSettings trusting(const Identity& ca) { return {.tls = {.ca_certificates = ca.pem}}; }

}  // namespace execcred::test
