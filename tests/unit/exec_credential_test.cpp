// SPDX-License-Identifier: Apache-2.0
// The document that a plugin prints.
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace execcred {
namespace {

using std::chrono::floor;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using test::check_fails;
using test::contains;

const std::string kCertificate = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n";
const std::string kKey = "-----BEGIN PRIVATE KEY-----\nAwQF\n-----END PRIVATE KEY-----\n";

sys_seconds time(std::string_view text) { return floor<seconds>(*parse_rfc3339(text)); }

std::string answer(std::string_view status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
         std::string(status) + "}";
}

TEST_CASE("write_exec_credential: writes one compact line without absent fields") {
  struct Case {
    ApiVersion version;
    std::string token, certificate, key, expiration, line;
  };
  const std::string head =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/)";
  const std::string pair =
      R"("clientCertificateData":"-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n",)"
      R"("clientKeyData":"-----BEGIN PRIVATE KEY-----\nAwQF\n-----END PRIVATE KEY-----\n")";
  for (const Case& c : std::vector<Case>{
           {ApiVersion::v1, "t", "", "", "2026-07-01T12:00:00Z",
            head + R"(v1","status":{"expirationTimestamp":"2026-07-01T12:00:00Z","token":"t"}})"},
           {ApiVersion::v1beta1, "t", "", "", "", head + R"(v1beta1","status":{"token":"t"}})"},
           {ApiVersion::v1, "", kCertificate, kKey, "2026-07-01T12:00:00Z",
            head + R"(v1","status":{"expirationTimestamp":"2026-07-01T12:00:00Z",)" + pair + "}}"},
           {ApiVersion::v1, "t", kCertificate, kKey, "",
            head + R"(v1","status":{"token":"t",)" + pair + "}}"},
           {ApiVersion::v1, "a\"b\\c", "", "", "",
            head + R"(v1","status":{"token":"a\"b\\c"}})"}}) {
    CAPTURE(c.line);
    const Credential credential{.token = SecretString(c.token),
                                .client_certificate = c.certificate,
                                .client_key = SecretString(c.key)};
    const SecretString written = write_exec_credential(
        c.version, credential,
        c.expiration.empty() ? std::nullopt : std::optional(time(c.expiration)));
    CHECK(written.reveal() == c.line + "\n");
  }
}

TEST_CASE("write_exec_credential: the output is ASCII, and is read back as the same credential") {
  for (const std::string_view comment : {"", "friendlyName: Zo\u00eb \u20ac \U0001f511\n"}) {
    const Credential credential{.token = SecretString("t.o-k_e~n+/="),
                                .client_certificate = std::string(comment) + kCertificate,
                                .client_key = SecretString(kKey)};
    for (const ApiVersion version : {ApiVersion::v1, ApiVersion::v1beta1}) {
      const SecretString written =
          write_exec_credential(version, credential, time("2026-07-01T12:00:00Z"));
      CHECK(std::all_of(written.reveal().begin(), written.reveal().end(),
                        [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
      CHECK(written.reveal().find('\n') == written.size() - 1);
      const Result<Credential> read = parse_exec_credential(written.reveal(), version);
      REQUIRE(read);
      CHECK(read->token.reveal() == credential.token.reveal());
      CHECK(read->client_certificate == credential.client_certificate);
      CHECK(read->client_key.reveal() == kKey);
      CHECK(read->expires_at == time("2026-07-01T12:00:00Z"));
    }
  }
}

TEST_CASE("parse_exec_credential: accepts what client-go accepts") {
  struct Case {
    std::string status;
    bool has_token, has_pair, has_end;
  };
  const std::string pair = R"("clientCertificateData":"C","clientKeyData":"K")";
  for (const Case& c : std::vector<Case>{
           {R"({"token":"t"})", true, false, false},
           {R"({"token":"t","expirationTimestamp":null})", true, false, false},
           {R"({"token":"t","expirationTimestamp":"0001-01-01T00:00:00Z"})", true, false, false},
           {R"({"token":"t","clientCertificateData":"","clientKeyData":null})", true, false, false},
           {R"({"token":"t","expirationTimestamp":"2026-07-01T12:00:00Z"})", true, false, true},
           {R"({"token":"t","expirationTimestamp":"2026-07-01T14:00:00.0+02:00"})", true, false,
            true},
           {"{" + pair + "}", false, true, false},
           {"{" + pair + R"(,"token":""})", false, true, false},
           {"{" + pair + R"(,"token":null})", false, true, false},
           {"{" + pair + R"(,"token":"t"})", true, true, false},
           {R"({"token":"t","unknown":{"a":[]}})", true, false, false}}) {
    CAPTURE(c.status);
    for (const std::string& text : {answer(c.status), " \n" + answer(c.status) + "\n\n"}) {
      const Result<Credential> read = parse_exec_credential(text, ApiVersion::v1);
      REQUIRE(read);
      CHECK(read->token.reveal() == (c.has_token ? "t" : ""));
      CHECK(read->client_certificate == (c.has_pair ? "C" : ""));
      CHECK(read->client_key.reveal() == (c.has_pair ? "K" : ""));
      CHECK(read->expires_at.has_value() == c.has_end);
      if (c.has_end) CHECK(*read->expires_at == time("2026-07-01T12:00:00Z"));
    }
  }
}

TEST_CASE("parse_exec_credential: everything else is refused, and its content is not shown") {
  const std::string good = answer(R"({"token":"s3cret"})");
  for (
      const auto& [told, texts] : std::vector<test::Refusals>{
          {"it is empty", {"", " "}},
          {"kind is missing",
           {"{}", R"({"status":{"token":"s3cret"}})",
            R"({"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"s3cret"}})"}},
          {"the document must be an object, not null", {"null"}},
          {"the document must be an object, not an array", {"[]"}},
          {"it is no valid JSON",
           {"token", "s3cret" + good, good + "s3cret", good + good,
            good.substr(0, good.size() - 1)}},
          {"apiVersion is missing", {R"({"kind":"ExecCredential","status":{"token":"s3cret"}})"}},
          {"kind is 'Pod'",
           {R"({"kind":"Pod","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"s3cret"}})"}},
          {"apiVersion is 'v1', asked was client.authentication.k8s.io/v1",
           {R"({"kind":"ExecCredential","apiVersion":"v1","status":{"token":"s3cret"}})"}},
          {"apiVersion is 'client.authentication.k8s.io/v1alpha1', asked was "
           "client.authentication.k8s.io/v1",
           {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1alpha1","status":{"token":"s3cret"}})"}},
          {"status is missing",
           {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})"}},
          {"status is null", {answer("null")}},
          {"status is an array", {answer("[]")}},
          {"status is a string", {answer(R"("s3cret")")}},
          {"status holds neither a token nor a certificate",
           {answer("{}"), answer(R"({"token":""})"), answer(R"({"token":null})")}},
          {"status.token is no string",
           {answer(R"({"token":1})"), answer(R"({"token":["s3cret"]})")}},
          {"status.token has a character that no HTTP header may hold",
           {answer(R"({"token":"s3cret\n"})"), answer(R"({"token":"s3cret\u0000"})"),
            answer(R"({"token":"s3\rcret"})"), answer(R"({"token":" s3cret"})"),
            answer(R"({"token":"s3cret\u0080"})")}},
          {"the token begins as a JWT does, but is none: it does not have three parts",
           {answer(R"({"token":"eyJhIjoiczNjcmV0In0.e30"})")}},
          {"it has the key 'token' more than once in the object that ends",
           {answer(R"({"token":"s3cret","token":"s3cret"})")}},
          {"status holds only one of clientCertificateData and clientKeyData",
           {answer(R"({"clientCertificateData":"s3cret"})"),
            answer(R"({"clientKeyData":"s3cret"})"),
            answer(R"({"token":"t","clientCertificateData":"s3cret"})"),
            answer(R"({"token":"t","clientKeyData":"s3cret"})"),
            answer(R"({"token":"t","clientCertificateData":"","clientKeyData":"s3cret"})")}},
          {"status.clientKeyData is no string",
           {answer(R"({"clientCertificateData":"C","clientKeyData":1})")}},
          {"status.expirationTimestamp must be a string, not a number",
           {answer(R"({"token":"s3cret","expirationTimestamp":1782907200})")}},
          {"it starts with a byte order mark", {"\xef\xbb\xbf" + good}},
      }) {
    for (const std::string& text : texts) {
      CAPTURE(text);
      const Result<Credential> read = parse_exec_credential(text, ApiVersion::v1);
      check_fails(read, Error::Kind::no_credential, told);
      CHECK_FALSE(contains(test::full_text(read.error()), "s3cret"));
    }
  }
}

TEST_CASE("parse_exec_credential: the answer must have the requested version") {
  const std::string status = R"("status":{"token":"t"}})";
  const std::string v1 =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)";
  const std::string v1beta1 =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)";
  CHECK(parse_exec_credential(v1 + status, ApiVersion::v1));
  CHECK(parse_exec_credential(v1beta1 + status, ApiVersion::v1beta1));
  check_fails(parse_exec_credential(v1 + status, ApiVersion::v1beta1), Error::Kind::no_credential,
              "v1beta1");
  check_fails(parse_exec_credential(v1beta1 + status, ApiVersion::v1), Error::Kind::no_credential,
              "v1beta1");
}

TEST_CASE("parse_exec_credential: times that Go refuses are refused") {
  for (const std::string_view expiration :
       {"", "2026-07-01t12:00:00z", "2026-07-01 12:00:00Z", "2026-07-01T12:00:00",
        "2026-07-01T12:00:00+0530", "2026-07-01T12:00Z", "1782907200", "2026-13-01T12:00:00Z",
        "2026-02-30T12:00:00Z", "2026-07-01T24:00:00Z", "2026-07-01T12:00:00Z ", "never"}) {
    CAPTURE(expiration);
    check_fails(parse_exec_credential(answer(R"({"token":"t","expirationTimestamp":")" +
                                             std::string(expiration) + R"("})"),
                                      ApiVersion::v1),
                Error::Kind::no_credential, "status.expirationTimestamp");
  }
  check_fails(
      parse_exec_credential(answer(R"({"token":"t","expirationTimestamp":"2026-07-01T12:00:00z"})"),
                            ApiVersion::v1),
      Error::Kind::no_credential, "in lower case, which client-go does not read");
}

}  // namespace
}  // namespace execcred
