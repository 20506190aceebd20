// SPDX-License-Identifier: Apache-2.0
// What the client sends, what it refuses to send, and which servers it never calls.
#include "client.hpp"
#include "unit/temp_dir.hpp"

#include <execcred/base/version.hpp>

#include <cstdlib>
#include <vector>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

// The bytes that a server gets for a request.
std::string wire_of(HttpRequest request) {
  std::string wire;
  const StreamServer server([&wire](Stream& stream) {
    wire = stream.read_request();
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  request.allow_plain_http = true;
  request.url = server.url(request.url);
  REQUIRE(make_http_client({})->send(request));
  const std::size_t port = wire.find(std::to_string(server.port()));
  REQUIRE(port != std::string::npos);
  return wire.replace(port, std::to_string(server.port()).size(), "PORT");
}

TEST_CASE("http: a request has no other headers than these") {
  const std::string agent = std::string("User-Agent: execcred/") + kVersion + "\r\nAccept: */*\r\n";
  CHECK(wire_of({.url = "/a/b;c?d=e%20f"}) ==
        "GET /a/b;c?d=e%20f HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" + agent + "\r\n");
  CHECK(wire_of({.method = "DELETE", .url = ""}) ==
        "DELETE / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" + agent + "\r\n");
  CHECK(wire_of({.method = "POST", .url = "/", .body = SecretString("a=b")}) ==
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" + agent + "Content-Length: 3\r\n\r\na=b");
  for (const std::string method : {"POST", "PUT", "PATCH"}) {
    CHECK(wire_of({.method = method, .url = "/"}) ==
          method + " / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n" + agent + "Content-Length: 0\r\n\r\n");
  }
}

TEST_CASE("http: headers and bodies are sent unchanged") {
  HttpRequest request = {.method = "PUT", .url = "/", .body = SecretString(std::string("\0x", 2))};
  request.add_header("Accept", "application/json");
  request.add_header("content-type", "application/x");
  request.add_header("Authorization", "Bearer secret");
  request.add_header("X-Empty", "");
  const std::string wire = wire_of(std::move(request));
  CHECK(contains(wire, "\r\nAccept: application/json\r\n"));
  CHECK_FALSE(contains(wire, "*/*"));
  CHECK(contains(wire, "\r\ncontent-type: application/x\r\n"));
  CHECK(contains(wire, "\r\nAuthorization: Bearer secret\r\n"));
  CHECK(contains(wire, "\r\nX-Empty:\r\n"));
  CHECK(wire.ends_with(std::string("\r\n\r\n\0x", 6)));

  const std::string large(200'000, 'b');
  CHECK(wire_of({.method = "POST", .url = "/", .body = SecretString(large)}).ends_with(large));
}

TEST_CASE("http: a reply to HEAD has no body, with any Content-Length") {
  const StreamServer server(answers("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n"));
  HttpRequest request = get(server.url());
  request.method = "HEAD";
  const Result<HttpResponse> reply = make_http_client({})->send(request);
  REQUIRE(reply);
  CHECK(reply->header("content-length") == "5000000");
  CHECK(reply->body.empty());
}

TEST_CASE("http: invalid methods and headers are refused before anything is sent") {
  const StreamServer server(answers(ok_reply("")));
  const auto client = make_http_client({});
  for (const std::string& method : {std::string(), std::string("GET /"), std::string("G\r\nX"),
                                    std::string("G\xc3\xa9"), std::string("CONNECT")}) {
    HttpRequest request = get(server.url());
    request.method = method;
    check_fails(client->send(request), Kind::configuration, "is no HTTP method");
  }
  for (const char* name : {"", "A B", "A:", "A\r\nB", "\xc3\xa9"}) {
    HttpRequest request = get(server.url());
    request.add_header(name, "x");
    check_fails(client->send(request), Kind::configuration, "is no name of an HTTP header");
  }
  for (const char* name : {"Host", "content-LENGTH", "Transfer-Encoding", "Connection", "Expect"}) {
    HttpRequest request = get(server.url());
    request.add_header(name, "x");
    check_fails(client->send(request), Kind::configuration, "cannot be set");
  }
  for (int byte = 0; byte < 256; ++byte) {
    HttpRequest request = get(server.url());
    request.add_header("X-Token", "canary" + std::string(1, static_cast<char>(byte)) + "canary");
    const bool is_control = byte < 0x20 || byte == 0x7f;
    const Result<HttpResponse> reply = client->send(request);
    CAPTURE(byte);
    CHECK(reply.has_value() != is_control);
    if (is_control) {
      check_fails(reply, Kind::configuration, "'X-Token' has a control character");
      CHECK_FALSE(contains(full_text(reply.error()), "canary"));
    }
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("http: a URL must be https, unless the request allows plain http") {
  const StreamServer server(answers(ok_reply("")));
  const auto client = make_http_client({});
  check_fails(client->send({.url = server.url("/secret")}), Kind::configuration,
              "'http://" + authority(server) + "' is no https URL");
  for (const char* url :
       {"", "secret", "file:///etc/secret", "ftp://h/secret", "https://u:secret@h/",
        "https://h/../secret", "https://h/#secret", "gopher://h:70/secret",
        "https://h/secret secret", "https://h/\r\nsecret"}) {
    CAPTURE(url);
    HttpRequest request = get(url);
    const Result<HttpResponse> reply = client->send(request);
    check_fails(reply, Kind::configuration,
                std::string_view(url).starts_with("gopher") ? "'gopher://h:70' is no https URL"
                                                            : "the URL to ask ");
    CHECK_FALSE(contains(full_text(reply.error()), "secret"));
  }
  CHECK(server.connections() == 0);
}

TEST_CASE("http: no redirect is followed" * doctest::description("promises 5, 14")) {
  const Identity ca = make_ca("redirect test CA");
  const Identity identity = make_identity({.issuer = &ca});
  const StreamServer plain(answers(ok_reply("")));
  const StreamServer secure(answers(ok_reply("")), {.identity = &identity});
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const std::string& target : {plain.url(), secure.url(), std::string("/elsewhere")}) {
      CAPTURE(status);
      CAPTURE(target);
      std::atomic<int> requests = 0;
      const StreamServer server(
          [&](Stream& stream) {
            while (!stream.read_request().empty()) {
              ++requests;
              stream.write("HTTP/1.1 " + std::to_string(status) + " Go\r\nLocation: " + target +
                           "\r\nContent-Length: 0\r\n\r\n");
            }
          },
          {.identity = &identity});
      const Result<HttpResponse> reply = ask(server, trusting(ca));
      REQUIRE(reply);
      CHECK(reply->status == status);
      CHECK(reply->header("location") == target);
      CHECK(requests == 1);
      CHECK(server.connections() == 1);
    }
  }
  CHECK(plain.connections() == 0);
  CHECK(secure.connections() == 0);
}

TEST_CASE("http: a GET uses the last connection again, and a POST does if it is idempotent") {
  const StreamServer server(answers(ok_reply("x")));
  const auto client = make_http_client({});
  HttpRequest request = get(server.url());
  for (int i = 0; i < 3; ++i) CHECK(client->send(request));
  CHECK(server.connections() == 1);
  request.method = "POST";
  for (int i = 0; i < 2; ++i) CHECK(client->send(request));
  CHECK(server.connections() == 3);
  request.is_idempotent = true;
  CHECK(client->send(request));
  CHECK(server.connections() == 3);
}

TEST_CASE("http: a request that is spent by being sent is never repeated by libcurl" *
          doctest::description("promise 31")) {
  // The server ends the connection at its second request, which libcurl alone would repeat.
  std::atomic<int> requests = 0;
  const StreamServer server([&requests](Stream& stream) {
    for (int i = 0; !stream.read_request().empty(); ++i) {
      ++requests;
      if (i > 0) return stream.cut();
      stream.write(ok_reply("x"));
    }
  });
  const auto client = make_http_client({});
  CHECK(client->send(get(server.url())));
  for (const char* method : {"GET", "POST", "PUT"}) {
    CAPTURE(method);
    HttpRequest request = get(server.url());
    request.is_idempotent = std::string_view(method) == "PUT";
    request.method = method;
    request.is_spent_by_sending = true;
    requests = 0;
    CHECK(client->send(request));
    CHECK(requests == 1);
  }
  const StreamServer cutting([&requests](Stream& stream) {
    requests += stream.read_request().empty() ? 0 : 1;
    stream.cut();
  });
  HttpRequest request = get(cutting.url());
  request.is_spent_by_sending = true;
  requests = 0;
  const Result<HttpResponse> reply = client->send(request);
  check_fails(reply, Kind::unavailable, "closed the connection without a reply");
  CHECK_FALSE(reply.error().is_transient);
  CHECK(contains(reply.error().hint, "it is not sent twice in one run"));
  CHECK(requests == 1);
}

TEST_CASE("http: a failed request does not affect the next one") {
  const StreamServer server(answers(ok_reply("x")));
  const auto client = make_http_client({});
  HttpRequest small = get(server.url());
  small.max_reply_bytes = 0;
  check_fails(client->send(small), Kind::no_credential, "is larger than 0 bytes");
  HttpRequest request = get(server.url());
  request.method = "POST";
  request.body = SecretString("x");
  CHECK(client->send(request));
  const Result<HttpResponse> reply = client->send(get(server.url()));
  REQUIRE(reply);
  CHECK(reply->body.reveal() == "x");
}

TEST_CASE("http: the environment's proxies are not used") {
  const StreamServer canary(answers(ok_reply("canary")));
  const std::vector<std::string> names = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                          "all_proxy",  "ALL_PROXY",   "HTTP_PROXY"};
  for (const std::string& name : names) setenv(name.c_str(), canary.url("").c_str(), 1);
  const Identity ca = make_ca("proxy test CA");
  const Identity identity = make_identity({.issuer = &ca});
  const StreamServer plain(answers(ok_reply("x")));
  const StreamServer secure(answers(ok_reply("x")), {.identity = &identity});
  CHECK(ask(plain));
  CHECK(ask(secure, trusting(ca)));
  for (const std::string& name : names) unsetenv(name.c_str());
  CHECK(canary.connections() == 0);
}

TEST_CASE("http: a netrc file's password is not sent") {
  const TempDir home;
  write_file(home / ".netrc", "machine 127.0.0.1 login reader password of-the-netrc\n");
  const char* const found = std::getenv("HOME");
  const std::string before = found == nullptr ? "" : found;
  setenv("HOME", home.path().c_str(), 1);
  const std::string wire = wire_of({.url = "/"});
  setenv("HOME", before.c_str(), 1);
  CHECK_FALSE(contains(wire, "Authorization"));
}

}  // namespace
}  // namespace execcred::test
