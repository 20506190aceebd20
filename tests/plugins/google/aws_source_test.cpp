// SPDX-License-Identifier: Apache-2.0
// external_account credentials of AWS: a signed request for GetCallerIdentity is the subject token.
// (tests/e2e checks the signature by google-auth's own server-side check.)
#include "google.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <regex>

namespace execcred::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kPlain = ScriptedServer::Transport::plain;
constexpr const char* kAwsType = "urn:ietf:params:aws:token-type:aws4_request";
constexpr const char* kVerification =
    "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15";

// An instance: it has a zone, a role and its session; each read needs the token of a PUT.
struct Instance {
  Instance() : secret(new_secret()), session(new_secret()) {
    guarded("/zone", "us-east-2b");
    guarded("/roles", "role-1");
    guarded("/roles/role-1",
            R"({"Code":"Success","AccessKeyId":"ASIATESTKEY","SecretAccessKey":")" + secret +
                R"(","Token":")" + session + R"(","Expiration":"2099-01-01T00:00:00Z"})");
    for (const std::string path : {"/latest/api/token", "/token"}) {
      server.on(path, [](Stream& stream, const Received& request) {
        const bool is_put = request.method == "PUT" &&
                            request.header("X-aws-ec2-metadata-token-ttl-seconds") == "300";
        stream.write(is_put ? reply(200, "imds-2") : reply(405, ""));
      });
    }
  }

  void guarded(const std::string& path, const std::string& body) {
    server.on(path, [body](Stream& stream, const Received& request) {
      stream.write(request.header("X-aws-ec2-metadata-token") == "imds-2" ? reply(200, body)
                                                                          : reply(401, ""));
    });
  }

  std::string secret;
  std::string session;
  ScriptedServer server{kPlain};
};

Members of_aws(const Google& google, const Members& more = {}) {
  Members source = {{"environment_id", text("aws1")},
                    {"regional_cred_verification_url", text(kVerification)}};
  for (const auto& [name, value] : more) source = with(source, name, value);
  return with(with(google.file_account(), "subject_token_type", text(kAwsType)),
              "credential_source", object(source));
}

Members of_instance(const Google& google, const Instance& instance) {
  return of_aws(google, {{"region_url", text(instance.server.url("/zone"))},
                         {"url", text(instance.server.url("/roles"))},
                         {"imdsv2_session_token_url", text(instance.server.url("/token"))}});
}

std::string unquoted(std::string_view quoted) {
  std::string plain;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '%') {
      plain.push_back(
          static_cast<char>(std::stoi(std::string(quoted.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      plain.push_back(quoted[i]);
    }
  }
  return plain;
}

Json request_in(const Google& google) {
  const std::string token = google.cloud.api().last(kSts).field("subject_token");
  CHECK(token.starts_with("%7B%22headers%22%3A%5B"));
  return Json::parse(unquoted(token));
}

}  // namespace

TEST_CASE("aws: keys of the environment sign, in google-auth's form and order") {
  Google google;
  const std::string secret = new_secret();
  CHECK_SUCCESS(
      google.run({.credentials = object(of_aws(google)),
                  .variables = {"AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=" + secret,
                                "AWS_REGION=eu-west-1"}}));
  CHECK(google.cloud.api().last(kSts).field("subject_token_type") == kAwsType);
  const Json request = request_in(google);
  CHECK(request["method"] == "POST");
  CHECK(request["url"] ==
        "https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
  std::string names;
  for (const Json& header : request["headers"]) names += header["key"].get<std::string>() + " ";
  CHECK(names == "Authorization host x-amz-date x-goog-cloud-target-resource ");
  CHECK(request["headers"][1]["value"] == "sts.eu-west-1.amazonaws.com");
  CHECK(request["headers"][3]["value"] == kAudience);
  const std::string authorization = request["headers"][0]["value"];
  const std::regex form(
      "AWS4-HMAC-SHA256 Credential=AKIATEST/[0-9]{8}/eu-west-1/sts/aws4_request, "
      "SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}");
  CHECK(std::regex_match(authorization, form));
  CHECK(google.cloud.hosts() == Texts{"sts.googleapis.com:443"});
}

TEST_CASE("aws: the instance's role is read with IMDSv2") {
  Google google;
  Instance instance;
  CHECK_SUCCESS(google.run_cold({.credentials = object(of_instance(google, instance))}));
  const Json request = request_in(google);
  CHECK(request["url"].get<std::string>().starts_with("https://sts.us-east-2.amazonaws.com?"));
  CHECK(request["headers"][3]["key"] == "x-amz-security-token");
  CHECK(request["headers"][3]["value"] == instance.session);
  CHECK(request["headers"][0]["value"].get<std::string>().find("ASIATESTKEY/") !=
        std::string::npos);
  // Without its own URL, the token is requested from the server of the other URLs.
  const Members older = of_aws(google, {{"region_url", text(instance.server.url("/zone"))},
                                        {"url", text(instance.server.url("/roles"))}});
  CHECK_SUCCESS(google.run_cold({.credentials = object(older)}));
  CHECK(instance.server.count("/latest/api/token") >= 1);
}

TEST_CASE("aws: a missing or invalid region, missing keys and an instance without a role fail") {
  Google google;
  const Texts keys = {"AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=x"};
  CHECK_FAILURE(google.run({.credentials = object(of_aws(google)), .variables = keys}), 2,
                "no AWS region is known");
  CHECK_FAILURE(
      google.run({.credentials = object(of_aws(google)), .variables = {"AWS_REGION=us-east-1"}}), 2,
      "there are no AWS credentials");
  for (const std::string region : {"../x", "us-east-1.evil.example", "US-EAST-1", "a b"}) {
    CAPTURE(region);
    CHECK_FAILURE(google.run({.credentials = object(of_aws(google)),
                              .variables = keys + Texts{"AWS_REGION=" + region}}),
                  2, "which is no AWS region");
  }
  Instance instance;
  instance.guarded("/roles", "<html>");
  CHECK_FAILURE(google.run_cold({.credentials = object(of_instance(google, instance))}), 1,
                "answered is no name of a role");
  instance.server.on("/roles", reply(404, ""));
  CHECK_FAILURE(google.run_cold({.credentials = object(of_instance(google, instance))}), 1,
                "answered 404");
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("aws: a verification URL that is not of AWS's STS, or metadata elsewhere, is refused") {
  Google google;
  for (const std::string url :
       {"https://evil.example/?Action=GetCallerIdentity", "http://sts.{region}.amazonaws.com",
        "https://{region}.sts.evil", "https://sts.{region}.evil.example",
        "https://sts.{region}.amazonaws.com@evil.example/", "nothing"}) {
    CAPTURE(url);
    CHECK_FAILURE(google.run({.credentials = object(of_aws(
                                  google, {{"regional_cred_verification_url", text(url)}}))}),
                  2, "credential_source.regional_cred_verification_url");
  }
  for (const std::string name : {"region_url", "url", "imdsv2_session_token_url"}) {
    CAPTURE(name);
    CHECK_FAILURE(google.run({.credentials = object(
                                  of_aws(google, {{name, text("http://evil.example/latest/x")}}))}),
                  2, "'http://evil.example/latest/x' is plain http to another");
    CHECK_FAILURE(google.run({.credentials = object(of_aws(
                                  google, {{name, text("https://evil.example/latest/x")}}))}),
                  1, "is at https://evil.example:443, which is not a server of");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("aws: the verification URL may only request GetCallerIdentity from AWS's STS") {
  Google google;
  const std::string host = "https://sts.{region}.amazonaws.com";
  const std::string query = "?Action=GetCallerIdentity&Version=2011-06-15";
  const auto run_with = [&](const std::string& url) {
    return google.run(
        {.credentials = object(of_aws(google, {{"regional_cred_verification_url", text(url)}})),
         .variables = {"AWS_ACCESS_KEY_ID=AKIATEST", "AWS_SECRET_ACCESS_KEY=x",
                       "AWS_REGION=eu-west-1"}});
  };
  const std::string field = "credential_source.regional_cred_verification_url ";
  for (const std::string asked :
       {"?Action=AssumeRole&Version=2011-06-15", "", "?Action=GetCallerIdentity",
        "?Version=2011-06-15", "?Action=GetCallerIdentity&Version=2011-06-15&RoleArn=x",
        "?Action=GetCallerIdentity&Action=AssumeRole&Version=2011-06-15",
        "?Action=GetCallerIdentity&Version=2011-06-15&",
        "?action=GetCallerIdentity&Version=2011-06-15",
        "?Action=GetCallerIdentity&Version=2011-06-16",
        "?Action=GetCaller%49dentity&Version=2011-06-15",
        "?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=900",
        "?Action=GetSessionToken&Version=2011-06-15",
        "/x?Action=GetCallerIdentity&Version=2011-06-15"}) {
    CAPTURE(asked);
    const Outcome outcome = run_with(host + asked);
    CHECK_REFUSAL(outcome, 2, field);
    CHECK(blackbox::says(outcome, "asks AWS for something else than GetCallerIdentity"));
  }
  for (const std::string place :
       {"http://sts.{region}.amazonaws.com", "https://sts.amazonaws.com",
        "https://iam.{region}.amazonaws.com", "https://sts.{region}.amazonaws.com:8443",
        "https://sts.{region}.evil.amazonaws.com", "https://sts.evil.amazonaws.com",
        "https://sts.{region}.{region}.amazonaws.com",
        "https://sts.{region}.amazonaws.com.evil.example", "https://sts.{region}.s3.amazonaws.com",
        "https://u:p@sts.{region}.amazonaws.com", "https://sts.{region}.amazonaws.com#",
        "https://x.sts.{region}.amazonaws.com"}) {
    CAPTURE(place);
    const Outcome outcome = run_with(place + query);
    CHECK_REFUSAL(outcome, 2, field);
    CHECK(blackbox::says(outcome, "is no https URL of AWS's STS in a region"));
  }
  CHECK(google.cloud.connections() == 0);
  for (const std::string& good :
       {host + query, host + "/" + query, host + "?Version=2011-06-15&Action=GetCallerIdentity",
        "https://sts.{region}.amazonaws.com.cn" + query, "https://sts.{region}.api.aws" + query,
        "https://sts-fips.{region}.amazonaws.com" + query,
        "https://sts.eu-west-1.amazonaws.com" + query}) {
    CAPTURE(good);
    CHECK_SUCCESS(run_with(good));
  }
}

TEST_CASE("aws: other keys of the environment are another identity") {
  Google google;
  const auto run_with = [&](const std::string& id) {
    return token_of(google.run({.credentials = object(of_aws(google)),
                                .variables = {"AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=x",
                                              "AWS_REGION=eu-west-1"}}));
  };
  const std::string one = run_with("AKIAONE");
  CHECK(run_with("AKIATWO") != one);
  CHECK(run_with("AKIAONE") == one);
}

}  // namespace execcred::test
