// SPDX-License-Identifier: Apache-2.0
// How the client handles valid and invalid replies.
#include "client.hpp"

#include <sys/resource.h>

#include <chrono>
#include <fstream>

namespace execcred::test {
namespace {

using Kind = Error::Kind;

// The largest memory that this process has had, in KiB.
long peak_memory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_CASE("http: a reply has status, headers in lower case and body") {
  const StreamServer server(
      answers("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-Some: \t one \r\nx-some: two\r\n"
              "Empty:\r\nFolded: a\r\n  b\r\n\r\nhello"));
  const Result<HttpResponse> reply = ask(server);
  REQUIRE(reply);
  CHECK(reply->status == 201);
  CHECK(reply->body.reveal() == "hello");
  CHECK(reply->header("x-some") == "one");
  CHECK(reply->header("empty") == "");
  CHECK_FALSE(reply->header("X-Some"));
  CHECK_FALSE(reply->header("absent"));
}

TEST_CASE("http: replies without a length, in chunks, after an interim one, or without a body") {
  struct Case {
    std::string_view wire;
    int status;
    std::string_view body;
  };
  for (const Case& c :
       {Case{"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
        Case{"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", 304, ""},
        Case{"HTTP/1.0 200 OK\r\n\r\nto the end", 200, "to the end"},
        Case{"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, ""},
        Case{
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n"
            "Trailer: x\r\n\r\n",
            200, "hello!"},
        Case{"HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"
             "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
             403, "no"},
        Case{"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nraw", 200,
             "raw"},
        Case{"HTTP/1.1 200 OK\nContent-Length: 2\n\nlf", 200, "lf"}}) {
    CAPTURE(c.wire);
    const StreamServer server([&c](Stream& stream) {
      stream.read_request();
      stream.write(c.wire);
    });
    const Result<HttpResponse> reply = ask(server);
    REQUIRE(reply);
    CHECK(reply->status == c.status);
    CHECK(reply->body.reveal() == c.body);
    CHECK_FALSE(reply->header("x"));
    CHECK_FALSE(reply->header("trailer"));
  }
}

TEST_CASE("http: a reply that ends too early is unavailable, and a GET may be repeated") {
  for (const std::string_view wire :
       {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nContent-Len"}) {
    CAPTURE(wire);
    const StreamServer server([wire](Stream& stream) {
      stream.read_request();
      stream.write(wire);
    });
    const Result<HttpResponse> reply = ask(server);
    check_fails(reply, Kind::unavailable, "closed the connection in the middle of its reply");
    CHECK(contains(reply.error().message, authority(server)));
    CHECK(reply.error().is_transient);
  }
}

TEST_CASE("http: a connection that is closed or reset without a reply") {
  for (const bool is_reset : {false, true}) {
    CAPTURE(is_reset);
    const StreamServer server([is_reset](Stream& stream) {
      stream.read_request();
      if (is_reset) stream.reset();
    });
    const Result<HttpResponse> reply = ask(server);
    check_fails(reply, Kind::unavailable, "closed the connection without a reply");
    CHECK(reply.error().is_transient);

    HttpRequest request = get(server.url());
    request.method = "POST";
    const Result<HttpResponse> posted = make_http_client({})->send(request);
    check_fails(posted, Kind::unavailable, "closed the connection without a reply");
    CHECK_FALSE(posted.error().is_transient);
  }
}

TEST_CASE("http: all requests of a client end by its deadline") {
  const StreamServer server([](Stream& stream) {
    if (stream.read_request().find("GET /first") == 0) {
      stream.write(ok_reply("first"));
    } else {
      stream.wait_for_close();
    }
  });
  HttpSettings settings;
  const auto start = std::chrono::steady_clock::now();
  settings.deadline = start + std::chrono::milliseconds(2000);
  const auto client = make_http_client(std::move(settings));
  REQUIRE(client->send(get(server.url("/first"))));
  const Result<HttpResponse> late = client->send(get(server.url("/second")));
  check_fails(late, Kind::unavailable, "timed out");
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(2000));
  // A request that begins after the deadline does not get a request's own timeout.
  const Duration time_of_a_request = HttpSettings().timeout;
  check_fails(client->send(get(server.url("/second"))), Kind::unavailable, "timed out");
  CHECK(std::chrono::steady_clock::now() - start < time_of_a_request);
}

TEST_CASE("http: a reset in the middle of a reply") {
  const StreamServer server([](Stream& stream) {
    stream.read_request();
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsho");
    stream.read(1);  // waits for bytes that the client never sends
    stream.reset();
  });
  HttpSettings settings;
  settings.timeout = std::chrono::milliseconds(200);
  check_fails(ask(server, std::move(settings)), Kind::unavailable,
              "timed out: http://" + authority(server) + " did not finish its reply within 200ms");

  const StreamServer resetting([](Stream& stream) {
    stream.read_request();
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsho");
    stream.reset();
  });
  check_fails(ask(resetting), Kind::unavailable, "closed the connection");
}

TEST_CASE("http: a reply that is not HTTP/1 gives no credential") {
  for (const std::string& wire :
       {std::string("hello\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string(100, '\0'),
        std::string("HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n"),
        std::string("HTTP/3 200\r\n\r\n"), std::string("ICY 200 OK\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nNo colon\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nA b: c\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\n folded: first\r\n\r\n"),
        std::string("HTTP/1.1 099 OK\r\n\r\n"), std::string("HTTP/1.1 2000 OK\r\n\r\n")}) {
    CAPTURE(wire);
    const StreamServer server([&wire](Stream& stream) {
      stream.read_request();
      stream.write(wire);
    });
    check_fails(ask(server), Kind::no_credential,
                "http://" + authority(server) + " answered with something that is not HTTP/1.1");
  }
}

TEST_CASE("http: a body may be as large as its limit, and not one byte larger") {
  const StreamServer server(answers(ok_reply("12345678")));
  HttpRequest request = get(server.url());
  request.max_reply_bytes = 8;
  CHECK(make_http_client({})->send(request));
  request.max_reply_bytes = 7;
  const Result<HttpResponse> reply = make_http_client({})->send(request);
  check_fails(reply, Kind::no_credential, "is larger than 7 bytes");
  CHECK_FALSE(reply.error().is_transient);
}

TEST_CASE("http: an endless body costs bounded memory" * doctest::description("promise 21")) {
  constexpr std::size_t kGigabyte = 1024 * 1024 * 1024;
  for (const std::string_view head :
       {"Content-Length: 1073741824\r\n\r\n", "\r\n", "Transfer-Encoding: chunked\r\n\r\n"}) {
    CAPTURE(head);
    std::atomic<std::size_t> written = 0;
    const bool is_chunked = head.starts_with("T");
    const std::string piece =
        is_chunked ? "10000\r\n" + std::string(65536, 'x') + "\r\n" : std::string(65536, 'x');
    const long before = peak_memory();
    {
      const StreamServer server([&](Stream& stream) {
        stream.read_request();
        stream.write("HTTP/1.1 200 OK\r\n" + std::string(head));
        while (written < kGigabyte && stream.write(piece)) written += piece.size();
      });
      check_fails(ask(server), Kind::no_credential, "is larger than 1 MiB");
    }
    CHECK(written < 64 * 1024 * 1024);
    const long more = peak_memory() - before;
    CHECK(more < 32 * 1024);
    MESSAGE("a body of 1 GB: " << more / 1024 << " MiB more memory");
  }
}

TEST_CASE("http: endless headers end the request") {
  for (const std::string& piece :
       {std::string("X: ") + std::string(1000, 'y') + "\r\n", std::string(1000, 'y'),
        std::string("HTTP/1.1 100 Continue\r\n\r\n")}) {
    CAPTURE(piece);
    std::atomic<std::size_t> written = 0;
    {
      const StreamServer server([&](Stream& stream) {
        stream.read_request();
        if (piece.front() != 'H') stream.write("HTTP/1.1 200 OK\r\n");
        if (piece.front() == 'y') stream.write("X: ");
        while (written < 1024 * 1024 * 1024 && stream.write(piece)) written += piece.size();
      });
      check_fails(ask(server), Kind::no_credential, "has more than 64 KiB of headers");
    }
    CHECK(written < 64 * 1024 * 1024);
  }
}

TEST_CASE("http: a request to a server that does not reply times out") {
  const StreamServer server([](Stream& stream) { stream.wait_for_close(); });
  HttpSettings settings;
  settings.timeout = std::chrono::milliseconds(150);
  const auto start = std::chrono::steady_clock::now();
  const Result<HttpResponse> reply = ask(server, std::move(settings));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  check_fails(reply, Kind::unavailable,
              "timed out: http://" + authority(server) + " did not reply within 150ms");
  CHECK_FALSE(reply.error().is_transient);
}

TEST_CASE("http: a port without a listener, and a name that does not resolve") {
  std::uint16_t port = 0;
  {
    port = StreamServer([](Stream&) {}).port();
  }
  const std::string url = "https://127.0.0.1:" + std::to_string(port);
  const auto client = make_http_client({});
  const Result<HttpResponse> refused = client->send({.url = url + "/secret?x=secret"});
  check_fails(refused, Kind::unavailable, "cannot connect to " + url + ": Connection refused");
  CHECK(refused.error().is_transient);
  CHECK_FALSE(contains(full_text(refused.error()), "secret"));

  const Result<HttpResponse> unknown = client->send({.url = "https://nowhere.invalid/secret"});
  check_fails(unknown, Kind::unavailable, "cannot resolve 'nowhere.invalid'");
  CHECK(unknown.error().is_transient);
  CHECK_FALSE(contains(full_text(unknown.error()), "secret"));
}

}  // namespace
}  // namespace execcred::test
