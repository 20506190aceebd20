// SPDX-License-Identifier: Apache-2.0
// A ClusterProfile may choose an audience only if the mapping allows it, because a token for an
// audience is valid at every server with this audience.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

Texts audiences_of(const Received& sent) {
  Texts found;
  for (const std::string& field : sent.fields()) {
    if (field.starts_with("audience=")) found.push_back(field.substr(9));
  }
  return found;
}

constexpr const char* kOne = R"({"audience":"https://spoke-1.example.com"})";

}  // namespace

TEST_CASE("a ClusterProfile's audience without --allow-audience is refused, and nothing is sent") {
  Federation fed;
  for (const Ask& ask :
       {Ask{.config = kOne}, Ask{.config = R"({"audience":["a","b"]})"},
        Ask{.arguments = {"--from-profile", "--audience=a"}},
        Ask{.flow = "jwt-bearer", .config = kOne},
        Ask{.flow = "client-credentials", .config = kOne},
        // --allow-server does not allow an audience.
        Ask{.arguments = {"--allow-server=https://spoke-1.example.com:*"}, .config = kOne}}) {
    CHECK_REFUSAL(fed.run(ask), 2, "--allow-audience");
  }
  CHECK(fed.idp.connections() == 0);
}

TEST_CASE("--allow-audience: an exact text, a prefix, server or any, all else is refused") {
  struct Case {
    std::string allowed, audience;
    bool is_good;
  };
  const std::string server = kSpoke;
  Federation fed;
  for (const Case& c : {Case{"spoke-1", "spoke-1", true}, Case{"spoke-1", "spoke-10", false},
                        Case{"spoke-1", "Spoke-1", false}, Case{"spoke-*", "spoke-10", true},
                        Case{"spoke-*", "xspoke-1", false}, Case{"spoke-*", "spoke-", true},
                        Case{"server", server, true}, Case{"server", server + "/", false},
                        Case{"server", "server", false}, Case{"any", "whatever", true},
                        Case{"https://*", "http://spoke", false}}) {
    CAPTURE(c.allowed);
    CAPTURE(c.audience);
    for (const bool by_config : {true, false}) {
      const std::string text = blackbox::json_string(c.audience);
      Ask ask = {.arguments = {"--allow-audience=" + c.allowed}};
      if (by_config) {
        ask.config = R"({"audience":)" + text + "}";
      } else {
        ask.arguments = ask.arguments + Texts{"--from-profile", "--audience=" + c.audience};
      }
      fed.idp.forget();
      const Outcome outcome = fed.run_cold(ask);
      if (!c.is_good) {
        CHECK_FAILURE(outcome, 1, "the ClusterProfile's audience '");
        CHECK(fed.idp.requests().empty());
        continue;
      }
      CHECK_SUCCESS(outcome);
      CHECK(audiences_of(fed.idp.last(kToken)) == Texts{c.audience});
    }
  }
}

TEST_CASE("config.audience: a string or several, all of which must be allowed") {
  Federation fed;
  const auto configured = [](const std::string& audience, Texts allowed) {
    return Ask{.arguments = std::move(allowed), .config = R"({"audience":)" + audience + "}"};
  };
  CHECK_SUCCESS(
      fed.run_cold(configured(R"(["b","a"])", {"--allow-audience=a", "--allow-audience=b"})));
  CHECK(audiences_of(fed.idp.last(kToken)) == Texts{"a", "b"});
  fed.idp.forget();
  CHECK_FAILURE(fed.run_cold(configured(R"(["a","c"])", {"--allow-audience=a"})), 1,
                "matches no --allow-audience");
  for (const std::string invalid : {"7", "{}", "[7]", "true", "[[\"a\"]]"}) {
    CAPTURE(invalid);
    CHECK_FAILURE(fed.run_cold(configured(invalid, {"--allow-audience=any"})), 2,
                  "spec.cluster.config.audience");
  }
  CHECK(fed.idp.requests().empty());
}

TEST_CASE("the mapping's own audience needs no permission, and a profile's does not replace it") {
  Federation fed;
  CHECK_SUCCESS(fed.run_cold({.arguments = {"--audience=mine"}}));
  CHECK_SUCCESS(
      fed.run_cold({.arguments = {"--audience=mine"}, .config = R"({"audience":"evil"})"}));
  CHECK_SUCCESS(
      fed.run_cold({.variables = {"EXECCRED_AUDIENCE=mine"}, .config = R"({"audience":"evil"})"}));
  for (const Received& sent : fed.idp.requests()) CHECK(audiences_of(sent) == Texts{"mine"});
  CHECK(fed.idp.calls() == 3);
}

TEST_CASE("boundary: after it one audience is accepted, which may be repeated unchanged" *
          doctest::description("promise 6")) {
  Federation fed;
  const Texts allowed = {"--allow-audience=any", "--from-profile"};
  CHECK_SUCCESS(fed.run_cold({.arguments = allowed + Texts{"--audience=a", "--audience=a"}}));
  for (const Texts& more :
       {Texts{"--audience=a", "--audience=b"}, Texts{"--from-profile", "--audience=a"},
        Texts{"--audience=a", "--allow-audience=any"}}) {
    CAPTURE(more);
    CHECK_FAILURE(fed.run_cold({.arguments = allowed + more}), 2, "--from-profile");
  }
  CHECK_FAILURE(
      fed.run_cold({.arguments = Texts{"--audience=mine"} + allowed + Texts{"--audience=evil"}}), 2,
      "--audience is set before --from-profile, and may not change");
}

TEST_CASE("pass-through only restricts the token, so a ClusterProfile's audience is allowed") {
  Federation fed;
  CHECK_SUCCESS(fed.run({.flow = "pass-through", .config = R"({"audience":"server"})"}));
  CHECK_FAILURE(fed.run({.flow = "pass-through", .config = R"({"audience":"other"})"}), 1,
                "the token is for 'server', not for 'other'");
  CHECK_SUCCESS(
      fed.run({.flow = "pass-through", .arguments = {"--from-profile", "--audience=server"}}));
}

}  // namespace execcred::test
