// SPDX-License-Identifier: Apache-2.0
// Requests through proxies: which requests use a proxy, and which certificates are verified.
#include "client.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/http/route.hpp>

#include <unistd.h>

#include <mutex>
#include <vector>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

// Connects every request to one port of this machine, so that names need no DNS.
class Tunnel {
 public:
  explicit Tunnel(std::uint16_t target) : target_(target) {}

  StreamServer::Handler http() {
    return [this](Stream& stream) {
      const std::string request = stream.read_request();
      note(request);
      if (!stream.write("HTTP/1.1 200 Connected\r\nX-Proxy: here\r\n\r\n")) return;
      join(stream);
    };
  }

  // RFC 1928, with a name, without authentication.
  StreamServer::Handler socks5() {
    return [this](Stream& stream) {
      stream.read(64);
      stream.write(std::string("\x05\x00", 2));
      note(stream.read(512));
      stream.write(std::string("\x05\x00\x00\x01\0\0\0\0\0\0", 10));
      join(stream);
    };
  }

  std::string noted() const {
    const std::scoped_lock lock(mutex_);
    return noted_;
  }

 private:
  void note(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    noted_ += request;
  }
  void join(Stream& stream) const {
    const int far = connect_to(target_);
    stream.join(far);
    close(far);
  }

  std::uint16_t target_;
  mutable std::mutex mutex_;
  std::string noted_;
};

struct Setting {
  Identity ca = make_ca("the CA");
  Identity identity = make_identity({.alternative_names = "DNS:idp.example", .issuer = &ca});
  Identity proxy_identity = make_identity({.alternative_names = "IP:127.0.0.1", .issuer = &ca});
  StreamServer server{answers(ok_reply("x", "Connection: close\r\n")), {.identity = &identity}};
  Tunnel tunnel{server.port()};

  HttpSettings through(std::string proxy) const {
    HttpSettings settings = trusting(ca);
    settings.proxy.url = std::move(proxy);
    return settings;
  }
};

Result<HttpResponse> ask_idp(HttpSettings settings) {
  HttpRequest request = {.url = "https://idp.example/secret?secret"};
  request.add_header("Authorization", "secret");
  return make_http_client(std::move(settings))->send(request);
}

TEST_CASE("proxy: a CONNECT tunnel, through which the server is verified") {
  Setting setting;
  const StreamServer proxy(setting.tunnel.http());
  const Result<HttpResponse> reply = ask_idp(setting.through(proxy.url("")));
  REQUIRE(reply);
  CHECK(reply->body.reveal() == "x");
  CHECK_FALSE(reply->header("x-proxy"));
  const std::string noted = setting.tunnel.noted();
  CHECK(noted.starts_with("CONNECT idp.example:443 HTTP/1.1\r\nHost: idp.example:443\r\n"));
  CHECK_FALSE(contains(noted, "secret"));
  CHECK_FALSE(contains(noted, "Proxy-Authorization"));
  CHECK(setting.server.server_names() == "idp.example");
}

TEST_CASE("proxy: the user and password of its URL are sent") {
  Setting setting;
  const StreamServer proxy(setting.tunnel.http());
  CHECK(ask_idp(setting.through("http://us%40er:pa%3Ass%25@" + authority(proxy))));
  CHECK(contains(setting.tunnel.noted(),
                 "\r\nProxy-Authorization: Basic " + encode_base64("us@er:pa:ss%") + "\r\n"));
}

TEST_CASE("proxy: a TLS proxy is verified by its own name and gets no client certificate") {
  Setting setting;
  bool has_client_certificate = true;
  const auto handler = setting.tunnel.http();
  const StreamServer proxy(
      [&](Stream& stream) {
        has_client_certificate = stream.has_peer_certificate();
        handler(stream);
      },
      {.identity = &setting.proxy_identity, .asks_for_certificate = true});
  HttpSettings settings = setting.through(proxy.url(""));
  settings.tls.client_certificate = setting.identity.pem;
  settings.tls.client_key = SecretString(setting.identity.key_pem);
  const Result<HttpResponse> reply = ask_idp(std::move(settings));
  REQUIRE(reply);
  CHECK(reply->body.reveal() == "x");
  CHECK_FALSE(has_client_certificate);

  const StreamServer impostor(setting.tunnel.http(), {.identity = &setting.identity});
  check_fails(ask_idp(setting.through(impostor.url(""))), Kind::unavailable,
              "cannot verify the proxy https://" + authority(impostor) +
                  ": its certificate is for 'idp.example', not for '127.0.0.1'");
}

TEST_CASE("proxy: the proxy's close_notify does not count as the server's") {
  Setting setting;
  for (const bool is_ended : {true, false}) {
    CAPTURE(is_ended);
    const StreamServer server(
        [is_ended](Stream& stream) {
          stream.read_request();
          stream.write("HTTP/1.1 200 OK\r\n\r\nperhaps cut");
          if (!is_ended) stream.cut();
        },
        {.identity = &setting.identity});
    Tunnel tunnel(server.port());
    const StreamServer proxy(tunnel.http(), {.identity = &setting.proxy_identity});
    CHECK(ask_idp(setting.through(proxy.url(""))).has_value() == is_ended);
  }
}

TEST_CASE("proxy: a server with a certificate for the proxy's name is refused") {
  Setting setting;
  const StreamServer impostor(answers(ok_reply("x")), {.identity = &setting.proxy_identity});
  Tunnel tunnel(impostor.port());
  const StreamServer proxy(tunnel.http(), {.identity = &setting.proxy_identity});
  check_fails(ask_idp(setting.through(proxy.url(""))), Kind::unavailable,
              "cannot verify https://idp.example:443: its certificate is for '127.0.0.1', not for "
              "'idp.example'");
}

TEST_CASE("proxy: a socks5 proxy resolves the name") {
  Setting setting;
  const StreamServer proxy(setting.tunnel.socks5());
  CHECK(ask_idp(setting.through("socks5://" + authority(proxy))));
  CHECK(setting.tunnel.noted() ==
        std::string("\x05\x01\x00\x03\x0b", 5) + "idp.example" + std::string("\x01\xbb", 2));
}

TEST_CASE("proxy: with a TLS server name, CONNECT still names the URL's host") {
  Setting setting;
  const StreamServer proxy(setting.tunnel.http());
  HttpSettings settings = setting.through(proxy.url(""));
  settings.tls.server_name = "idp.example";
  CHECK(make_http_client(std::move(settings))->send({.url = "https://other.example:8443/"}));
  CHECK(setting.tunnel.noted().starts_with("CONNECT other.example:8443 HTTP/1.1\r\n"));
}

TEST_CASE("proxy: a proxy that refuses, or that has no listener") {
  Setting setting;
  const auto refusing = [&](const std::string& status) {
    const StreamServer proxy(answers("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n"));
    return ask_idp(setting.through(proxy.url("")));
  };
  const Result<HttpResponse> denied = refusing("403 Forbidden");
  check_fails(denied, Kind::unavailable, "did not connect to idp.example:443: it answered 403");
  CHECK_FALSE(denied.error().is_transient);
  CHECK(contains(refusing("407 Who").error().hint, "user and password"));
  CHECK(refusing("503 Busy").error().is_transient);

  std::uint16_t port = 0;
  {
    port = StreamServer([](Stream&) {}).port();
  }
  const std::string gone = "http://127.0.0.1:" + std::to_string(port);
  const Result<HttpResponse> nobody = ask_idp(setting.through(gone));
  check_fails(nobody, Kind::unavailable,
              "cannot connect to the proxy " + gone + ": Connection refused");
  CHECK(nobody.error().is_transient);
}

TEST_CASE("proxy: one that closes the connection, and one that never answers") {
  Setting setting;
  const StreamServer leaving([](Stream& stream) { stream.read_request(); });
  const Result<HttpResponse> left = ask_idp(setting.through(leaving.url("")));
  check_fails(left, Kind::unavailable, "the proxy " + leaving.url("") + " closed the connection");
  CHECK(left.error().is_transient);

  const StreamServer silent([](Stream& stream) { stream.wait_for_close(); });
  HttpSettings settings = setting.through(silent.url(""));
  settings.timeout = std::chrono::milliseconds(150);
  const Result<HttpResponse> late = ask_idp(std::move(settings));
  check_fails(late, Kind::unavailable, "timed out while connecting to the proxy " + silent.url(""));
  CHECK(late.error().is_transient);
}

TEST_CASE("proxy: exceptions and plain http do not use the proxy") {
  const Identity ca = make_ca("the CA");
  const Identity identity = make_identity({.issuer = &ca});
  const StreamServer proxy(answers(ok_reply("proxy")));
  const StreamServer secure(answers(ok_reply("server")), {.identity = &identity});
  const StreamServer plain(answers(ok_reply("server")));
  HttpSettings settings = trusting(ca);
  settings.proxy = {.url = proxy.url(""), .exceptions = "10.0.0.0/8, 127.0.0.0/8"};
  CHECK(ask(secure, std::move(settings)));
  HttpSettings without_exceptions;
  without_exceptions.proxy = {.url = proxy.url("")};
  CHECK(ask(plain, std::move(without_exceptions))->body.reveal() == "server");
  CHECK(proxy.connections() == 0);
}

TEST_CASE("proxy: an invalid URL is a configuration error that shows no password") {
  for (const char* url : {"proxy:3128", "ftp://secret@h:1", "http://h/?secret",
                          "http://u:secret%@h", "http://u:secret%0a@h", "http://u%3a:secret@h",
                          "http://u:secret@", "http://u:secret@h:0"}) {
    CAPTURE(url);
    HttpSettings settings;
    settings.proxy.url = url;
    const Result<HttpResponse> reply = ask_idp(std::move(settings));
    check_fails(reply, Kind::configuration, "the proxy's URL ");
    CHECK_FALSE(contains(full_text(reply.error()), "secret"));
  }
}

TEST_CASE("is_proxy_exception: the forms of NO_PROXY") {
  struct Case {
    const char* exceptions;
    const char* url;
    bool is_meant;
  };
  for (const Case& c : {Case{"", "https://a.example", false},
                        Case{"*", "https://a.example", true},
                        Case{"a.example", "https://a.example", true},
                        Case{"A.Example", "https://a.example.", true},
                        Case{"a.example", "https://b.a.example", true},
                        Case{"a.example", "https://ba.example", false},
                        Case{".a.example", "https://a.example", false},
                        Case{".a.example", "https://b.a.example", true},
                        Case{"*.a.example", "https://b.a.example", true},
                        Case{"*.a.example", "https://a.example", false},
                        Case{".", "https://a.example", false},
                        Case{"x, ,a.example", "https://a.example", true},
                        Case{"x a.example", "https://a.example", true},
                        Case{"a.example:443", "https://a.example", true},
                        Case{"a.example:8443", "https://a.example", false},
                        Case{"10.0.0.1", "https://10.0.0.1", true},
                        Case{"10.0.0.1:443", "https://10.0.0.1", true},
                        Case{"10.0.0.1:80", "https://10.0.0.1", false},
                        Case{"0.0.1", "https://10.0.0.1", false},
                        Case{"10.0.0.0/8", "https://10.9.9.9", true},
                        Case{"10.0.0.0/8", "https://11.0.0.1", false},
                        Case{"10.0.0.0/33", "https://10.0.0.1", false},
                        Case{"10.0.0.0/", "https://10.0.0.1", false},
                        Case{"::1", "https://[::1]", true},
                        Case{"[::1]", "https://[0::1]", true},
                        Case{"[::1]:443", "https://[::1]", true},
                        Case{"[::1]:80", "https://[::1]", false},
                        Case{"fd00::/8", "https://[fd12::1]", true},
                        Case{"fd00::/8", "https://[fe80::1]", false},
                        Case{"0.0.0.0/0", "https://[::1]", false}}) {
    CAPTURE(c.exceptions);
    CAPTURE(c.url);
    const Result<Url> url = parse_url(c.url);
    REQUIRE(url);
    CHECK(is_proxy_exception(c.exceptions, *url) == c.is_meant);
  }
}

}  // namespace
}  // namespace execcred::test
