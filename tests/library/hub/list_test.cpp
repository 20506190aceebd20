// SPDX-License-Identifier: Apache-2.0
// Lists: objects beyond the limits, pages that are too large, and lists that expire.
#include "conformance/build_kind.hpp"
#include "hub_fixture.hpp"
#include "live_api.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/hub/client.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace execcred::test {
namespace {

using Kind = Error::Kind;
constexpr std::size_t kMib = std::size_t{1024} * 1024;

const HubResource kSecretsOfFleet = {.version = "v1", .resource = "secrets", .name_space = "fleet"};

struct Listed {
  std::vector<std::string> names = {};
  std::map<std::string, std::string> problems = {};  // by name
  Result<std::string> result = Error{};
};

Listed list(HubClient& hub, HubListQuery query = {}) {
  Listed listed;
  listed.result = hub.list(kSecretsOfFleet, query, [&](ListItem item) -> Result<bool> {
    listed.names.push_back(full_name_of(item.object));
    if (item.problem) listed.problems[listed.names.back()] = item.problem->message;
    return true;
  });
  return listed;
}

Json secret(const std::string& name, const std::string& text = {}) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", {{"name", name}, {"namespace", "fleet"}, {"annotations", {{"a", text}}}}}};
}

// The text of an object whose "spec" is nested this deep.
std::string deep_object(const std::string& name, std::size_t depth) {
  std::string text = R"({"apiVersion":"v1","kind":"Secret","metadata":{"managedFields":[{"f":)";
  text += std::string(depth, '[') + std::string(depth, ']');
  text += R"(}],"name":")" + name + R"(","namespace":"fleet","labels":{"app":"x"}},"spec":)";
  return text + std::string(depth, '[') + std::string(depth, ']') + "}";
}

TEST_CASE("hub list: an object beyond the limits is a problem of its own name") {
  struct Case {
    std::string name, object, problem;
  };
  const std::string head = R"({"kind":"Secret","metadata":{"name":"bad","namespace":"fleet"},)";
  for (const Case& c :
       {Case{"deep", deep_object("bad", 40), "nested deeper than 32"},
        Case{"as deep as an API server stores", deep_object("bad", 10'000),
             "nested deeper than 32"},
        Case{"deeper than any stack", deep_object("bad", 1'000'000), "nested deeper than 32"},
        Case{"large", head + R"("x":")" + std::string(5 * kMib, 'x') + "\"}",
             "larger than 4096 KiB"},
        Case{"a key twice", head + R"("x":1,"x":2})", "has the key 'x' more than once"}}) {
    CAPTURE(c.name);
    const std::string body =
        R"({"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)" +
        secret("one").dump() + "," + c.object + "," + secret("two").dump() + "]}";
    const HubFixture fixture([&](const HttpRequest&) { return HttpResponse{.body = body}; });
    HubClient hub = fixture.client();
    const Listed listed = list(hub);
    REQUIRE_MESSAGE(listed.result, full_text(listed.result.error()));
    CHECK(*listed.result == "7");
    CHECK(listed.names == std::vector<std::string>{"fleet/one", "fleet/bad", "fleet/two"});
    REQUIRE(listed.problems.size() == 1);
    CHECK(contains(listed.problems.at("fleet/bad"), c.problem));
  }
}

TEST_CASE("hub list: a reply that is no list of objects with names is the hub's failure") {
  const std::string head = R"({"kind":"SecretList","items":[)";
  for (const std::string& body :
       {head, head + "{}", head + "1 2]}", head + R"({"kind":01}]})", head + R"({]}]})",
        head + R"(],"items":[]})", std::string(R"({"kind":"Secret"})"), std::string("[]"),
        head + deep_object("", 40).replace(0, 1, "{\"metadata\":{},") + "]}"}) {
    CAPTURE(body);
    const HubFixture fixture([&](const HttpRequest&) { return HttpResponse{.body = body}; });
    HubClient hub = fixture.client();
    const Listed listed = list(hub);
    REQUIRE_FALSE(listed.result);
    CHECK(listed.result.error().kind == Kind::no_credential);
    CHECK(listed.names.empty());
  }
}

TEST_CASE("hub list: a page that is too large is asked for again with half the limit") {
  LiveApi api;
  for (int i = 0; i < 15; ++i) {
    api.put("secrets", secret("s" + std::to_string(i), std::string(7 * kMib / 5, 'x')));
  }
  HubClient hub = api.client();
  for (const bool is_at_once : {false, true}) {
    int beginnings = 0;
    HubListQuery query = {.page_size = 12};
    if (is_at_once) query.restart = [&beginnings] { ++beginnings; };
    const Listed listed = list(hub, query);
    REQUIRE_MESSAGE(listed.result, full_text(listed.result.error()));
    CHECK(listed.names.size() == 15);
    CHECK(listed.problems.empty());
    CHECK(beginnings == (is_at_once ? 1 : 0));
  }
}

TEST_CASE("hub list: an object that fills a page alone is named and left out") {
  if (blackbox::kWithTsan) {
    MESSAGE("skipped: it takes the sanitizer longer than a list may");
    return;
  }
  const HubFixture fixture([&](const HttpRequest& request) {
    const std::size_t at = request.target.find("continue=");
    const std::size_t first =
        at == std::string::npos ? 0 : std::stoul(request.target.substr(at + 9));
    const std::size_t limit = std::stoul(request.target.substr(request.target.find("limit=") + 6));
    const std::size_t end = std::min<std::size_t>(first + limit, 5);
    const bool is_metadata = contains(request.header("accept").value_or(""), "PartialObject");
    std::string items;
    for (std::size_t i = first; i < end; ++i) {
      Json object = secret("s" + std::to_string(i));
      if (i == 2 && !is_metadata) object["x"] = std::string(65 * kMib, 'x');
      items += (items.empty() ? "" : ",") + object.dump();
    }
    const std::string next = end < 5 ? std::to_string(end) : "";
    return HttpResponse{.body = R"({"kind":"SecretList","metadata":{"resourceVersion":"9",)"
                                R"("continue":")" +
                                next + R"("},"items":[)" + items + "]}"};
  });
  HubClient hub = fixture.client();
  const Listed listed = list(hub, {.page_size = 4});
  REQUIRE_MESSAGE(listed.result, full_text(listed.result.error()));
  CHECK(listed.names ==
        std::vector<std::string>{"fleet/s0", "fleet/s1", "fleet/s2", "fleet/s3", "fleet/s4"});
  REQUIRE(listed.problems.size() == 1);
  CHECK(contains(listed.problems.at("fleet/s2"), "larger than 64 MiB"));
  CHECK(fixture.requests().size() < 10);
}

TEST_CASE("hub list: a server without limits whose list is too large is a failure") {
  if (blackbox::kWithTsan) {
    MESSAGE("skipped: it takes the sanitizer longer than a list may");
    return;
  }
  const HubFixture fixture([&](const HttpRequest& request) {
    const bool is_metadata = contains(request.header("accept").value_or(""), "PartialObject");
    const std::string text = is_metadata ? "" : std::string(33 * kMib, 'x');
    return HttpResponse{.body = R"({"kind":"SecretList","items":[)" + secret("a", text).dump() +
                                "," + secret("b", text).dump() + "]}"};
  });
  HubClient hub = fixture.client();
  const Listed listed = list(hub, {.page_size = 4});
  REQUIRE_FALSE(listed.result);
  CHECK(contains(listed.result.error().message, "even with a limit of one object"));
}

TEST_CASE("hub list: a list that expires is read again once, without pages") {
  struct Case {
    std::string name, metadata;
  };
  for (const Case& c : {Case{"with a token to continue", R"({"continue":"later"})"},
                        Case{"without a token", "{}"}}) {
    for (const bool is_at_once : {false, true}) {
      CAPTURE(c.name);
      CAPTURE(is_at_once);
      LiveApi api;
      for (int i = 0; i < 5; ++i) api.put("secrets", secret("s" + std::to_string(i)));
      std::atomic<int> expired = 0;
      api.before([&](Stream& stream, const Received& request) {
        if (!contains(request.target, "continue=") || expired++ > 0) return false;
        return stream.write(reply(410, R"({"kind":"Status","status":"Failure","reason":"Expired",)"
                                       R"("message":"too old","code":410,"metadata":)" +
                                           c.metadata + "}"));
      });
      HubClient hub = api.client();
      std::vector<std::string> names;
      HubListQuery query = {.page_size = 2};
      if (is_at_once) query.restart = [&names] { names.clear(); };
      const Result<std::string> listed =
          hub.list(kSecretsOfFleet, query, [&](const ListItem& item) -> Result<bool> {
            names.push_back(full_name_of(item.object));
            return true;
          });
      REQUIRE_MESSAGE(listed, full_text(listed.error()));
      CHECK(names ==
            std::vector<std::string>{"fleet/s0", "fleet/s1", "fleet/s2", "fleet/s3", "fleet/s4"});
      REQUIRE(api.requests().size() == 3);
      CHECK(api.requests().back().target == "/api/v1/namespaces/fleet/secrets");
    }
  }
}

}  // namespace
}  // namespace execcred::test
