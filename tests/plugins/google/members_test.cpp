// SPDX-License-Identifier: Apache-2.0
// Each member of each type of credentials file, with a value of each wrong JSON type.
#include "google.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

struct Member {
  std::string name;
  bool is_required;
  std::string kind;  // its JSON type
};

// A value of each other JSON type; none of them may be accepted.
Texts other_kinds(const std::string& kind) {
  Texts values;
  for (const auto& [known, value] : {std::pair<std::string, std::string>("string", "\"text\""),
                                     {"number", "7"},
                                     {"boolean", "true"},
                                     {"array", "[\"text\"]"},
                                     {"object", "{\"a\":\"b\"}"}}) {
    if (known != kind) values.push_back(value);
  }
  return values;
}

void check_members(const Google& google, const Members& credentials,
                   const std::vector<Member>& members) {
  for (const Member& member : members) {
    CAPTURE(member.name);
    for (const std::string& value : other_kinds(member.kind)) {
      CAPTURE(value);
      const Outcome outcome =
          google.run({.credentials = object(with(credentials, member.name, value))});
      CHECK_FAILURE(outcome, 2, "reading --credentials-file");
      CHECK(blackbox::says(outcome, member.name));
    }
    if (!member.is_required) continue;
    const Members without = with(credentials, member.name, "");
    CHECK_FAILURE(google.run({.credentials = object(without)}), 2, "is missing");
    CHECK_FAILURE(google.run({.credentials = object(with(credentials, member.name, "null"))}), 2,
                  "is missing");
    if (member.kind != "string") continue;
    CHECK_FAILURE(google.run({.credentials = object(with(credentials, member.name, "\"\""))}), 2,
                  "reading --credentials-file");
  }
}

}  // namespace

TEST_CASE("members: external_account") {
  const Google google;
  check_members(google, google.file_account(),
                {{"type", true, "string"},
                 {"audience", true, "string"},
                 {"subject_token_type", true, "string"},
                 {"token_url", false, "string"},
                 {"client_id", false, "string"},
                 {"client_secret", false, "string"},
                 {"workforce_pool_user_project", false, "string"},
                 {"universe_domain", false, "string"},
                 {"service_account_impersonation_url", false, "string"},
                 {"credential_source", true, "object"}});
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("members: credential_source must name exactly one source") {
  const Google google;
  const auto refused = [&](const std::string& source) {
    CAPTURE(source);
    CHECK_FAILURE(google.run({.credentials = object(
                                  with(google.file_account(), "credential_source", source))}),
                  2, "reading --credentials-file");
  };
  for (const std::string name : {"file", "url", "executable", "environment_id"}) {
    for (const std::string value : {"7", "true", "[]", "\"\"", "[\"a\"]"}) {
      refused("{" + text(name) + ":" + value + "}");
    }
  }
  refused("{}");
  refused(R"({"file":"/a","url":"http://127.0.0.1/"})");
  refused(R"({"file":"/a","executable":{"command":"/b"}})");
  refused(R"({"certificate":{"use_default_certificate_config":true}})");
  refused(R"({"environment_id":"aws2","regional_cred_verification_url":"https://sts.x"})");
  refused(R"({"environment_id":"aws1"})");
  refused(R"({"executable":{}})");
  refused(R"({"executable":{"command":["/bin/true"]}})");
  refused(R"({"executable":{"command":"/bin/true","output_file":7}})");
  refused(R"({"file":"a","file":"b"})");
}

TEST_CASE("members: service_account, authorized_user, impersonated_service_account") {
  const Google google;
  check_members(google, Google::service_account(),
                {{"type", true, "string"},
                 {"client_email", true, "string"},
                 {"private_key", true, "string"},
                 {"private_key_id", false, "string"},
                 {"token_uri", false, "string"},
                 {"universe_domain", false, "string"}});
  check_members(google, google.user(),
                {{"client_id", true, "string"},
                 {"client_secret", true, "string"},
                 {"refresh_token", true, "string"},
                 {"rapt_token", false, "string"},
                 {"universe_domain", false, "string"}});
  check_members(google,
                {{"type", text("impersonated_service_account")},
                 {"service_account_impersonation_url", text(impersonation_url())},
                 {"source_credentials", object(google.user())}},
                {{"service_account_impersonation_url", true, "string"},
                 {"source_credentials", true, "object"},
                 {"delegates", false, "array"}});
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("members: a document that is no object, repeats a member, is too deep or is cut off") {
  const Google google;
  std::string deep(40, '[');
  deep.append(40, ']');
  const std::string whole = object(google.user());
  for (const std::string& content :
       {std::string("[]"), std::string("\"type\""), std::string("null"), std::string("{"),
        std::string("{}"), whole.substr(0, whole.size() - 1), whole + "x", "\xef\xbb\xbf" + whole,
        std::string(R"({"type":"authorized_user","type":"service_account"})"),
        R"({"type":"authorized_user","x":)" + deep + "}",
        object(with(google.user(), "client_id", "\"a\\nb\"")),
        object(with(google.user(), "universe_domain", text("evil example")))}) {
    CAPTURE(content.substr(0, 40));
    CHECK_FAILURE(google.run({.credentials = content}), 2, "reading --credentials-file");
  }
  CHECK(google.cloud.connections() == 0);
}

}  // namespace execcred::test
