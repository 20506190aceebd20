// SPDX-License-Identifier: Apache-2.0
// A server on loopback, with or without TLS, that answers each path as a case has scripted, byte
// for byte or slowly, and records its requests. Unknown paths get 404, or one answer that the case
// sets for all of them.
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
  bool has_certificate = false;  // the client sent one

  std::string path() const;
  // Empty if there is none; two of one name are joined by ", ".
  std::string header(std::string_view name) const;
  // The body as a form: "name=value", decoded and sorted.
  std::vector<std::string> fields() const;
  // The same for the query.
  std::vector<std::string> parameters() const;
  // The value of one field; "(missing)" or "(twice)".
  std::string field(std::string_view name) const;
};

class ScriptedServer {
 public:
  using Answer = std::function<void(Stream&, const Received&)>;

  enum class Transport { tls, plain };
  // With a client_ca, clients must have a certificate that it signed.
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
  // The last request for the path; throws if there is none.
  Received last(std::string_view path) const;
  void forget();

 private:
  void converse(Stream& stream);
  Answer answer_to(const Received& request);

  mutable std::mutex mutex_;
  std::map<std::string, Answer, std::less<>> answers_;  // guarded by mutex_
  Answer otherwise_;                                    // guarded by mutex_
  std::vector<Received> requests_;                      // guarded by mutex_
  Identity ca_;
  Identity identity_;
  StreamServer server_;
};

// A whole reply.
std::string reply(int status, const std::string& body, const std::string& headers = {});
// 302 and the like.
std::string redirect(int status, const std::string& to);

}  // namespace execcred::test
