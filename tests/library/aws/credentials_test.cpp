// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/aws/credentials.hpp>
#include <execcred/aws/region.hpp>
#include <execcred/base/rfc3339.hpp>

#include <string>
#include <vector>

namespace execcred::test {
namespace {

Result<AwsCredentials> of_json(const std::string& text, const std::string& member = "Token") {
  return aws_credentials_of_json(*json::parse(text), member);
}

std::string members(const std::string& more) {
  return R"({"AccessKeyId":"ASIA1","SecretAccessKey":"s/+","Token":"t==")" + more + "}";
}

}  // namespace

TEST_CASE("aws_credentials_of_environment: a key and a session token, or no credentials") {
  const Environment environment(
      {"AWS_ACCESS_KEY_ID=AKIA1", "AWS_SECRET_ACCESS_KEY=s3cret/+", "AWS_SESSION_TOKEN=t=="});
  const auto found = aws_credentials_of_environment(environment);
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK((*found)->access_key_id == "AKIA1");
  CHECK((*found)->secret_access_key.reveal() == "s3cret/+");
  CHECK((*found)->session_token.reveal() == "t==");
  CHECK_FALSE((*found)->expires_at.has_value());

  for (const std::vector<std::string>& none : {std::vector<std::string>{},
                                               {"AWS_SECRET_ACCESS_KEY=s"},
                                               {"AWS_ACCESS_KEY_ID="},
                                               {"AWS_SESSION_TOKEN=t"}}) {
    const auto absent = aws_credentials_of_environment(Environment(none));
    REQUIRE(absent);
    CHECK_FALSE(absent->has_value());
  }
}

TEST_CASE("aws_credentials_of_environment: the expiry, and the older name of the session token") {
  const auto found = aws_credentials_of_environment(
      Environment({"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=s", "AWS_SECURITY_TOKEN=old",
                   "AWS_CREDENTIAL_EXPIRATION=2030-01-02T03:04:05+00:00"}));
  REQUIRE(found);
  CHECK((*found)->session_token.reveal() == "old");
  CHECK((*found)->expires_at == *parse_rfc3339("2030-01-02T03:04:05Z"));
}

TEST_CASE("aws_credentials_of_environment: an incomplete or malformed key is an error") {
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"AWS_ACCESS_KEY_ID=A"},
           {"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY="},
           {"AWS_ACCESS_KEY_ID=A/B", "AWS_SECRET_ACCESS_KEY=s"},
           {"AWS_ACCESS_KEY_ID=A B", "AWS_SECRET_ACCESS_KEY=s"},
           {"AWS_ACCESS_KEY_ID=" + std::string(129, 'A'), "AWS_SECRET_ACCESS_KEY=s"},
           {"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=canary s"},
           {"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=canary\n"},
           {"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=s", "AWS_SESSION_TOKEN=canary\r\nX: y"},
           {"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=s",
            "AWS_CREDENTIAL_EXPIRATION=tomorrow"}}) {
    const auto found = aws_credentials_of_environment(Environment(bad));
    check_fails(found, Error::Kind::configuration, "AWS_ACCESS_KEY_ID");
    CHECK_FALSE(contains(full_text(found.error()), "canary"));
  }
}

TEST_CASE("aws_credentials_of_json: every form of the expiry") {
  for (const std::string end :
       {R"("2030-01-02T03:04:05Z")", R"("2030-01-02T03:04:05+00:00")", "1893553445", "1893553445.0",
        "1.893553445E9", R"("2030-01-02T04:04:05+01:00")"}) {
    CAPTURE(end);
    const auto found = of_json(members(",\"Expiration\":" + end));
    REQUIRE(found);
    CHECK(found->expires_at == *parse_rfc3339("2030-01-02T03:04:05Z"));
    CHECK(found->session_token.reveal() == "t==");
  }
  CHECK_FALSE(of_json(members(""))->expires_at.has_value());
  CHECK_FALSE(of_json(members(",\"Expiration\":null"))->expires_at.has_value());
  // Beyond the range of a TimePoint: limited, not wrapped.
  CHECK(of_json(members(",\"Expiration\":1e300"))->expires_at >
        *parse_rfc3339("2200-01-01T00:00:00Z"));
}

TEST_CASE("aws_credentials_of_json: wrong types and missing members are refused, not shown") {
  for (const auto& [told, texts] : std::vector<Refusals>{
           {", not an object", {"null", "[]", "\"canary\""}},
           {"there is no access key id", {"{}", R"({"SecretAccessKey":"canary"})"}},
           {"there is no secret access key", {R"({"AccessKeyId":"A"})"}},
           {"'AccessKeyId' is a number, not a string",
            {R"({"AccessKeyId":1,"SecretAccessKey":"canary"})"}},
           {"'SecretAccessKey' is an array, not a string",
            {R"({"AccessKeyId":"A","SecretAccessKey":["canary"]})"}},
           {"'Token' is a number, not a string",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary","Token":7})"}},
           {"the secret access key is no word of visible ASCII",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary\n"})"}},
           {"the session token is no word of visible ASCII",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary","Token":"canary x"})"}},
           {"the access key id is not up to 128 letters and digits",
            {R"({"AccessKeyId":"A\u0000","SecretAccessKey":"canary"})"}},
           {"a text of 4 bytes is no RFC 3339 time",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary","Expiration":"soon"})"}},
           {"a time is a boolean",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary","Expiration":true})"}},
           {"a time is before 1970",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary","Expiration":-5})"}},
           {"a time is an object",
            {R"({"AccessKeyId":"A","SecretAccessKey":"canary","Expiration":{}})"}},
       }) {
    for (const std::string& text : texts) {
      CAPTURE(text);
      const auto found = of_json(text);
      check_fails(found, Error::Kind::no_credential, told);
      CHECK_FALSE(contains(full_text(found.error()), "canary"));
    }
  }
}

TEST_CASE("write_aws_credentials: the output is read back unchanged") {
  const AwsCredentials session = {.access_key_id = "ASIA1",
                                  .secret_access_key = SecretString(R"(a"b\c/+)"),
                                  .session_token = SecretString("t=\"=\\"),
                                  .expires_at = *parse_rfc3339("2030-01-02T03:04:05Z")};
  const auto read = of_json(std::string(write_aws_credentials(session).reveal()), "SessionToken");
  REQUIRE(read);
  CHECK(read->access_key_id == session.access_key_id);
  CHECK(read->secret_access_key.reveal() == session.secret_access_key.reveal());
  CHECK(read->session_token.reveal() == session.session_token.reveal());
  CHECK(read->expires_at == session.expires_at);
  const AwsCredentials plain = {.access_key_id = "A", .secret_access_key = SecretString("s")};
  CHECK(write_aws_credentials(plain).reveal() == R"({"AccessKeyId":"A","SecretAccessKey":"s"})");
}

TEST_CASE("is_aws_region: only the name of a region is accepted") {
  for (const std::string good : {"us-west-2", "us-gov-east-1", "cn-north-1", "ap-southeast-10",
                                 "eusc-de-east-1", "us-iso-east-1", "us-isob-east-1"}) {
    CAPTURE(good);
    CHECK(is_aws_region(good));
  }
  for (const std::string bad : {"",
                                "us",
                                "us-west",
                                "us-west-",
                                "us-west-2a",
                                "us-west-2-lax-1",
                                "us--west-2",
                                "-us-west-2",
                                "u-west-2",
                                "US-west-2",
                                "us-west-2.",
                                "us-west-2.evil.example",
                                "us-west-2/",
                                "../",
                                "us west-2",
                                "us-west-2\n",
                                "us_west_2",
                                "us-2",
                                "evil.example/?x=us-west-2",
                                "us-west2-2",
                                "us-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-1"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_aws_region(bad));
  }
}

TEST_CASE("aws_region_of_zone: the region of availability, local and Wavelength zones") {
  CHECK(aws_region_of_zone("us-west-2b") == "us-west-2");
  CHECK(aws_region_of_zone("us-west-2-lax-1a") == "us-west-2");
  CHECK(aws_region_of_zone("us-east-1-wl1-bos-wlz-1") == "us-east-1");
  CHECK(aws_region_of_zone("us-gov-west-1c") == "us-gov-west-1");
  for (const std::string bad : {"", "<html>", "zone", "us-west", "404 - Not Found"}) {
    CHECK(aws_region_of_zone(bad) == "");
  }
}

}  // namespace execcred::test
