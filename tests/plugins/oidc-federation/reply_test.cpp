// SPDX-License-Identifier: Apache-2.0
// Token endpoints that answer garbage, too much, too little, or in strange pieces.
#include "federation.hpp"
#include "support/memory_limit.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const Ask kOnce = {.arguments = {"--timeout=2s"}};

std::string chunk(const std::string& bytes) {
  std::string size = "0";
  if (!bytes.empty()) {
    constexpr std::string_view kHex = "0123456789abcdef";
    size.clear();
    for (std::size_t left = bytes.size(); left > 0; left /= 16) size.insert(0, 1, kHex[left % 16]);
  }
  return size + "\r\n" + bytes + "\r\n";
}

constexpr const char* kChunked =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

// Sends pieces until the client closes the connection.
ScriptedServer::Answer endlessly(std::string head, std::string piece) {
  return [head = std::move(head), piece = std::move(piece)](Stream& stream, const Received&) {
    if (!stream.write(head)) return;
    std::size_t written = 0;
    constexpr std::size_t kGigabyte = std::size_t{1} << 30;
    while (written < kGigabyte && stream.write(piece)) written += piece.size();
  };
}

}  // namespace

TEST_CASE("a 200 that is no OAuth reply is refused: HTML, other JSON, nothing, no JSON") {
  Federation fed;
  for (const std::string body : {"<!doctype html><html><body>Sign in</body></html>",
                                 "",
                                 " ",
                                 "null",
                                 "[]",
                                 "\"token\"",
                                 "{}",
                                 "{",
                                 "{\"access_token\":}",
                                 "{\"access_token\":\"\"}",
                                 "{\"access_token\":null}",
                                 "{\"access_token\":7}",
                                 "{\"access_token\":{\"a\":1}}",
                                 "access_token=a&token_type=bearer",
                                 "{\"access_token\":\"a\"}trailing",
                                 "{\"access_token\":\"a\"}{}",
                                 "{\"token\":\"a\"}",
                                 "{\"Access_Token\":\"a\"}",
                                 "\xef\xbb\xbf{\"access_token\":\"a\"",
                                 "{'access_token':'a'}"}) {
    CAPTURE(body);
    fed.idp.answer(body);
    CHECK_FAILURE(fed.run_cold({}), 1, "asking the token endpoint");
  }
  fed.idp.on(kToken,
             "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>");
  const Outcome outcome = fed.run_cold({});
  CHECK_FAILURE(outcome, 1, "answered is no valid JSON at line 1, column 1");
  CHECK(blackbox::says(outcome, "'text/html'"));
}

TEST_CASE("duplicate keys are refused, also if they are nested or escaped" *
          doctest::description("promise 20")) {
  Federation fed;
  for (const std::string body : {R"({"access_token":"a","access_token":"b"})",
                                 R"({"access_token":"a","expires_in":60,"expires_in":6000})",
                                 R"({"access_token":"a","\u0061ccess_token":"b"})",
                                 R"({"access_token":"a","x":{"y":1,"y":2}})"}) {
    CAPTURE(body);
    fed.idp.answer(body);
    CHECK_FAILURE(fed.run_cold({}), 1, "more than once in the object that ends at line 1, column");
  }
}

TEST_CASE("tokens that are invalid in a header are refused") {
  Federation fed;
  for (const std::string token :
       {"two words", "line\\nbreak", "cr\\r\\nX-Evil: 1", "tab\\tbed", "nul\\u0000byte",
        "\\u00fcmlaut", "\\ud83d\\ude00", "\\u007f", "trailing\\n", " leading"}) {
    CAPTURE(token);
    fed.idp.answer(R"({"expires_in":600,"access_token":")" + token + "\"}");
    CHECK_FAILURE(fed.run_cold({}), 1, "has a byte that no token may hold");
  }
}

TEST_CASE("a 200 with an error is a failure, even with a token beside it") {
  Federation fed;
  fed.idp.answer(R"({"access_token":"a","expires_in":60,"error":"invalid_grant"})");
  const Outcome outcome = fed.run_cold({});
  CHECK_REFUSAL(outcome, 1, "invalid_grant");
}

TEST_CASE("deeply nested JSON is refused before it can exhaust the stack") {
  Federation fed;
  const std::string open(100'000, '[');
  const std::string close(100'000, ']');
  std::string objects;
  for (int i = 0; i < 50'000; ++i) objects += "{\"a\":";
  for (const std::string& deep : {open + close, open, objects, objects + "1"}) {
    fed.idp.answer(R"({"access_token":"a","x":)" + deep + "}");
    CHECK_FAILURE(fed.run_cold({}), 1, "answered is nested deeper than 32 levels");
  }
}

TEST_CASE("a chunked reply is read to its end, even in chunks of one byte") {
  Federation fed;
  const std::string body = token_reply("in-pieces");
  std::string pieces = kChunked;
  for (const char c : body) pieces += chunk(std::string(1, c));
  fed.idp.on(kToken, pieces + chunk(""));
  CHECK(token_of(fed.run_cold({})) == "in-pieces");
}

TEST_CASE("a reply that is cut off is a temporary failure, and never gives a part of a token") {
  const std::string body = token_reply("half-a-token");
  const std::string whole = reply(200, body);
  struct Case {
    std::string what, bytes;
  };
  Federation fed;
  for (const Case& c :
       {Case{"in the head", whole.substr(0, 30)},
        Case{"before the body", whole.substr(0, whole.size() - body.size())},
        Case{"in the body", whole.substr(0, whole.size() - 10)},
        Case{"by one byte", whole.substr(0, whole.size() - 1)},
        Case{"in a chunk", kChunked + chunk(body).substr(0, 20)},
        Case{"before the last chunk", kChunked + chunk(body)}, Case{"at once", ""}}) {
    CAPTURE(c.what);
    fed.idp.on(kToken, [bytes = c.bytes](Stream& stream, const Received&) {
      stream.write(bytes);
      stream.cut();
    });
    CHECK_FAILURE(fed.run_cold(kOnce), 3, "the server at https://");
    fed.idp.on(kToken, [bytes = c.bytes](Stream& stream, const Received&) {
      stream.write(bytes);
      stream.reset();
    });
    // A reset may discard what the plugin has not read yet.
    CHECK_FAILURE(fed.run_cold(kOnce), 3, "closed the connection ");
  }
}

TEST_CASE("a reply that is not HTTP is refused, and is not shown raw") {
  Federation fed;
  for (const std::string bytes :
       {"SSH-2.0-OpenSSH_9.2\r\n", "220 mail ready\r\n", "\x16\x03\x01\x02",
        "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n"}) {
    CAPTURE(bytes);
    fed.idp.on(kToken, [bytes = bytes](Stream& stream, const Received&) {
      stream.write(bytes);
      stream.cut();
    });
    const Outcome outcome = fed.run_cold(kOnce);
    CHECK((outcome.exit_code == 1 || outcome.exit_code == 3));
    CHECK_FAILURE(outcome, outcome.exit_code, "answered with something that is not HTTP/1.1");
  }
}

TEST_CASE("1 GB, endless bodies and endless headers end early, in bounded memory" *
          doctest::description("promise 21")) {
  struct Case {
    std::string what;
    ScriptedServer::Answer answer;
  };
  const std::string block(65'536, ' ');
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  for (const Case& c :
       {Case{"announced", endlessly(head + "Content-Length: 1073741824\r\n\r\n", block)},
        Case{"until the end of the connection", endlessly(head + "\r\n", block)},
        Case{"chunked", endlessly(kChunked, chunk(block))},
        Case{"headers", endlessly(head, "X-Filler: " + std::string(8000, 'x') + "\r\n")},
        Case{"one header", endlessly(head + "X-Filler: ", block)},
        Case{"interim replies", endlessly("", "HTTP/1.1 100 Continue\r\n\r\n")}}) {
    CAPTURE(c.what);
    Federation fed;
    fed.idp.on(kToken, c.answer);
    const Outcome outcome =
        blackbox::run(bounded(fed.command({.arguments = {"--timeout=5s"}}), 64U << 20U));
    CHECK((outcome.exit_code == 1 || outcome.exit_code == 3));
    CHECK_FAILURE(outcome, outcome.exit_code, "the reply of https://");
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
}

}  // namespace execcred::test
