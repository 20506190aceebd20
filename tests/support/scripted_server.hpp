// SPDX-License-Identifier: Apache-2.0
// A server on loopback, with TLS or without, that gives each path the answer that a case scripted,
// byte for byte or slowly, and keeps what it was asked. Unknown paths get 404, or what the case
// says of all of them.
#pragma once

#include "stream_server.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace execcred::test {

struct Received {
  std::string method = {};
  std::string target = {};  // path and query, as sent
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  bool has_certificate = false;  // the client showed one

  std::string path() const;
  // Empty where there is none; two of one name are joined by ", ".
  std::string header(std::string_view name) const;
  // The body as a form: "name=value", decoded and sorted.
  std::vector<std::string> fields() const;
  // Of the query, likewise.
  std::vector<std::string> parameters() const;
  // The value of one field; "(missing)" or "(twice)".
  std::string field(std::string_view name) const;
};

class ScriptedServer {
 public:
  using Answer = std::function<void(Stream&, const Received&)>;

  enum class Transport { tls, plain };
  // A client_ca demands a certificate of its.
  explicit ScriptedServer(Transport transport = Transport::tls,
                          const Identity* client_ca = nullptr);

  void on(const std::string& path, Answer answer);
  // The same bytes each time.
  void on(const std::string& path, std::string reply);

  // For paths that no answer is scripted for.
  void otherwise(Answer answer);

  std::string url(std::string_view path = "") const { return server_.url(path); }
  std::string authority() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  const std::string& ca_pem() const { return ca_.pem; }
  std::size_t connections() const { return server_.connections(); }

  std::vector<Received> requests() const;
  std::vector<Received> requests(std::string_view path) const;
  std::size_t count(std::string_view path) const { return requests(path).size(); }
  // The last of them; throws where there is none.
  Received last(std::string_view path) const;
  void forget();

 private:
  void converse(Stream& stream);
  Answer answer_to(const Received& request);

  mutable std::mutex mutex_;
  std::map<std::string, Answer, std::less<>> answers_;  // under mutex_
  Answer otherwise_;                                    // likewise
  std::vector<Received> requests_;                      // likewise
  Identity ca_;
  Identity identity_;
  StreamServer server_;
};

// A whole reply.
std::string reply(int status, const std::string& body, const std::string& headers = {});
// 302 and the like.
std::string redirect(int status, const std::string& to);

}  // namespace execcred::test
