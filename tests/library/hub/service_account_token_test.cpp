// SPDX-License-Identifier: Apache-2.0
#include "hub_fixture.hpp"
#include "support/jwt.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/exec/jwt.hpp>
#include <execcred/hub/service_account_token.hpp>

#include <nlohmann/json.hpp>

#include <atomic>
#include <optional>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Kind = Error::Kind;

constexpr std::string_view kAudience = "https://idp.example.com";

Result<ServiceAccountToken> ask(const HubFixture& hub, std::string_view name = "default",
                                std::string_view audience = kAudience,
                                const std::string& name_space = "kube-system") {
  HubClient client = hub.client();
  return request_service_account_token(
      client,
      {.name_space = name_space, .name = std::string(name), .audiences = {std::string(audience)}});
}

const std::string kGoodClaims = R"({"aud":["https://idp.example.com"],"exp":1782907200})";

// A reply with this token; `end` is JSON.
HttpResponse token_reply(const std::string& token, const std::string& end) {
  return {.status = 201,
          .body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{)"
                  R"("token":)" +
                  nlohmann::json(token).dump() + R"(,"expirationTimestamp":)" + end + "}}"};
}

Result<ServiceAccountToken> read(const HttpResponse& reply) {
  const HubFixture hub([&reply](const HttpRequest&) { return reply; });
  return ask(hub);
}

TEST_CASE("service account token: a TokenRequest for an hour and for one audience") {
  const HubFixture hub;
  const Result<ServiceAccountToken> token = ask(hub);
  REQUIRE(token);
  const auto claims = unverified_claims(token->token);
  REQUIRE(claims);
  REQUIRE(claims->has_value());
  CHECK((*claims)->subject == "system:serviceaccount:kube-system:default");
  CHECK((*claims)->audiences == std::vector<std::string>{std::string(kAudience)});
  REQUIRE(token->expires_at);
  const auto left = *token->expires_at - SystemClock().now();
  CHECK(left > 55min);
  CHECK(left <= 1h);

  REQUIRE(hub.requests().size() == 1);
  const HttpRequest request = hub.requests().front();
  CHECK(request.method == "POST");
  CHECK(request.target == "/api/v1/namespaces/kube-system/serviceaccounts/default/token");
  CHECK(request.header("Authorization") == "Bearer t0ken");
  CHECK(request.header("Content-Type") == "application/json");
  CHECK(request.body ==
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":)"
        R"(["https://idp.example.com"],"expirationSeconds":3600}})");
}

TEST_CASE("service account token: several audiences, none, and a lifetime in whole seconds") {
  const auto spec_of = [](const ServiceAccountTokenRequest& request, const std::string& audiences) {
    const HubFixture hub([&](const HttpRequest&) {
      return token_reply(jwt(R"({"aud":)" + audiences + "}"), "null");
    });
    HubClient client = hub.client();
    const Result<ServiceAccountToken> token = request_service_account_token(client, request);
    const std::string body = hub.requests().empty() ? "{}" : hub.requests().front().body;
    return (token ? "" : token.error().message + " ") + nlohmann::json::parse(body)["spec"].dump();
  };
  ServiceAccountTokenRequest request{.name_space = "kube-system", .name = "default"};
  CHECK(spec_of(request, R"(["https://k"])") == R"({"expirationSeconds":3600})");
  request.audiences = {"a", "b"};
  request.lifetime = 10min + 999ms;
  const std::string spec = R"({"audiences":["a","b"],"expirationSeconds":600})";
  CHECK(spec_of(request, R"(["b","c","a"])") == spec);
  CHECK(spec_of(request, R"(["a"])") ==
        "the hub's token is not for the audience 'b', but for 'a' " + spec);
}

TEST_CASE("service account token: names that Kubernetes does not allow are not sent") {
  const HubFixture hub;
  for (const char* name : {"", "../../secrets", "a/b", "A", "a%2fb", "a?b", "-a", "a_b"}) {
    CAPTURE(name);
    check_fails(ask(hub, name), Kind::configuration, "cannot be the name of a service account");
    check_fails(ask(hub, "default", kAudience, name), Kind::configuration,
                "cannot be the namespace of a service account");
  }
  check_fails(ask(hub, "default", kAudience, "a.b"), Kind::configuration,
              "'a.b' cannot be the namespace");
  check_fails(ask(hub, "default", ""), Kind::configuration, "needs an audience");
  check_fails(ask(hub, "default", "a\nb"), Kind::configuration, "has a control character");
  CHECK(hub.requests().empty());
  // A service account's name may have dots.
  check_fails(ask(hub, "build.bot"), Kind::no_credential, "build.bot");
}

TEST_CASE("service account token: a missing service account") {
  const HubFixture hub;
  const Result<ServiceAccountToken> token = ask(hub, "builder");
  check_fails(token, Kind::no_credential,
              "the hub answered 404 Not Found: serviceaccounts \"builder\" not found");
  check_fails(token, Kind::no_credential, "hint: name one that is there, or make it on the hub");
  check_fails(token, Kind::no_credential,
              "while creating serviceaccounts/token 'kube-system/builder' on the hub 'https://");
}

TEST_CASE("service account token: the hint of a 403 names the missing RBAC rule") {
  const HubFixture hub([](const HttpRequest&) {
    return hub_status(403, "Forbidden", "serviceaccounts is forbidden");
  });
  check_fails(ask(hub), Kind::no_credential,
              "hint: it needs a Role with verbs [create] on resources [serviceaccounts/token], "
              "resourceNames [default], bound in namespace 'kube-system'");
  CHECK(hub.requests().size() == 1);
}

TEST_CASE("service account token: temporary errors are retried, permanent ones are not") {
  for (const int status : {429, 500, 503}) {
    CAPTURE(status);
    std::atomic<int> calls = 0;
    const HubFixture hub([&](const HttpRequest&) {
      return ++calls == 1 ? hub_status(status, "Busy", "later")
                          : token_reply(jwt(kGoodClaims), "null");
    });
    CHECK(ask(hub));
    CHECK(calls == 2);
  }
  for (const int status : {400, 401, 404, 409, 422, 307}) {
    CAPTURE(status);
    const HubFixture hub([&](const HttpRequest&) { return hub_status(status, "No", "no"); });
    check_fails(ask(hub), Kind::no_credential, std::to_string(status));
    CHECK(hub.requests().size() == 1);
  }
}

TEST_CASE("service account token: it expires at the earlier of expirationTimestamp and exp") {
  const TimePoint exp = TimePoint(1782907200s);
  struct Case {
    std::string end, claims;
    std::optional<TimePoint> expected;
  };
  const std::string no_exp = R"({"aud":"https://idp.example.com"})";
  for (const Case& c :
       {Case{R"("2026-07-01T11:59:59Z")", kGoodClaims, exp - 1s},
        Case{R"("2027-07-01T12:00:00Z")", kGoodClaims, exp}, Case{"null", kGoodClaims, exp},
        Case{R"("2026-07-01T12:00:00Z")", no_exp, exp}, Case{"null", no_exp, std::nullopt}}) {
    CAPTURE(c.end);
    const Result<ServiceAccountToken> token = read(token_reply(jwt(c.claims), c.end));
    REQUIRE(token);
    CHECK(token->expires_at == c.expected);
  }
}

TEST_CASE("service account token: replies with an invalid token, or for another audience") {
  const std::string good = jwt(kGoodClaims);
  const auto fails = [](const HttpResponse& reply, std::string_view part) {
    const Result<ServiceAccountToken> token = read(reply);
    check_fails(token, Kind::no_credential, part);
    CHECK_FALSE(contains(full_text(token.error()), "eyJ"));
  };
  fails(token_reply(jwt(R"({"aud":["other"]})"), "null"),
        "is not for the audience 'https://idp.example.com', but for 'other'");
  fails(token_reply(jwt(R"({"aud":["https://idp.example.com/"]})"), "null"),
        "not for the audience");
  fails(token_reply(jwt("{}"), "null"), "but for none");
  fails(token_reply("opaque", "null"), "is no JWT");
  fails(token_reply("eyJ", "null"), "begins as a JWT does, but is none");
  fails(token_reply("", "null"), "status.token");
  fails(token_reply(good + " " + good, "null"), "is not one word");
  fails(token_reply(" " + good, "null"), "is not one word");
  fails(token_reply(good + "\n", "null"), "status.token");
  fails(token_reply(good + "\xc3\xa9", "null"), "is not one word");
  for (const char* end : {R"("")", R"("2026-07-01")", R"("2026-07-01 12:00:00Z")",
                          R"("2026-07-01T12:00:00")", R"("tomorrow")", "1782907200", "{}"}) {
    CAPTURE(end);
    fails(token_reply(good, end), "expirationTimestamp");
  }
}

TEST_CASE("service account token: replies that are not a TokenRequest") {
  const auto fails = [](const std::string& body, std::string_view part, int status = 201) {
    CAPTURE(body);
    check_fails(read({.status = status, .body = body}), Kind::no_credential, part);
  };
  fails("", "is no JSON");
  fails("[]", "is no JSON object");
  fails("{}", "kind");
  fails(R"({"kind":"Pod"})", "it is a 'Pod', no TokenRequest");
  fails(R"({"kind":"TokenRequest"})", "status");
  fails(R"({"kind":"TokenRequest","status":{}})", "status.token");
  fails(R"({"kind":"TokenRequest","status":{"token":1}})", "status.token");
  fails(R"({"kind":"TokenRequest","status":{"token":"a","token":"b"}})", "is no JSON");
  fails(R"({"kind":"TokenRequest"})", "answered 202", 202);
}

TEST_CASE("service account token: an error about the reply is cleaned of the token that was sent") {
  const std::string sent(kHubToken);
  for (const HttpResponse& reply :
       {HttpResponse{.status = 201, .body = R"({"kind":"To)" + sent + R"(Request"})"},
        token_reply(jwt(R"({"aud":["x)" + sent + R"("]})"), "null")}) {
    CAPTURE(reply.body);
    const HubFixture hub([&reply](const HttpRequest&) { return reply; });
    HubClient client = hub.client();
    const Result<ServiceAccountToken> token = request_service_account_token(
        client, {.name_space = "fleet", .name = "default", .audiences = {std::string(kAudience)}});
    REQUIRE_FALSE(token);
    const std::string shown = full_text(client.redacted(token.error()));
    CHECK(contains(shown, "***"));
    CHECK_FALSE(contains(shown, sent));
  }
}

}  // namespace
}  // namespace execcred::test
