// SPDX-License-Identifier: Apache-2.0
// Refresh tokens, which a server may replace at each use: the new one must not be lost.
#include "entry_file.hpp"
#include "federation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <memory>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;

// A server that takes each refresh token once, and gives the next.
struct Rotation {
  std::string original = new_secret();
  Texts rotated = {new_secret(), new_secret(), new_secret(), new_secret()};
  Federation fed;  // reads the tokens until it is destroyed
  std::string path = fed.sandbox.write("refresh", original + "\n", 0600);

  Rotation() {
    fed.idp.on(kToken, [this](Stream& stream, const Received& request) {
      const std::size_t call = fed.idp.calls() - 1;
      const std::string expected = call == 0 ? original : rotated[call - 1];
      if (request.field("refresh_token") != expected) {
        stream.write(reply(400, R"({"error":"invalid_grant"})"));
        return;
      }
      stream.write(reply(200, token_reply("access-" + std::to_string(call),
                                          R"(,"refresh_token":")" + rotated[call] + "\"")));
    });
  }

  Ask ask() const {
    return {.flow = "refresh-token",
            .arguments = {"--subject-token-file=" + path, "--client-id=me"},
            .has_subject = false};
  }
  // Has the same effect as the end of the access token.
  void end_access_token() const {
    for (const auto& file : cache_files(fed.cache_path, ".credential")) {
      std::filesystem::remove(file);
    }
  }
};

}  // namespace

TEST_CASE("refresh-token: a rotated one is stored, and the next call sends it") {
  Rotation rotation;
  for (int run = 0; run < 4; ++run) {
    const Outcome outcome = rotation.fed.run(rotation.ask());
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == "access-" + std::to_string(run));
    // A hit in between makes no call.
    CHECK(token_of(rotation.fed.run(rotation.ask())) == token_of(outcome));
    CHECK(rotation.fed.idp.calls() == static_cast<std::size_t>(run) + 1);
    rotation.end_access_token();
  }
}

TEST_CASE("refresh-token: without a new one in the reply, the old one is sent again") {
  Federation fed;
  const std::string refresh = new_secret();
  const std::string path = fed.sandbox.write("refresh", refresh, 0600);
  const Ask ask = {
      .flow = "refresh-token", .arguments = {"--subject-token-file=" + path}, .has_subject = false};
  for (int run = 0; run < 2; ++run) {
    CHECK_SUCCESS(fed.run(ask));
    CHECK(fed.idp.last(kToken).field("refresh_token") == refresh);
    for (const auto& file : cache_files(fed.cache_path, ".credential")) {
      std::filesystem::remove(file);
    }
  }
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE("refresh-token: a new original is sent itself, and not the successor of the old one") {
  Rotation rotation;
  CHECK_SUCCESS(rotation.fed.run(rotation.ask()));
  const std::string fresh = new_secret();
  rotation.fed.sandbox.write("refresh", fresh + "\n", 0600);
  rotation.fed.idp.answer(token_reply("of-the-new-one"));
  CHECK(token_of(rotation.fed.run(rotation.ask())) == "of-the-new-one");
  CHECK(rotation.fed.idp.last(kToken).field("refresh_token") == fresh);
}

TEST_CASE("refresh-token: without the cache it is an error, and nothing is sent") {
  Rotation rotation;
  Ask ask = rotation.ask();
  ask.arguments.emplace_back("--no-cache");
  CHECK_REFUSAL(rotation.fed.run(ask), 2, "cache");
  Ask by_variable = rotation.ask();
  by_variable.variables = {"EXECCRED_NO_CACHE=true"};
  CHECK_FAILURE(rotation.fed.run(by_variable), 2, "--flow=refresh-token needs the cache");
  CHECK(rotation.fed.idp.connections() == 0);
}

TEST_CASE("refresh-token: if the successor could not be stored, the server is not called") {
  Rotation rotation;
  rotation.fed.sandbox.write("not-a-folder", "");
  Ask ask = rotation.ask();
  ask.has_cache = false;
  ask.arguments.push_back("--cache-dir=" + rotation.fed.sandbox.at("not-a-folder"));
  CHECK_FAILURE(rotation.fed.run(ask), 2, "there is no safe place for a new refresh token");
  CHECK(rotation.fed.idp.requests().empty());
}

TEST_CASE("refresh-token: the successor is on disk before the credential is printed") {
  Rotation rotation;
  blackbox::Command command = rotation.fed.command(rotation.ask());
  blackbox::Pipe full;
  full.fill();
  command.before_exec = [&full] { blackbox::replace_descriptor(1, full.write_end()); };
  blackbox::Child stuck(command);
  // It cannot print; its new token is stored anyway, and the next run uses it.
  CHECK(blackbox::wait_until([&] { return rotation.fed.idp.calls() == 1; }));
  CHECK(blackbox::wait_until(
      [&] { return !cache_files(rotation.fed.cache_path, ".credential").empty(); }));
  stuck.send(SIGKILL);
  stuck.wait();
  rotation.end_access_token();
  CHECK(token_of(rotation.fed.run(rotation.ask())) == "access-1");
}

TEST_CASE("refresh-token: only one file of the cache holds it, and no other user may read it") {
  Rotation rotation;
  CHECK_SUCCESS(rotation.fed.run(rotation.ask()));
  int holders = 0;
  for (const auto& path : cache_files(rotation.fed.cache_path, "")) {
    const std::string content = blackbox::read_text(path);
    CHECK(content.find(rotation.original) == std::string::npos);
    if (content.find(rotation.rotated[0]) == std::string::npos) continue;
    ++holders;
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms(0077)) ==
          std::filesystem::perms::none);
  }
  CHECK(holders == 1);
}

TEST_CASE("refresh-token: 20 processes at once send one token once, and share the result") {
  Rotation rotation;
  Ask ask = rotation.ask();
  ask.arguments.emplace_back("--timeout=20s");
  std::vector<std::unique_ptr<blackbox::Child>> children;
  for (int i = 0; i < 20; ++i) {
    children.push_back(std::make_unique<blackbox::Child>(rotation.fed.command(ask)));
  }
  for (const auto& child : children) CHECK(token_of(child->wait()) == "access-0");
  CHECK(rotation.fed.idp.calls() == 1);
}

TEST_CASE("refresh-token: two audiences share the successor, and neither spends a token twice") {
  Rotation rotation;
  for (int run = 0; run < 4; ++run) {
    Ask ask = rotation.ask();
    ask.arguments.push_back("--audience=" + std::to_string(run));
    CHECK(token_of(rotation.fed.run(ask)) == "access-" + std::to_string(run));
  }
}

TEST_CASE("refresh-token: the successor in a refused reply is stored, and the next run sends it") {
  struct Case {
    std::string what;
    std::string members;  // of the reply, before its refresh token
    Texts arguments = {};
    int status = 200;
  };
  const std::string later = std::to_string(blackbox::seconds_since_epoch() + 3600);
  const std::string jwt = blackbox::make_jwt(R"({"nbf":)" + later + "}");
  for (const Case& c :
       {Case{"no id_token", R"("access_token":"a","expires_in":60)", {"--token=id_token"}},
        Case{"no token", R"("expires_in":60)"},
        Case{"not valid yet", R"("access_token":")" + jwt + R"(","expires_in":60)"},
        Case{"DPoP", R"("access_token":"a","token_type":"DPoP","expires_in":60)"},
        Case{"it has ended", R"("access_token":"a","expires_in":0)"},
        Case{"an error that is empty", R"("access_token":"a","expires_in":60,"error":"")"},
        Case{"a status that is no success of OAuth",
             R"("access_token":"a","expires_in":60)",
             {},
             201}}) {
    CAPTURE(c.what);
    Federation fed;
    const std::string original = new_secret();
    const std::string successor = new_secret();
    const std::string path = fed.sandbox.write("refresh", original, 0600);
    const Ask ask = {.flow = "refresh-token",
                     .arguments = Texts{"--subject-token-file=" + path} + c.arguments,
                     .has_subject = false};
    fed.idp.answer("{" + c.members + R"(,"refresh_token":")" + successor + "\"}", c.status);
    CHECK_FAILURE(fed.run(ask), 1, "asking the token endpoint 'https://");
    CHECK(fed.idp.last(kToken).field("refresh_token") == original);
    for (const auto& file : cache_files(fed.cache_path, ".failure")) {
      std::filesystem::remove(file);
    }
    fed.idp.answer(R"({"access_token":"a","id_token":")" + blackbox::jwt_for(600) + "\"}");
    CHECK_SUCCESS(fed.run(ask));
    CHECK(fed.idp.last(kToken).field("refresh_token") == successor);
  }
}

}  // namespace execcred::test
