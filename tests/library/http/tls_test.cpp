// SPDX-License-Identifier: Apache-2.0
// Which servers the client trusts, and its messages about the others.
#include "client.hpp"
#include "unit/comes_true.hpp"

#include <execcred/http/curl_client.hpp>

#include <atomic>
#include <memory>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

struct Refused {
  IdentityOptions server = {};
  std::string message = {};  // after "cannot verify https://…: "
};

TEST_CASE("tls: a server with a certificate of the CA is trusted" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("good CA");
  const Identity identity = make_identity({.issuer = &ca});
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    const StreamServer server(
        answers(ok_reply("x")),
        {.identity = &identity, .least_version = version, .greatest_version = version});
    const Result<HttpResponse> reply = ask(server, trusting(ca));
    REQUIRE(reply);
    CHECK(reply->body.reveal() == "x");
    CHECK(server.server_names().empty());
  }
}

TEST_CASE("tls: every invalid certificate is refused with the reason" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity other = make_ca("another CA");
  constexpr long kDay = 86400;
  const std::vector<Refused> cases = {
      {{.begins = -2 * kDay, .ends = -kDay, .issuer = &ca}, "certificate has expired"},
      {{.begins = kDay, .ends = 2 * kDay, .issuer = &ca}, "certificate is not yet valid"},
      {{.alternative_names = "DNS:other.example", .issuer = &ca},
       "its certificate is for 'other.example', not for '127.0.0.1'"},
      {{.alternative_names = "DNS:127.0.0.1", .issuer = &ca},
       "its certificate is for '127.0.0.1', not for '127.0.0.1'"},
      {{.alternative_names = "IP:127.0.0.2,IP:::1", .issuer = &ca},
       "its certificate is for '127.0.0.2', '::1', not for '127.0.0.1'"},
      {{.alternative_names = "DNS:a,DNS:b,DNS:c,DNS:d,DNS:e", .issuer = &ca},
       "its certificate is for 'a', 'b', 'c' and 2 more, not for '127.0.0.1'"},
      {{.common_name = "127.0.0.1", .alternative_names = "", .issuer = &ca},
       "its certificate has no subject alternative names"},
      {{}, "self-signed certificate"},
      {{.issuer = &other}, "unable to get local issuer certificate"},
      {{.issuer = &ca, .rsa_bits = 1024}, "EE certificate key too weak"},
      {{.issuer = &ca, .sha1 = true}, "CA signature digest algorithm too weak"},
  };
  for (const Refused& c : cases) {
    CAPTURE(c.message);
    const Identity identity = make_identity(c.server);
    const StreamServer server(answers(ok_reply("x")), {.identity = &identity});
    const Result<HttpResponse> reply = ask(server, trusting(ca));
    REQUIRE_FALSE(reply);
    CHECK(reply.error().message == "cannot verify https://" + authority(server) + ": " + c.message);
    CHECK(reply.error().kind == Kind::unavailable);
    CHECK_FALSE(reply.error().is_transient);
  }
}

TEST_CASE("tls: the hint shows the times, or the CA that is missing" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity other = make_ca("another CA");
  const Identity expired = make_identity({.begins = -200000, .ends = -100000, .issuer = &ca});
  const Identity foreign = make_identity({.issuer = &other});
  const StreamServer late(answers(ok_reply("x")), {.identity = &expired});
  CHECK(contains(ask(late, trusting(ca)).error().hint, "that of 'CN=test server' ended at 20"));
  const StreamServer unknown(answers(ok_reply("x")), {.identity = &foreign});
  CHECK(ask(unknown, trusting(ca)).error().hint ==
        "the CA certificates that were given do not know 'CN=another CA'");
  const std::string hint = ask(unknown).error().hint;
  CHECK(hint.starts_with("the system's CA certificates, of '"));
  CHECK(hint.ends_with("), do not know 'CN=another CA': pass its certificate"));
}

TEST_CASE("tls: a certificate that is given itself is trusted, whether a root or not" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity intermediate =
      make_identity({.common_name = "intermediate", .is_ca = true, .issuer = &ca});
  const Identity leaf = make_identity({.issuer = &intermediate});
  const Identity alone = make_identity({});
  const StreamServer chained(answers(ok_reply("x")), {.identity = &leaf, .chain = {&intermediate}});
  CHECK(ask(chained, trusting(ca)));
  CHECK(ask(chained, trusting(intermediate)));
  const StreamServer short_chain(answers(ok_reply("x")), {.identity = &leaf});
  CHECK(ask(short_chain, trusting(intermediate)));
  CHECK_FALSE(ask(short_chain, trusting(ca)));
  const StreamServer self_signed(answers(ok_reply("x")), {.identity = &alone});
  CHECK(ask(self_signed, trusting(alone)));
  CHECK(ask(self_signed, {.tls = {.ca_certificates = "text\n" + ca.pem + alone.pem}}));
}

TEST_CASE("tls: versions below TLS 1.2 are refused" * doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity identity = make_identity({.issuer = &ca});
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    CAPTURE(version);
    const StreamServer server(
        answers(ok_reply("x")),
        {.identity = &identity, .least_version = TLS1_VERSION, .greatest_version = version});
    const Result<HttpResponse> reply = ask(server, trusting(ca));
    REQUIRE_FALSE(reply);
    CHECK(reply.error().message == "https://" + authority(server) + " speaks no TLS 1.2 or newer");
    CHECK(reply.error().kind == Kind::unavailable);
  }
}

TEST_CASE("tls: a server without TLS, and one that closes or waits during the handshake" *
          doctest::description("promise 15")) {
  const StreamServer plain([](Stream& stream) {
    stream.read(1);
    stream.write("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  const Identity ca = make_ca("the CA");
  const auto client = make_http_client(trusting(ca));
  const auto ask_tls = [&client](const StreamServer& server) {
    return client->send({.url = "https://" + authority(server)});
  };
  check_fails(ask_tls(plain), Kind::unavailable,
              "https://" + authority(plain) + " does not speak TLS");
  for (const bool is_reset : {false, true}) {
    const StreamServer leaving([is_reset](Stream& stream) {
      stream.read(4096);
      if (is_reset) stream.reset();
    });
    const Result<HttpResponse> reply = ask_tls(leaving);
    check_fails(reply, Kind::unavailable, "closed the connection during the TLS handshake");
    CHECK(reply.error().is_transient);
  }
  const StreamServer silent([](Stream& stream) { stream.wait_for_close(); });
  HttpSettings settings = trusting(ca);
  settings.timeout = std::chrono::milliseconds(150);
  const Result<HttpResponse> reply =
      make_http_client(std::move(settings))->send({.url = "https://" + authority(silent)});
  check_fails(reply, Kind::unavailable,
              "timed out while connecting to https://" + authority(silent));
  CHECK(reply.error().is_transient);
}

TEST_CASE("tls: a reply that may have been cut on its way is refused" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity identity = make_identity({.issuer = &ca});
  for (const bool is_ended : {true, false}) {
    const StreamServer server(
        [is_ended](Stream& stream) {
          stream.read_request();
          stream.write("HTTP/1.1 200 OK\r\n\r\n{\"token\":\"abc\"}");
          if (!is_ended) stream.cut();
        },
        {.identity = &identity});
    const Result<HttpResponse> reply = ask(server, trusting(ca));
    CHECK(reply.has_value() == is_ended);
    if (!is_ended) {
      check_fails(reply, Kind::unavailable, "closed the connection in the middle of its reply");
    }
  }
}

TEST_CASE("tls: server_name is verified and sent instead of the URL's host" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity identity =
      make_identity({.alternative_names = "DNS:idp.example,IP:10.0.0.1", .issuer = &ca});
  std::string request;
  const StreamServer server(
      [&request](Stream& stream) {
        request = stream.read_request();
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      },
      {.identity = &identity});
  const auto ask_for = [&](const std::string& name) {
    return ask(server, {.tls = {.ca_certificates = ca.pem, .server_name = name}});
  };
  CHECK(ask_for("IDP.example"));
  CHECK(contains(request, "\r\nHost: " + authority(server) + "\r\n"));
  CHECK(server.server_names() == "idp.example");
  CHECK(ask_for("10.0.0.1"));
  CHECK(ask_for("idp.example."));
  check_fails(ask_for("other.example"), Kind::unavailable,
              "cannot verify https://" + authority(server) +
                  ": its certificate is for 'idp.example', '10.0.0.1', not for 'other.example'");
  check_fails(ask_for("10.0.0.2"), Kind::unavailable, "not for '10.0.0.2'");
  check_fails(ask_for(""), Kind::unavailable, "not for '127.0.0.1'");
  check_fails(ask_for("a b"), Kind::configuration, "the TLS server name");
}

TEST_CASE("tls: the common name is ignored, also if there are no alternative names" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  for (const char* names : {"", "email:idp@example.org", "DNS:other.example"}) {
    CAPTURE(names);
    const Identity identity =
        make_identity({.common_name = "idp.example", .alternative_names = names, .issuer = &ca});
    const StreamServer server(answers(ok_reply("x")), {.identity = &identity});
    check_fails(ask(server, {.tls = {.ca_certificates = ca.pem, .server_name = "idp.example"}}),
                Kind::unavailable, "cannot verify https://" + authority(server));
  }
}

TEST_CASE("tls: wildcards stand for one whole label" * doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity identity =
      make_identity({.alternative_names = "DNS:*.example.org,DNS:f*.example.net", .issuer = &ca});
  const StreamServer server(answers(ok_reply("x")), {.identity = &identity});
  const auto is_believed = [&](const std::string& name) {
    return ask(server, {.tls = {.ca_certificates = ca.pem, .server_name = name}}).has_value();
  };
  CHECK(is_believed("a.example.org"));
  CHECK_FALSE(is_believed("a.b.example.org"));
  CHECK_FALSE(is_believed("example.org"));
  CHECK_FALSE(is_believed("foo.example.net"));
}

TEST_CASE("tls: a client certificate is sent if the server asks for one" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity client_ca = make_ca("client CA");
  const Identity identity = make_identity({.issuer = &ca});
  const Identity intermediate =
      make_identity({.common_name = "client intermediate", .is_ca = true, .issuer = &client_ca});
  const Identity client = make_identity({.common_name = "client", .issuer = &intermediate});
  const Identity stranger = make_identity({.common_name = "stranger"});
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    const StreamServer server(answers(ok_reply("x")), {.identity = &identity,
                                                       .least_version = version,
                                                       .greatest_version = version,
                                                       .client_ca = &client_ca});
    const auto ask_as = [&](const std::string& certificate, const std::string& key) {
      return ask(server, {.tls = {.ca_certificates = ca.pem,
                                  .client_certificate = certificate,
                                  .client_key = SecretString(key)}});
    };
    CHECK(ask_as(client.pem + intermediate.pem, client.key_pem));
    const Result<HttpResponse> without = ask_as("", "");
    check_fails(without, Kind::unavailable,
                "https://" + authority(server) + " wants a client certificate (TLS: ");
    CHECK_FALSE(without.error().is_transient);
    check_fails(
        ask_as(stranger.pem, stranger.key_pem), Kind::unavailable,
        "https://" + authority(server) + " refused the client certificate (TLS: unknown CA)");
  }
}

namespace {

// Sends the request only after the server has refused the client and closed.
class LateClient final : public CurlClient {
 public:
  LateClient(HttpSettings settings, const StreamServer& server)
      : CurlClient(std::move(settings)), server_(server) {}

 private:
  void adjust(CurlOptions& /*options*/) override {
    const std::size_t before = server_.refused();
    tls()->watch([this, before](const SSL&) {
      CHECK(comes_true([&] { return server_.refused() > before; }));
    });
  }

  const StreamServer& server_;
};

}  // namespace

// In TLS 1.3 the handshake is complete for the client before the server has seen its certificate.
TEST_CASE("tls: the alert is the reason even if the server closes before the request is sent" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity client_ca = make_ca("client CA");
  const Identity identity = make_identity({.issuer = &ca});
  const StreamServer server(
      answers(ok_reply("x")),
      {.identity = &identity, .least_version = TLS1_3_VERSION, .client_ca = &client_ca});
  LateClient client(trusting(ca), server);
  for (const std::string method : {"GET", "POST"}) {
    CAPTURE(method);
    for (int i = 0; i < 2; ++i) {
      check_fails(client.send({.method = method, .url = server.url()}), Kind::unavailable,
                  "https://" + authority(server) +
                      " wants a client certificate (TLS: certificate required)");
    }
  }
}

TEST_CASE("tls: a client key that is too weak for TLS is a configuration error" *
          doctest::description("promise 15")) {
  const Identity ca = make_ca("the CA");
  const Identity identity = make_identity({.issuer = &ca});
  const Identity weak = make_identity({.common_name = "client", .rsa_bits = 1024});
  const StreamServer server(answers(ok_reply("x")), {.identity = &identity});
  check_fails(ask(server, {.tls = {.ca_certificates = ca.pem,
                                   .client_certificate = weak.pem,
                                   .client_key = SecretString(weak.key_pem)}}),
              Kind::configuration, "the client's certificate cannot be used");
}

TEST_CASE("tls: a malformed CA certificate is an error, even beside a valid one" *
          doctest::description("promise 15")) {
  constexpr const char* kMalformed =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const Identity ca = make_ca("the CA");
  const Identity identity = make_identity({.issuer = &ca});
  for (const std::string& pem : {ca.pem + kMalformed, kMalformed + ca.pem}) {
    std::atomic<int> requests = 0;
    const StreamServer server(
        [&requests](Stream& stream) {
          if (!stream.read_request().empty()) ++requests;
        },
        {.identity = &identity});
    HttpSettings settings;
    settings.tls.ca_certificates = pem;
    const std::unique_ptr<HttpClient> client = make_http_client(std::move(settings));
    for (int i = 0; i < 2; ++i) {
      check_fails(client->send({.url = server.url()}), Kind::configuration,
                  "the PEM of the CA holds a malformed certificate");
    }
    CHECK(requests == 0);
  }
}

TEST_CASE("tls: invalid PEM is a configuration error that shows no key" *
          doctest::description("promise 15")) {
  const Identity identity = make_identity({});
  const Identity other = make_identity({});
  const std::string cut = identity.pem.substr(0, identity.pem.size() / 2);
  const std::string key_cut = identity.key_pem.substr(0, 100);
  const auto check = [](TlsSettings tls, std::string_view message) {
    HttpSettings settings;
    settings.tls = std::move(tls);
    const Result<HttpResponse> reply =
        make_http_client(std::move(settings))->send({.url = "https://127.0.0.1:1/"});
    check_fails(reply, Kind::configuration, message);
    CHECK_FALSE(contains(full_text(reply.error()), "MI"));
  };
  check({.ca_certificates = "nothing"}, "the PEM of the CA holds no certificate");
  check({.ca_certificates = cut}, "the PEM of the CA holds");
  check({.ca_certificates = std::string(1024 * 1024 + 1, 'x')}, "is larger than 1 MiB");
  check({.ca_certificates = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
        "the PEM of the CA holds a malformed certificate");
  check({.ca_certificates = identity.pem, .client_certificate = identity.pem}, "needs its key");
  check({.ca_certificates = identity.pem, .client_key = SecretString(identity.key_pem)},
        "needs its certificate");
  check({.ca_certificates = identity.pem,
         .client_certificate = identity.pem,
         .client_key = SecretString(key_cut)},
        "the client's key is no private key in PEM");
  check({.ca_certificates = identity.pem,
         .client_certificate = identity.pem,
         .client_key = SecretString("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")},
        "the client's key is no private key in PEM");
  check({.ca_certificates = identity.pem,
         .client_certificate = identity.pem,
         .client_key = SecretString("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n"
                                    "-----END ENCRYPTED PRIVATE KEY-----\n")},
        "the client's key is encrypted");
  check({.ca_certificates = identity.pem,
         .client_certificate = identity.pem,
         .client_key = SecretString(other.key_pem)},
        "the client's key does not belong to its certificate");
}

}  // namespace
}  // namespace execcred::test
