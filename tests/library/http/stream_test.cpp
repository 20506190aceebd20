// SPDX-License-Identifier: Apache-2.0
// Endless replies, requests that are stopped, and the deadline of one request.
#include "client.hpp"

#include <execcred/http/retry.hpp>
#include <execcred/os/stop_event.hpp>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using Kind = Error::Kind;

constexpr std::string_view kStreamHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

StopEvent make_stop() {
  Result<StopEvent> stop = StopEvent::make();
  REQUIRE(stop);
  return std::move(stop).value();
}

// Writes only the head of an endless reply.
StreamServer::Handler silent_stream() {
  return [](Stream& stream) {
    stream.read_request();
    stream.write(kStreamHead);
    stream.wait_for_close();
  };
}

TEST_CASE("http: a streamed reply arrives part by part, beginning with its headers") {
  std::promise<void> has_head;
  std::promise<void> has_first;
  const StreamServer server([&](Stream& stream) {
    stream.read_request();
    stream.write(kStreamHead);
    has_head.get_future().wait();
    stream.write("3\r\none\r\n");
    has_first.get_future().wait();
    stream.write("3\r\ntwo\r\n0\r\n\r\n");
    stream.wait_for_close();
  });
  HttpRequest request = get(server.url());
  request.max_reply_bytes = 1;  // a stream has no bound
  std::vector<std::string> parts;
  request.receive = [&](std::string_view part) {
    parts.emplace_back(part);
    if (parts.size() == 1) has_head.set_value();
    if (parts.size() == 2) has_first.set_value();
    return true;
  };
  const Result<HttpResponse> reply = make_http_client({})->send(request);
  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->body.empty());
  CHECK(parts == std::vector<std::string>{"", "one", "two"});
}

TEST_CASE("http: a receiver may end a stream, which is not an error") {
  const StreamServer server([](Stream& stream) {
    stream.read_request();
    stream.write(std::string(kStreamHead) + "3\r\none\r\n");
    stream.wait_for_close();
  });
  HttpRequest request = get(server.url());
  request.receive = [](std::string_view part) { return part.empty(); };
  const Result<HttpResponse> reply = make_http_client({})->send(request);
  REQUIRE(reply);
  CHECK(reply->status == 200);
}

TEST_CASE("http: a stream that is cut is an error, like any other reply") {
  const StreamServer server([](Stream& stream) {
    stream.read_request();
    stream.write(std::string(kStreamHead) + "3\r\none\r\n");
    stream.cut();
  });
  HttpRequest request = get(server.url());
  request.receive = [](std::string_view) { return true; };
  check_fails(make_http_client({})->send(request), Kind::unavailable,
              "closed the connection in the middle of its reply");
}

TEST_CASE("http: a reply other than 200 is not streamed, and its size is limited") {
  const std::string gone = "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone";
  const StreamServer server(answers(gone));
  HttpRequest request = get(server.url());
  bool is_called = false;
  request.receive = [&](std::string_view) { return is_called = true; };
  const Result<HttpResponse> reply = make_http_client({})->send(request);
  REQUIRE(reply);
  CHECK(reply->status == 410);
  CHECK(reply->body.reveal() == "gone");
  CHECK_FALSE(is_called);
  request.max_reply_bytes = 3;
  check_fails(make_http_client({})->send(request), Kind::no_credential, "is larger than 3 bytes");
}

TEST_CASE("http: a stop ends a waiting request, and no new request is sent") {
  const StreamServer server(silent_stream());
  const StopEvent stop = make_stop();
  HttpRequest request = get(server.url());
  request.stop = &stop;
  std::promise<void> has_head;
  request.receive = [&](std::string_view) {
    has_head.set_value();
    return true;
  };
  std::thread stopper([&] {
    has_head.get_future().wait();
    stop.request();
  });
  const std::unique_ptr<HttpClient> client = make_http_client({.timeout = 1h});
  const Result<HttpResponse> reply = client->send(request);
  stopper.join();
  check_fails(reply, Kind::unavailable, "stopped before the reply was complete");
  CHECK(reply.error().is_local);
  CHECK_FALSE(reply.error().is_transient);
  CHECK(server.connections() == 1);
  check_fails(client->send(request), Kind::unavailable, "stopped");
  CHECK(server.connections() == 1);
  // The client still works.
  const StreamServer other(answers(ok_reply("hello")));
  const Result<HttpResponse> next = client->send(get(other.url()));
  REQUIRE(next);
  CHECK(next->body.reveal() == "hello");
}

TEST_CASE("http: a request can have its own timeout and deadline") {
  const StreamServer server(silent_stream());
  const std::unique_ptr<HttpClient> client = make_http_client({.timeout = 1h});
  HttpRequest request = get(server.url());
  request.timeout = 30ms;
  check_fails(client->send(request), Kind::unavailable, "did not finish its reply within 30ms");
  request.timeout.reset();
  request.deadline = steady_clock::now() + 40ms;
  check_fails(client->send(request), Kind::unavailable, "timed out");
}

TEST_CASE("http: the call's deadline holds for each request of its retries") {
  const StreamServer server(silent_stream());
  const std::unique_ptr<HttpClient> client = make_http_client({.timeout = 1h});
  CallContext call{.deadline = steady_clock::now() + 40ms};
  check_fails(send_with_retries(*client, get(server.url()), call), Kind::unavailable, "timed out");
}

TEST_CASE("http: a stop ends the pause between two attempts") {
  const StopEvent stop = make_stop();
  std::atomic<int> calls = 0;
  const StreamServer server([&](Stream& stream) {
    while (!stream.read_request().empty()) {
      ++calls;
      stream.write("HTTP/1.1 503 X\r\nContent-Length: 0\r\nRetry-After: 3600\r\n\r\n");
      stop.request();
    }
  });
  const std::unique_ptr<HttpClient> client = make_http_client({});
  CallContext call;
  const Result<HttpResponse> reply =
      send_with_retries(*client, get(server.url()), call, {.stop = &stop});
  REQUIRE(reply);
  CHECK(reply->status == 503);
  CHECK(calls == 1);
}

TEST_CASE("stop event: waits until a time, or until it is requested by another thread") {
  const StopEvent stop = make_stop();
  CHECK_FALSE(stop.is_requested());
  CHECK_FALSE(stop.wait_until(steady_clock::now() + 5ms));
  std::thread other([&] { stop.request(); });
  CHECK(stop.wait_until(steady_clock::time_point::max()));
  other.join();
  stop.request();
  CHECK(stop.is_requested());
}

}  // namespace
}  // namespace execcred::test
