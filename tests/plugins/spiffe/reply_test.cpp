// SPDX-License-Identifier: Apache-2.0
// Invalid answers: the meaning of each, how soon it is reported, and with which exit code.
#include "peer.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

std::string message() { return h2::data(1, h2::message(good_jwt())); }

std::string without_status(const std::string& http_status, const std::string& content_type) {
  return grpc::greeting() +
         h2::headers(1, {{":status", http_status}, {"content-type", content_type}}) +
         h2::data(1, "<html>no</html>", true);
}

}  // namespace

TEST_CASE("reply: a compressed message, or one with unknown flags, is refused") {
  for (const char flag : {'\1', '\2', '\x80', '\xff'}) {
    check_refused(grpc::begin() + h2::data(1, h2::message(good_jwt(), flag)) + grpc::trailers("0"),
                  1, flag == 1 ? "compressed" : "flags");
    const Peer x509(grpc::begin() + h2::data(1, h2::message(good_x509(), flag)));
    const Outcome outcome = x509.run({.type = "x509"});
    CHECK_FAILURE(outcome, 1, "the SPIFFE Workload API at");
    check_at_once(outcome);
  }
}

TEST_CASE("reply: a message that is cut off by the end of the stream is requested again") {
  const std::string whole = h2::message(good_jwt());
  for (const std::size_t size : {1U, 3U, 4U, 5U, 6U, 100U}) {
    CAPTURE(size);
    check_retried(grpc::begin() + h2::data(1, whole.substr(0, size)) + grpc::trailers("0"));
  }
  check_retried(grpc::begin() + h2::data(1, whole.substr(0, whole.size() - 1), true));
  // The retries end at the timeout.
  const Peer peer(grpc::begin() + h2::data(1, whole.substr(0, 50)) + grpc::trailers("0"));
  const Ask ask = {.timeout = milliseconds(1000)};
  const Outcome outcome = peer.run(ask);
  CHECK_FAILURE(outcome, 3, "did not answer: Unavailable: the reply was cut");
  check_in_time(outcome, ask);
}

TEST_CASE("reply: an answer whose grpc-status is no valid number is refused") {
  for (const std::string status : {"banana", "", "00", "-1", "+0", "0x0", " 0", "0 ", "0.0", "1e1",
                                   "0,0", "OK", "99999999999999999999", "\xef\xbc\x90"}) {
    check_refused(grpc::begin() + message() + grpc::trailers(status), 1,
                  "did not answer: the reply");
    check_refused(grpc::greeting() + h2::headers(1,
                                                 {{":status", "200"},
                                                  {"content-type", "application/grpc"},
                                                  {"grpc-status", status}},
                                                 true),
                  1, "did not answer: the reply");
  }
}

TEST_CASE("reply: two grpc-statuses are refused, and one before the message does not count") {
  check_refused(grpc::begin() + message() +
                    h2::headers(1, {{"grpc-status", "0"}, {"grpc-status", "0"}}, true),
                1, "more than one grpc-status");
  check_refused(grpc::begin() + message() +
                    h2::headers(1, {{"grpc-status", "0"}, {"grpc-status", "7"}}, true),
                1, "more than one grpc-status");
  check_refused(
      grpc::greeting() +
          h2::headers(
              1, {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "0"}}) +
          h2::data(1, h2::message(good_jwt()), true),
      1, "no grpc-status");
}

TEST_CASE("reply: an unknown code is a failure, which is reported with its message") {
  check_refused(grpc::begin() + message() + grpc::trailers("99", "odd"), 3, "odd");
  check_refused(grpc::failure(17, "odder"), 3, "odder");
}

TEST_CASE("reply: each code that is not retried is reported at once, with its exit code" *
          doctest::description("promise 23")) {
  struct Case {
    int code, exit_code;
    const char* name;
  };
  for (const Case& c :
       {Case{1, 3, "Cancel"}, Case{2, 3, "Unknown"}, Case{3, 1, "InvalidArgument"},
        Case{5, 1, "NotFound"}, Case{6, 1, "AlreadyExists"}, Case{8, 3, "ResourceExhausted"},
        Case{9, 1, "FailedPrecondition"}, Case{10, 3, "Aborted"}, Case{11, 1, "OutOfRange"},
        Case{12, 1, "Unimplemented"}, Case{13, 3, "Internal"}, Case{15, 3, "DataLoss"},
        Case{16, 1, "Unauthenticated"}}) {
    CAPTURE(c.code);
    check_refused(grpc::failure(c.code, "because of that"), c.exit_code, c.name);
    check_refused(grpc::failure(c.code, "because of that"), c.exit_code, "because of that");
    check_refused(grpc::begin() + message() + grpc::trailers(std::to_string(c.code)), c.exit_code,
                  c.name);
  }
}

TEST_CASE("reply: DEADLINE_EXCEEDED of the agent ends the run, and is not taken for a time-out") {
  const Peer peer(grpc::failure(4, "too slow"));
  const Outcome outcome = peer.run();
  CHECK_FAILURE(outcome, 3, "did not answer: DeadlineExceeded: too slow");
  check_at_once(outcome);
}

TEST_CASE("reply: grpc-message is decoded, and never printed raw") {
  check_refused(grpc::failure(3, "100%25 wrong%3A a%20b"), 1, "100% wrong: a b");
  check_refused(grpc::failure(3, "100% %zz %4 %"), 1, "100% %zz %4 %");
  check_refused(grpc::failure(3, "a%0Ab%1B[31mc%07%00d%7F"), 1, "InvalidArgument: ab");
  check_refused(grpc::failure(3, std::string(15'000, 'x')), 1, "xxx");
  check_refused(grpc::failure(3, "\xc3\xbc%C3%BC"), 1, "InvalidArgument: \xc3\xbc\xc3\xbc");
}

TEST_CASE("reply: status 0 without a message, or no status, is an error") {
  check_refused(grpc::begin() + grpc::trailers("0"), 1, "no message");
  check_refused(grpc::failure(0), 1, "no message");
  check_refused(grpc::begin() + message() + h2::headers(1, {{"x", "y"}}, true), 1,
                "no grpc-status");
  check_refused(grpc::begin() + message() + h2::data(1, "", true), 1, "no grpc-status");
  check_refused(grpc::begin() + h2::data(1, h2::message(good_jwt()), true), 1, "no grpc-status");
  check_refused(
      grpc::greeting() +
          h2::headers(1, {{":status", "200"}, {"content-type", "application/grpc"}}, true),
      1, "no grpc-status");
  const Peer x509(grpc::begin() + grpc::trailers("0"));
  CHECK_FAILURE(x509.run({.type = "x509"}), 1,
                "did not answer: the reply says OK, but has no message");
}

TEST_CASE("reply: two messages instead of one, or bytes after the message, are refused") {
  const std::string one = h2::message(good_jwt());
  check_refused(grpc::begin() + h2::data(1, one + one) + grpc::trailers("0"), 1, "more than one");
  check_refused(grpc::begin() + h2::data(1, one) + h2::data(1, one) + grpc::trailers("0"), 1,
                "more than one message");
  check_refused(
      grpc::begin() + h2::data(1, one) + h2::data(1, h2::message("")) + grpc::trailers("0"), 1,
      "more than one message");
  check_refused(
      grpc::begin() + h2::data(1, one) + h2::data(1, std::string(1, '\0')) + grpc::trailers("0"), 1,
      "more than one message");
}

TEST_CASE("reply: a failure's status is reported even after a message") {
  check_refused(grpc::begin() + message() + grpc::trailers("3", "after all"), 1, "after all");
  check_retried(grpc::begin() + message() + grpc::trailers("14", "after all"));
}

TEST_CASE("reply: data after the trailers is ignored") {
  const Peer peer(good_answer() + message() + grpc::trailers("13", "late"));
  CHECK_SUCCESS(peer.run());
}

TEST_CASE("reply: trailers that do not end the stream are refused") {
  check_refused(
      grpc::begin() + message() + h2::headers(1, {{"grpc-status", "0"}}) + h2::data(1, "", true), 1,
      "no valid HTTP/2");
}

TEST_CASE("reply: an HTTP status without a grpc-status") {
  struct Case {
    const char* status;
    int exit_code;
    bool is_retried;
  };
  for (const Case& c :
       {Case{"400", 1, false}, Case{"401", 1, false}, Case{"403", 1, false}, Case{"404", 1, false},
        Case{"500", 3, false}, Case{"302", 1, false}, Case{"429", 3, true}, Case{"502", 3, true},
        Case{"503", 3, true}, Case{"504", 3, true}}) {
    CAPTURE(c.status);
    for (const std::string type : {"text/html", "application/grpc"}) {
      const std::string bytes = without_status(c.status, type);
      if (c.is_retried) {
        check_retried(bytes);
      } else {
        check_refused(bytes, c.exit_code, c.status);
      }
    }
  }
}

TEST_CASE("reply: an HTML page with status 200 is refused") {
  check_refused(without_status("200", "text/html"), 1, "'text/html'");
  check_refused(
      grpc::greeting() + h2::headers(1, {{":status", "200"}, {"content-type", "text/html"}}, true),
      1, "text/html");
  check_refused(grpc::greeting() + h2::headers(1, {{":status", "200"}}) +
                    h2::data(1, "hello world, this is no gRPC", true),
                1, "'', not application/grpc");
}

TEST_CASE("reply: only gRPC's content type is accepted, with or without codec and parameters") {
  const auto typed = [](const std::string& type) {
    return grpc::greeting() + h2::headers(1, {{":status", "200"}, {"content-type", type}}) +
           good_rest();
  };
  for (const std::string type :
       {"application/grpc+proto", "application/grpc;charset=utf-8", "application/grpc"}) {
    CHECK_SUCCESS(Peer(typed(type)).run());
  }
  for (const std::string type : {"application/grpcx", "application/grpc-web", "text/plain", ""}) {
    check_refused(typed(type), 1, "no message");
  }
}

TEST_CASE("reply: headers without :status, with a wrong one, or with upper case") {
  for (const h2::Fields& fields :
       {h2::Fields{{"content-type", "application/grpc"}},
        h2::Fields{{":status", "banana"}, {"content-type", "application/grpc"}},
        h2::Fields{{":status", "200"}, {":status", "200"}},
        h2::Fields{{"content-type", "application/grpc"}, {":status", "200"}},
        h2::Fields{{":status", "200"}, {"Content-Type", "application/grpc"}},
        h2::Fields{{":status", "200"}, {"connection", "close"}},
        h2::Fields{{":status", "200"}, {":path", "/"}}}) {
    const Peer peer(grpc::greeting() + h2::headers(1, fields) + good_rest());
    const Outcome outcome = peer.run({.timeout = milliseconds(600)});
    CHECK_FAILURE(outcome, 1, "did not answer: the reply is no valid HTTP/2");
    check_at_once(outcome);
  }
}

}  // namespace execcred::test
