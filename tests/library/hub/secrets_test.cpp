// SPDX-License-Identifier: Apache-2.0
#include "live_api.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/secrets.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Outcome = ChangeOutcome::Kind;
using Kind = Error::Kind;

constexpr const char* kToken = "a-token-that-must-not-be-seen-by-people";

std::string base64(const std::string& text) { return encode_base64(text); }

json::Value secret(const std::string& name) {
  const Result<json::Value> object =
      json::parse(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name +
                  R"(","labels":{"app":"x"}},"data":{"token":")" + base64(kToken) + R"("}})");
  REQUIRE(object);
  return *object;
}

Json stored_secret(const std::string& name, const std::string& name_space = "fleet") {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", {{"name", name}, {"namespace", name_space}, {"labels", {{"app", "x"}}}}},
          {"data", {{"token", base64(kToken)}}}};
}

void check_outcome(const ChangeOutcome& outcome, Outcome kind, Kind error, std::string_view part) {
  const std::string told = full_text(outcome.error);
  CAPTURE(told);
  CHECK(outcome.kind == kind);
  CHECK(outcome.error.kind == error);
  CHECK(contains(told, part));
  CHECK_FALSE(contains(told, kToken));
  CHECK_FALSE(contains(told, base64(kToken)));
}

struct Setting {
  LiveApi api;
  HubClient hub = api.client();
  HubSecrets secrets{hub};

  // Every request of this method gets this answer.
  void answer(const std::string& method, const std::string& text) {
    api.before([=](Stream& stream, const Received& request) {
      return request.method == method && stream.write(text);
    });
  }
};

Result<std::vector<json::Value>> list(HubSecrets& secrets, const std::string& name_space,
                                      HubContent content, const LabelSelector& selector = {}) {
  std::vector<json::Value> objects;
  TRY(secrets.list(
      name_space, selector, content, [&objects] { objects.clear(); },
      [&objects](ListItem item) { objects.push_back(std::move(item.object)); }));
  return objects;
}

TEST_CASE("hub secrets: a Secret is created, read, replaced and removed") {
  Setting s;
  const ChangeOutcome created = s.secrets.create("fleet", secret("web"));
  REQUIRE(created);
  CHECK(metadata_text(created.object, "uid") == "uid-101");
  CHECK(s.api.requests().back().target ==
        "/api/v1/namespaces/fleet/secrets?fieldManager=execcred-sync");
  CHECK(s.api.requests().back().header("Content-Type") == "application/json");

  // Fields that others write in between are kept.
  Json others = *s.api.find("secrets", "fleet", "web");
  others["metadata"]["annotations"] = {{"theirs", "1"}};
  others["new-field"] = {{"of", "a later version"}};
  s.api.put("secrets", others);
  Result<std::optional<json::Value>> read = s.secrets.get("fleet", "web");
  REQUIRE(read);
  REQUIRE(read->has_value());
  const ChangeOutcome replaced = s.secrets.replace("fleet", "web", **read);
  REQUIRE(replaced);
  CHECK(metadata_text(replaced.object, "resourceVersion") == "103");
  const Json now = *s.api.find("secrets", "fleet", "web");
  CHECK(now["metadata"]["annotations"]["theirs"] == "1");
  CHECK(now["new-field"]["of"] == "a later version");
  CHECK(s.api.requests().back().method == "PUT");
  CHECK(s.api.requests().back().target ==
        "/api/v1/namespaces/fleet/secrets/web?fieldManager=execcred-sync");

  CHECK(s.secrets.remove("fleet", "web", "uid-101", "103"));
  CHECK(s.api.requests().back().body ==
        R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"uid-101",)"
        R"("resourceVersion":"103"}})");
  const Result<std::optional<json::Value>> gone = s.secrets.get("fleet", "web");
  REQUIRE(gone);
  CHECK_FALSE(gone->has_value());
}

TEST_CASE("hub secrets: a change by another client gives a conflict or an absence") {
  Setting s;
  s.api.put("secrets", stored_secret("web"));
  check_outcome(s.secrets.create("fleet", secret("web")), Outcome::conflict, Kind::no_credential,
                "409 Conflict: secrets \"web\" already exists\nwhile creating secrets");
  const Result<std::optional<json::Value>> read = s.secrets.get("fleet", "web");
  REQUIRE(read);
  s.api.put("secrets", stored_secret("web"));
  check_outcome(s.secrets.replace("fleet", "web", **read), Outcome::conflict, Kind::no_credential,
                "the object has been modified\nwhile updating secrets 'fleet/web' on the hub");
  check_outcome(s.secrets.remove("fleet", "web", "uid-101", "101"), Outcome::conflict,
                Kind::no_credential, "precondition\nwhile deleting secrets 'fleet/web'");
  check_outcome(s.secrets.remove("fleet", "web", "uid-7", "102"), Outcome::conflict,
                Kind::no_credential, "precondition");
  CHECK(s.api.find("secrets", "fleet", "web"));
  s.api.erase("secrets", "fleet", "web");
  check_outcome(s.secrets.replace("fleet", "web", **read), Outcome::absent, Kind::no_credential,
                "404 Not Found: secrets \"web\" not found");
  check_outcome(s.secrets.remove("fleet", "web", "uid-101", "102"), Outcome::absent,
                Kind::no_credential, "404 Not Found");
}

TEST_CASE("hub secrets: a 404 is of the Secret if its details name it, or if it has none") {
  struct Case {
    std::string details;
    bool is_absent;
  };
  for (const Case& c :
       {Case{"", true}, Case{R"(,"details":{"name":"web"})", true},
        Case{R"(,"details":{"name":"fleet"})", false}, Case{R"(,"details":{})", false}}) {
    CAPTURE(c.details);
    Setting s;
    s.answer("GET",
             reply(404, R"({"kind":"Status","reason":"NotFound","code":404)" + c.details + "}"));
    const Result<std::optional<json::Value>> read = s.secrets.get("fleet", "web");
    CHECK(read.has_value() == c.is_absent);
    if (read) CHECK_FALSE(read->has_value());
  }
}

TEST_CASE("hub secrets: errors have the hub's message, without the Secret's value") {
  struct Case {
    int status;
    std::string reason, message;
    Outcome outcome;
    Kind error;
    std::string part;
  };
  const std::string quota = "secrets \"web\" is forbidden: exceeded quota: q, used: secrets=1";
  for (const Case& c :
       {Case{403, "Forbidden", quota, Outcome::refused, Kind::no_credential, "exceeded quota: q"},
        Case{404, "NotFound", "namespaces \"fleet\" not found", Outcome::refused,
             Kind::no_credential, "fleet\" not found\nwhile creating secrets in namespace 'fleet'"},
        Case{401, "Unauthorized", "Unauthorized", Outcome::refused, Kind::no_credential,
             "does not know this identity"},
        Case{413, "RequestEntityTooLarge", "too large", Outcome::refused, Kind::no_credential,
             "answered 413: too large"},
        Case{422, "Invalid", std::string("data[token]: Invalid value: ") + kToken, Outcome::refused,
             Kind::no_credential, "Invalid value: ***"},
        Case{422, "Invalid", "data: " + base64(kToken) + "\x1b[2J", Outcome::refused,
             Kind::no_credential, "data: ***\\x1b[2J"},
        // A conflict of the ResourceQuota, not of the Secret.
        Case{409, "Conflict", "Operation cannot be fulfilled on resourcequotas \"q\"",
             Outcome::unavailable, Kind::unavailable, "resourcequotas"},
        Case{500, "InternalError", "etcdserver: request timed out", Outcome::unknown,
             Kind::unavailable, "etcdserver: request timed out"},
        Case{504, "Timeout", "the request may have been processed", Outcome::unknown,
             Kind::unavailable, "504 Gateway Timeout"}}) {
    CAPTURE(c.status);
    CAPTURE(c.message);
    Setting s;
    s.answer("POST", status_reply(c.status, c.reason, c.message));
    check_outcome(s.secrets.create("fleet", secret("web")), c.outcome, c.error, c.part);
    CHECK(s.api.requests().size() == 1);
  }
}

TEST_CASE("hub secrets: after a 429 or 503 a change is sent again, unless the wait is too long") {
  for (const int status : {429, 503}) {
    CAPTURE(status);
    Setting s;
    std::atomic<int> left = 2;
    s.api.before([&](Stream& stream, const Received&) {
      return left-- > 0 && stream.write(status_reply(status, "Busy", "later"));
    });
    CHECK(s.secrets.create("fleet", secret("web")));
    CHECK(s.api.requests().size() == 3);
  }
  // A Retry-After that does not fit into the time ends the attempts.
  Setting s;
  HubSecrets hasty(s.hub, {.timeout = 1s});
  s.answer("POST", status_reply(429, "TooManyRequests", "later", {}, "Retry-After: 60\r\n"));
  check_outcome(hasty.create("fleet", secret("web")), Outcome::unavailable, Kind::unavailable,
                "429 Too Many Requests: later");
  CHECK(s.hub.retry_after() == 60s);
  CHECK(s.api.requests().size() == 1);
}

TEST_CASE("hub secrets: after a proxy's 503 it is unknown whether the change was made") {
  Setting s;
  s.answer("POST", reply(503, "upstream reset"));
  check_outcome(s.secrets.create("fleet", secret("web")), Outcome::unknown, Kind::unavailable,
                "503 Service Unavailable");
  CHECK(s.api.requests().size() == 1);
}

TEST_CASE("hub secrets: after a lost reply the outcome is unknown, and nothing is sent again") {
  Setting s;
  s.api.put("secrets", stored_secret("old"));
  HubClient reader = s.api.client();  // which leaves no connection to the replace
  const Result<std::optional<json::Value>> old = HubSecrets(reader).get("fleet", "old");
  REQUIRE(old);
  s.api.after([](Stream& stream, const Received& request) {
    if (request.method == "GET") return false;
    stream.cut();
    return true;
  });
  check_outcome(s.secrets.create("fleet", secret("web")), Outcome::unknown, Kind::unavailable,
                "closed the connection without a reply");
  CHECK(s.api.requests("POST", "secrets").size() == 1);
  CHECK(s.api.find("secrets", "fleet", "web"));
  check_outcome(s.secrets.replace("fleet", "old", **old), Outcome::unknown, Kind::unavailable,
                "closed the connection");
  CHECK(s.api.requests("PUT", "secrets").size() == 1);
  check_outcome(s.secrets.remove("fleet", "old", "uid-101", "103"), Outcome::unknown,
                Kind::unavailable, "closed the connection");
  CHECK(s.api.requests("DELETE", "secrets").size() == 1);
  s.answer("POST", reply(201, "created, perhaps"));
  check_outcome(s.secrets.create("fleet", secret("other")), Outcome::unknown, Kind::unavailable,
                "is no JSON object");
}

TEST_CASE("hub secrets: changes share a connection, and each is acted on once if it is closed") {
  Setting s;
  s.api.put("secrets", stored_secret("old"));
  Result<std::optional<json::Value>> read = s.secrets.get("fleet", "old");
  REQUIRE(read);
  REQUIRE(read->has_value());
  json::Value object = **read;
  for (int i = 0; i < 3; ++i) {
    ChangeOutcome replaced = s.secrets.replace("fleet", "old", object);
    REQUIRE(replaced);
    object = std::move(replaced.object);
  }
  CHECK(s.secrets.create("fleet", secret("web")));
  const auto remove = [&](const json::Value& one, const std::string& name) {
    return s.secrets.remove("fleet", name, std::string(metadata_text(one, "uid")),
                            std::string(metadata_text(one, "resourceVersion")));
  };
  CHECK(remove(object, "old"));
  CHECK(s.api.connections() == 1);

  int connections = 1;
  std::atomic<bool> is_next = false;
  const LiveApi::Hook cut_next = [&is_next](Stream& stream, const Received&) {
    if (!is_next.exchange(false)) return false;
    stream.cut();
    return true;
  };
  const auto with_cut = [&](const auto& change) {
    is_next = true;
    ChangeOutcome outcome = change();
    CHECK(s.api.connections() == ++connections);
    return outcome;
  };

  s.api.before(cut_next);
  ChangeOutcome made = with_cut([&] { return s.secrets.create("fleet", secret("one")); });
  REQUIRE(made);
  made = with_cut([&] { return s.secrets.replace("fleet", "one", made.object); });
  REQUIRE(made);
  CHECK(with_cut([&] { return remove(made.object, "one"); }));

  s.api.before({});
  s.api.after(cut_next);
  check_outcome(with_cut([&] { return s.secrets.create("fleet", secret("two")); }),
                Outcome::conflict, Kind::no_credential, "already exists");
  read = s.secrets.get("fleet", "two");
  REQUIRE(read);
  REQUIRE(read->has_value());
  check_outcome(with_cut([&] { return s.secrets.replace("fleet", "two", **read); }),
                Outcome::conflict, Kind::no_credential, "the object has been modified");
  read = s.secrets.get("fleet", "two");
  REQUIRE(read);
  REQUIRE(read->has_value());
  check_outcome(with_cut([&] { return remove(**read, "two"); }), Outcome::absent,
                Kind::no_credential, "not found");
}

TEST_CASE("hub secrets: if the hub cannot be reached, the change was not made") {
  std::optional<LiveApi> api(std::in_place);
  HubClient hub = api->client();
  api.reset();
  check_outcome(HubSecrets(hub).create("fleet", secret("web")), Outcome::unavailable,
                Kind::unavailable, "cannot connect to");
}

TEST_CASE("hub secrets: invalid names, and changes without a uid or version, are not sent") {
  Setting s;
  for (const char* name : {"", "../x", "a/b", "A", "a?b"}) {
    CAPTURE(name);
    check_outcome(s.secrets.create("fleet", secret(name)), Outcome::refused, Kind::configuration,
                  "is no name of a Secret");
    check_fails(s.secrets.get("fleet", name), Kind::configuration, "is no name of a Secret");
    check_fails(s.secrets.get(name, "web"), Kind::configuration, "is no name of a namespace");
  }
  check_outcome(s.secrets.replace("fleet", "web", secret("web")), Outcome::refused,
                Kind::configuration, "has no metadata.uid");
  check_outcome(s.secrets.remove("fleet", "web", "", "1"), Outcome::refused, Kind::configuration,
                "has no metadata.uid");
  check_outcome(s.secrets.remove("fleet", "web", "u", ""), Outcome::refused, Kind::configuration,
                "has no metadata.resourceVersion");
  check_fails(list(s.secrets, "a/b", HubContent::whole), Kind::configuration,
              "'a/b' is no name of a namespace");
  CHECK(s.api.requests().empty());
}

TEST_CASE("hub secrets: a list is read in pages, with or without the Secrets' data") {
  Setting s;
  for (int i = 0; i < 70; ++i) s.api.put("secrets", stored_secret("s" + std::to_string(i)));
  s.api.put("secrets", stored_secret("other", "elsewhere"));
  const Result<std::vector<json::Value>> whole = list(s.secrets, "fleet", HubContent::whole);
  REQUIRE(whole);
  CHECK(whole->size() == 70);
  CHECK(whole->front().find("data") != nullptr);
  CHECK(s.api.requests().size() == 3);  // 32, 32, 6
  const Result<LabelSelector> selector = LabelSelector::parse("app=x");
  REQUIRE(selector);
  const Result<std::vector<json::Value>> metadata =
      list(s.secrets, "", HubContent::metadata, *selector);
  REQUIRE(metadata);
  CHECK(metadata->size() == 71);
  CHECK(metadata->front().find("data") == nullptr);
  CHECK(metadata_text(metadata->front(), "namespace") == "elsewhere");
  CHECK(s.api.requests().back().target == "/api/v1/secrets?limit=500&labelSelector=app%3Dx");
}

TEST_CASE("hub secrets: a list that expires between pages starts again, and is never partial") {
  Setting s;
  for (int i = 0; i < 70; ++i) s.api.put("secrets", stored_secret("s" + std::to_string(i)));
  std::atomic<int> pages = 0;
  s.api.before([&](Stream&, const Received&) {
    if (++pages == 2) s.api.compact();
    return false;
  });
  const Result<std::vector<json::Value>> all = list(s.secrets, "fleet", HubContent::whole);
  REQUIRE(all);
  CHECK(all->size() == 70);
  CHECK(pages == 3);
  CHECK(s.api.requests()[2].target == "/api/v1/namespaces/fleet/secrets");

  s.api.before([](Stream& stream, const Received& request) {
    return contains(request.target, "continue=") &&
           stream.write(status_reply(403, "Forbidden", "no more"));
  });
  check_fails(list(s.secrets, "fleet", HubContent::whole), Kind::no_credential,
              "403 Forbidden: no more");
}

}  // namespace
}  // namespace execcred::test
