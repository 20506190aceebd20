// SPDX-License-Identifier: Apache-2.0
// JWTs that differ in one claim each, and which of them have one identity.
#pragma once

#include <doctest/doctest.h>
#include <execcred/json/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

struct ClaimChange {
  std::string what;
  json::Value claims;
};

// The claims of the first token. It does not expire in this century.
inline constexpr std::string_view kClaims = R"({
  "iss": "https://gitlab.example.com", "sub": "project_path:fleet/deploy", "aud": ["a", "b"],
  "exp": 4000000000, "iat": 1700000000, "nbf": 1700000000, "jti": "1", "auth_time": 1700000000,
  "environment_protected": "true", "azp": "client", "scope": "read", "level": 1.0, "is_bot": true,
  "email": null, "groups": ["x", "y"], "nested": {"exp": 1, "jti": "1", "pod": "p", "deep": {"x": 1}},
  "kubernetes.io": {"namespace": "n", "pod": {"name": "p", "uid": "1"}, "warnafter": 1700000000,
                    "serviceaccount": {"name": "s", "uid": "2", "pod": 3}}
})";

// The value with one part changed, removed or added, for every part.
inline std::vector<ClaimChange> changes_of(const json::Value& value, const std::string& path) {
  std::vector<ClaimChange> changes;
  const auto changed_to = [&](json::Value other) {
    changes.push_back({path + " changed", std::move(other)});
  };
  if (value.object() != nullptr) {
    for (std::size_t i = 0; i < value.object()->size(); ++i) {
      const json::Member& member = (*value.object())[i];
      const std::string name = path.empty() ? member.name : path + "/" + member.name;
      for (ClaimChange& change : changes_of(member.value, name)) {
        json::Value other = value;
        (*other.object())[i].value = std::move(change.claims);
        changes.push_back({change.what, std::move(other)});
      }
      json::Value less = value;
      less.object()->erase(less.object()->begin() + static_cast<std::ptrdiff_t>(i));
      changes.push_back({name + " removed", std::move(less)});
    }
    json::Value more = value;
    more.add("more", json::Value("1"));
    changes.push_back({(path.empty() ? "" : path + "/") + "more added", std::move(more)});
  } else if (value.array() != nullptr) {
    changed_to(json::Value(json::Array(value.array()->rbegin(), value.array()->rend())));
    changes.back().what = path + " reversed";
    json::Value more = value;
    more.array()->emplace_back("more");
    changed_to(std::move(more));
  } else if (value.number() != nullptr) {
    changed_to(json::Value(json::Number{.text = value.number()->text + "1"}));
  } else if (value.string() != nullptr) {
    changed_to(json::Value(*value.string() + "1"));
  } else {
    changed_to(json::Value(value.is_null() || !*value.boolean()));
  }
  return changes;
}

inline bool is_same_identity(std::string_view what) {
  for (const std::string_view part :
       {"exp ", "iat ", "nbf ", "jti ", "aud reversed", "kubernetes.io/pod ", "kubernetes.io/pod/",
        "kubernetes.io/warnafter "}) {
    if (what.starts_with(part)) return true;
  }
  return false;
}

// The server of another client for each run: one that asks again for an entry of 10 s causes a
// call.
inline std::string next_server() {
  static int count = 0;
  return "https://spoke-" + std::to_string(++count) + ".example.com";
}

// Gives claims, and then claims of which one is different, to `calls_for`, which returns how many
// calls of the provider a token with these claims caused. A token of an identity that was seen
// before must cause none, any other one.
template <typename CallsFor>
void check_that_claims_are_identity(const CallsFor& calls_for) {
  const Result<json::Value> claims = json::parse(kClaims);
  REQUIRE(claims.has_value());
  REQUIRE(calls_for(json::to_text(*claims)) == 1);
  int same = 0;
  int others = 0;
  for (const ClaimChange& change : changes_of(*claims, "")) {
    CAPTURE(change.what);
    const bool is_same = is_same_identity(change.what);
    CHECK(calls_for(json::to_text(change.claims)) == (is_same ? 0 : 1));
    ++(is_same ? same : others);
  }
  CHECK(same == 17);
  CHECK(others == 48);
}

}  // namespace execcred::test
