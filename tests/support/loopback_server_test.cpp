// SPDX-License-Identifier: Apache-2.0
#include "loopback_server.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <openssl/pem.h>

#include "openssl_handles.hpp"

namespace execcred::test {
namespace {

// A TLS client that trusts one authority and checks the name 127.0.0.1.
class TlsClient {
 public:
  explicit TlsClient(const std::string& ca_pem, int max_version = 0)
      : context_(SSL_CTX_new(TLS_client_method())) {
    const BioPtr memory(BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())));
    const CertificatePtr authority(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
    REQUIRE(X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get()) == 1);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    // Security level 0 lets OpenSSL offer TLS 1.0 and 1.1 at all.
    SSL_CTX_set_security_level(context_.get(), 0);
    REQUIRE(SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION) == 1);
    REQUIRE(SSL_CTX_set_max_proto_version(context_.get(), max_version) == 1);
  }

  // A connection after its handshake; nullptr when that failed.
  [[nodiscard]] BioPtr connect(const LoopbackServer& server) const {
    BioPtr connection(BIO_new_ssl_connect(context_.get()));
    SSL* tls = nullptr;
    BIO_get_ssl(connection.get(), &tls);
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), "127.0.0.1");
    std::string address = server.url().substr(std::string_view("https://").size());
    BIO_set_conn_hostname(connection.get(), address.data());
    if (BIO_do_connect(connection.get()) != 1) connection.reset();
    ERR_clear_error();
    return connection;
  }

  // The whole response to some bytes; nullopt when the handshake failed.
  [[nodiscard]] std::optional<std::string> exchange(const LoopbackServer& server,
                                                    const std::string& request) const {
    const BioPtr connection = connect(server);
    if (connection == nullptr) return std::nullopt;
    BIO_write(connection.get(), request.data(), static_cast<int>(request.size()));
    std::string response;
    std::array<char, 4096> buffer{};
    int size = 0;
    while ((size = BIO_read(connection.get(), buffer.data(), buffer.size())) > 0) {
      response.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return response;
  }

 private:
  SslContextPtr context_;
};

LoopbackServer::Response say_hello(const LoopbackServer::Request& /*request*/) {
  return {.status = 200, .body = "hello"};
}

const std::string kGet = "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_CASE("loopback server: answers a client that trusts its CA, and records the request") {
  const LoopbackServer server(say_hello);
  const std::optional<std::string> response = TlsClient(server.ca_pem()).exchange(server, kGet);
  REQUIRE(response.has_value());
  CHECK(response->starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(response->ends_with("\r\n\r\nhello"));
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0].target == "/a?b=c");
}

TEST_CASE("loopback server: each server has its own CA, and a client refuses another one") {
  const LoopbackServer server(say_hello);
  const LoopbackServer other(say_hello);
  CHECK_FALSE(TlsClient(other.ca_pem()).exchange(server, kGet).has_value());
  CHECK(server.requests().empty());
  CHECK(server.connections() == 1);
}

TEST_CASE("loopback server: supports TLS 1.2 and 1.3, and no older version") {
  struct Case {
    int version;
    bool accepted;
  };
  const LoopbackServer server(say_hello);
  for (const Case each : {Case{.version = TLS1_VERSION, .accepted = false},
                          Case{.version = TLS1_1_VERSION, .accepted = false},
                          Case{.version = TLS1_2_VERSION, .accepted = true},
                          Case{.version = TLS1_3_VERSION, .accepted = true}}) {
    CAPTURE(each.version);
    const TlsClient client(server.ca_pem(), each.version);
    CHECK(client.exchange(server, kGet).has_value() == each.accepted);
  }
}

TEST_CASE("loopback server: a refused request is answered and reaches no handler") {
  const LoopbackServer server(say_hello);
  const auto response =
      TlsClient(server.ca_pem()).exchange(server, "GET / HTTP/1.1\r\n: x\r\n\r\n");
  REQUIRE(response.has_value());
  CHECK(response->starts_with("HTTP/1.1 400 "));
  CHECK(server.requests().empty());
}

TEST_CASE("loopback server: a handler that throws answers 500") {
  const LoopbackServer server(
      [](const auto&) -> LoopbackServer::Response { throw std::runtime_error("broken handler"); });
  const auto response = TlsClient(server.ca_pem()).exchange(server, kGet);
  REQUIRE(response.has_value());
  CHECK(response->starts_with("HTTP/1.1 500 "));
  CHECK(response->ends_with("broken handler"));
}

TEST_CASE("loopback server: serves more clients at once than its limit of open connections") {
  constexpr std::size_t kClients = 100;
  const LoopbackServer server(say_hello);
  const TlsClient client(server.ca_pem());
  std::array<std::optional<std::string>, kClients> responses;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kClients);
    for (auto& response : responses) {
      threads.emplace_back([&] { response = client.exchange(server, kGet); });
    }
  }
  for (const auto& response : responses) CHECK(response.value_or("").ends_with("hello"));
  CHECK(server.requests().size() == kClients);
}

TEST_CASE("loopback server: a silent client does not block the destructor") {
  std::optional<LoopbackServer> server(std::in_place, say_hello);
  const TlsClient client(server->ca_pem());
  const BioPtr silent = client.connect(*server);
  REQUIRE(silent != nullptr);
  const auto started = std::chrono::steady_clock::now();
  server.reset();
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(60));  // generous
}

TEST_CASE("loopback server: a client that disconnects early does not affect other clients") {
  const LoopbackServer server([](const auto&) {
    return LoopbackServer::Response{.body = std::string(std::size_t{4} * 1024 * 1024, 'x')};
  });
  const TlsClient client(server.ca_pem());
  for (int i = 0; i < 8; ++i) {
    const BioPtr connection = client.connect(server);
    REQUIRE(connection != nullptr);
    BIO_write(connection.get(), kGet.data(), static_cast<int>(kGet.size()));
  }
  CHECK(client.exchange(server, kGet).value_or("").ends_with("xxx"));
}

}  // namespace
}  // namespace execcred::test
