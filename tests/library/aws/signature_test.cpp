// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/aws/signature.hpp>
#include <execcred/base/rfc3339.hpp>

#include <string>

namespace execcred::test {
namespace {

constexpr const char* kExampleSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

TimePoint time_of(const std::string& text) { return *parse_rfc3339(text); }

AwsCredentials key(const std::string& id, const std::string& secret,
                   const std::string& session = "") {
  return {.access_key_id = id,
          .secret_access_key = SecretString(secret),
          .session_token = SecretString(session)};
}

std::string header_of(const std::vector<HttpHeader>& headers, std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return std::string(header.value.reveal());
  }
  return "(missing)";
}

AwsRequest identity_request(const std::string& host, const std::string& cluster) {
  return {.host = host,
          .parameters = {{"Action", "GetCallerIdentity"}, {"Version", "2011-06-15"}},
          .headers = {{"x-k8s-aws-id", cluster}}};
}

// The request of AWS's "signature version 4 test suite", which all its vectors share.
AwsRequest vanilla() { return {.host = "example.amazonaws.com"}; }

std::string signed_vanilla(const AwsRequest& request) {
  const AwsCredentials credentials = key("AKIDEXAMPLE", kExampleSecret);
  return header_of(
      sign_aws_request(request, credentials, {.region = "us-east-1", .service = "service"},
                       time_of("2015-08-30T12:36:00Z")),
      "Authorization");
}

std::string suite(const std::string& headers, const std::string& signature) {
  return "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
         "SignedHeaders=" +
         headers + ", Signature=" + signature;
}

}  // namespace

TEST_CASE("presign_aws_request: known answers for EKS, byte for byte") {
  struct Case {
    std::string id, secret, session, region, host, cluster, time, signature;
  };
  const std::string session = "FwoGZXIvYXdzEXAMPLE/+==";
  for (const Case& c :
       {Case{"ASIAR2TG44V6AS3ZZE7C", "4KD5cntGcVmLWRdF5wvNRuzNL5Qxmp6OKVY6Fz/Q", "", "us-west-2",
             "sts.us-west-2.amazonaws.com", "test-cluster", "2023-04-28T00:00:00Z",
             "e211dba77aba9dc44b0b6be38b8eaad092599c5157f6314444c5b9d85747f5ce"},
        Case{"AKIDEXAMPLE", kExampleSecret, "", "us-west-2", "sts.us-west-2.amazonaws.com", "demo",
             "2015-08-30T12:36:00Z",
             "2dd81f87de27eaf417233f64a2c9fc9255f96f83d01149799606ebf47bbbd365"},
        Case{"AKIDEXAMPLE", kExampleSecret, session, "us-west-2", "sts.us-west-2.amazonaws.com",
             "demo", "2015-08-30T12:36:00Z",
             "ab4b8406df1dcb6a30a4650f60f9ef0148693fa8dd80b365b01912b137f96e2f"},
        Case{"AKIDEXAMPLE", kExampleSecret, "", "cn-north-1", "sts.cn-north-1.amazonaws.com.cn",
             "demo", "2015-08-30T12:36:00Z",
             "0a667974fdeac358374828f731785aaa546c21ade4d9a039849daea14bb19f92"}}) {
    CAPTURE(c.region);
    const std::string date = c.time.substr(0, 4) + c.time.substr(5, 2) + c.time.substr(8, 2);
    const std::string clock = c.time.substr(11, 2) + c.time.substr(14, 2) + c.time.substr(17, 2);
    const SecretString url =
        presign_aws_request(identity_request(c.host, c.cluster), key(c.id, c.secret, c.session),
                            {.region = c.region}, time_of(c.time), std::chrono::seconds(60));
    CHECK(url.reveal() ==
          "https://" + c.host +
              "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
              "&X-Amz-Credential=" + c.id + "%2F" + date + "%2F" + c.region +
              "%2Fsts%2Faws4_request&X-Amz-Date=" + date + "T" + clock + "Z&X-Amz-Expires=60" +
              (c.session.empty() ? "" : "&X-Amz-Security-Token=FwoGZXIvYXdzEXAMPLE%2F%2B%3D%3D") +
              "&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=" + c.signature);
  }
}

// https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4
TEST_CASE("sign_aws_request: the vectors of AWS's test suite") {
  CHECK(
      signed_vanilla(vanilla()) ==
      suite("host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));

  AwsRequest post = vanilla();
  post.method = "POST";
  CHECK(
      signed_vanilla(post) ==
      suite("host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"));

  AwsRequest query = vanilla();
  query.parameters = {{"Param2", "value2"}, {"Param1", "value1"}};
  CHECK(
      signed_vanilla(query) ==
      suite("host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"));

  AwsRequest headers = vanilla();
  headers.headers = {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}};
  CHECK(signed_vanilla(headers) ==
        suite("host;my-header1;my-header2;x-amz-date",
              "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"));

  AwsRequest form = vanilla();
  form.method = "POST";
  form.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  form.body = "Param1=value1";
  CHECK(signed_vanilla(form) ==
        suite("content-type;host;x-amz-date",
              "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"));
}

TEST_CASE(
    "sign_aws_request: unreserved characters stay, all others become upper-case hexadecimal") {
  AwsRequest plain = vanilla();
  plain.parameters = {{"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                       "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}};
  CHECK(
      signed_vanilla(plain) ==
      suite("host;x-amz-date", "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"));
  AwsRequest utf8 = vanilla();
  utf8.parameters = {{"\xe1\x88\xb4", "bar"}};
  CHECK(
      signed_vanilla(utf8) ==
      suite("host;x-amz-date", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"));
}

TEST_CASE("sign_aws_request: a session's token is signed and sent") {
  const AwsCredentials credentials = key("AKIDEXAMPLE", kExampleSecret, "tok/en+==");
  const auto headers = sign_aws_request(vanilla(), credentials, {.region = "us-east-1"},
                                        time_of("2015-08-30T12:36:00Z"));
  CHECK(header_of(headers, "X-Amz-Security-Token") == "tok/en+==");
  CHECK(header_of(headers, "X-Amz-Date") == "20150830T123600Z");
  CHECK(contains(header_of(headers, "Authorization"),
                 "SignedHeaders=host;x-amz-date;x-amz-security-token, "));
  CHECK(contains(header_of(headers, "Authorization"), "/us-east-1/sts/aws4_request, "));
  // Without one there is no such header.
  const auto plain = sign_aws_request(vanilla(), key("A", "s"), {.region = "us-east-1"},
                                      time_of("2015-08-30T12:36:00Z"));
  CHECK(header_of(plain, "X-Amz-Security-Token") == "(missing)");
  CHECK(plain.size() == 2);
}

TEST_CASE("presign_aws_request: a change of any signed part changes the signature") {
  const auto signature = [](const AwsRequest& request, const AwsCredentials& credentials,
                            const AwsScope& scope, const std::string& time, int lifetime) {
    const SecretString url = presign_aws_request(request, credentials, scope, time_of(time),
                                                 std::chrono::seconds(lifetime));
    return std::string(url.reveal().substr(url.size() - 64));
  };
  const AwsRequest request = identity_request("sts.us-west-2.amazonaws.com", "demo");
  const std::string time = "2015-08-30T12:36:00Z";
  const AwsScope scope = {.region = "us-west-2"};
  const std::string base = signature(request, key("A", "s", "t"), scope, time, 60);
  AwsRequest host = request;
  host.host = "sts.us-west-1.amazonaws.com";
  AwsRequest method = request;
  method.method = "HEAD";
  AwsRequest path = request;
  path.path = "/x";
  AwsRequest parameter = request;
  parameter.parameters.emplace_back("A", "");
  AwsRequest cluster = identity_request(request.host, "demo2");
  for (const AwsRequest& other : {host, method, path, parameter, cluster}) {
    CHECK(signature(other, key("A", "s", "t"), scope, time, 60) != base);
  }
  CHECK(signature(request, key("B", "s", "t"), scope, time, 60) != base);
  CHECK(signature(request, key("A", "r", "t"), scope, time, 60) != base);
  CHECK(signature(request, key("A", "s", "u"), scope, time, 60) != base);
  CHECK(signature(request, key("A", "s", "t"), {.region = "us-west-1"}, time, 60) != base);
  CHECK(signature(request, key("A", "s", "t"), {.region = "us-west-2", .service = "s3"}, time,
                  60) != base);
  CHECK(signature(request, key("A", "s", "t"), scope, "2015-08-30T12:36:01Z", 60) != base);
  CHECK(signature(request, key("A", "s", "t"), scope, time, 61) != base);
  CHECK(signature(identity_request(request.host, "  demo  "), key("A", "s", "t"), scope, time,
                  60) == base);
}

TEST_CASE("aws_request: the parts of a URL are decoded") {
  const Result<AwsRequest> request =
      aws_request("POST", "https://STS.us-east-2.amazonaws.com:443?Action=Get%2FIt&B=+%20x&C");
  REQUIRE(request);
  CHECK(request->method == "POST");
  CHECK(request->host == "sts.us-east-2.amazonaws.com");
  CHECK(request->path == "/");
  CHECK(request->parameters == AwsRequest::Pairs{{"Action", "Get/It"}, {"B", "  x"}, {"C", ""}});
  const Result<AwsRequest> other = aws_request("GET", "https://localhost:8443/a/b");
  REQUIRE(other);
  CHECK(other->host == "localhost:8443");
  CHECK(other->path == "/a/b");
  CHECK(other->parameters.empty());
  CHECK(aws_request("GET", "https://[::1]/")->host == "[::1]");
}

TEST_CASE("aws_request: a URL that is not https or has a malformed query is refused") {
  for (const auto& [told, urls] : std::vector<Refusals>{
           {"has no scheme://", {"", "sts.amazonaws.com"}},
           {"is no https URL", {"http://sts.amazonaws.com/"}},
           {"has user info", {"https://u:p@sts.amazonaws.com/"}},
           {"has a '.' or '..' in its path", {"https://h/../x"}},
           {"has a query that is not form-encoded",
            {"https://h/?a=%", "https://h/?a=%4", "https://h/?a=%zz", "https://h/?=b",
             "https://h/?a&&b"}},
       }) {
    for (const std::string& url : urls) {
      CAPTURE(url);
      check_fails(aws_request("GET", url), Error::Kind::configuration, told);
    }
  }
}

}  // namespace execcred::test
