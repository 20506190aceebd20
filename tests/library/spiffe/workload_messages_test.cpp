// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/workload_api.hpp>

#include "support/workload_wire.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::string_literals;

const std::string kGoodJwt = wire_field(1, "spiffe://td/a") + wire_field(2, "token");
const std::string kGoodX509 = wire_field(1, "spiffe://td/a") + wire_field(2, "certificates") +
                              wire_field(3, "key") + wire_field(4, "bundle");

std::vector<JwtSvidMessage> must_decode(const std::string& response) {
  Result<std::vector<JwtSvidMessage>> svids = decode_jwt_svid_response(response);
  if (!svids) FAIL(full_text(svids.error()));
  return std::move(svids).value();
}

void check_refused(const std::string& response, const std::string& problem) {
  check_fails(decode_jwt_svid_response(response), Error::Kind::no_credential, problem);
  check_fails(decode_x509_svid_response(response), Error::Kind::no_credential, problem);
}

TEST_CASE("encode_jwt_svid_request: the audiences, and the ID if one is requested") {
  const JwtSvidRequestWire all = read_jwt_svid_request(encode_jwt_svid_request({"a", "b"}, ""));
  CHECK_FALSE(all.is_malformed);
  CHECK(all.audiences == std::vector<std::string>{"a", "b"});
  CHECK(all.spiffe_ids.empty());
  const JwtSvidRequestWire one =
      read_jwt_svid_request(encode_jwt_svid_request({std::string(300, 'a')}, "spiffe://td/a"));
  CHECK_FALSE(one.is_malformed);
  CHECK(one.audiences == std::vector<std::string>{std::string(300, 'a')});
  CHECK(one.spiffe_ids == std::vector<std::string>{"spiffe://td/a"});
}

TEST_CASE("decode_jwt_svid_response: every SVID with its fields, in order") {
  const std::vector<JwtSvidMessage> svids = must_decode(
      jwt_svid_response({{.spiffe_id = "spiffe://td/a", .svid = "token-a", .hint = "internal"},
                         {.spiffe_id = "spiffe://td/b", .svid = "token-b"}}));
  REQUIRE(svids.size() == 2);
  CHECK(svids[0].spiffe_id == "spiffe://td/a");
  CHECK(svids[0].svid.reveal() == "token-a");
  CHECK(svids[0].hint == "internal");
  CHECK(svids[1].spiffe_id == "spiffe://td/b");
  CHECK(svids[1].svid.reveal() == "token-b");
  CHECK(svids[1].hint.empty());
}

TEST_CASE("decode_x509_svid_response: every SVID with its fields, in order") {
  Result<std::vector<X509SvidMessage>> svids = decode_x509_svid_response(x509_svid_response(
      {{.spiffe_id = "spiffe://td/a",
        .certificates = "c\0"s,
        .private_key = "k\0"s,
        .bundle = "b\0"s,
        .hint = "internal"},
       {.spiffe_id = "spiffe://td/b", .certificates = "d", .private_key = "l", .bundle = "e"}}));
  if (!svids) FAIL(full_text(svids.error()));
  REQUIRE(svids->size() == 2);
  const X509SvidMessage& one = svids->front();
  CHECK(one.spiffe_id == "spiffe://td/a");
  CHECK(one.certificates == "c\0"s);
  CHECK(one.private_key.reveal() == "k\0"s);
  CHECK(one.bundle == "b\0"s);
  CHECK(one.hint == "internal");
  CHECK(svids->back().spiffe_id == "spiffe://td/b");
  CHECK(svids->back().hint.empty());
}

TEST_CASE("decode: unknown fields are skipped, in any place and of any type") {
  const std::string unknown = wire_field(99, "x") + wire_number(100, 5) +
                              "\xa9\x06\1\2\3\4\5\6\7\x08"s + "\xad\x06\1\2\3\4"s;
  for (const std::string& response :
       {unknown + wire_field(1, kGoodJwt), wire_field(1, kGoodJwt) + unknown,
        wire_field(1, unknown + kGoodJwt), wire_field(1, kGoodJwt + unknown)}) {
    const std::vector<JwtSvidMessage> svids = must_decode(response);
    REQUIRE(svids.size() == 1);
    CHECK(svids[0].svid.reveal() == "token");
  }
  // crl and federated_bundles of the X.509 response
  CHECK(decode_x509_svid_response(wire_field(1, kGoodX509) + wire_field(2, "crl") +
                                  wire_field(3, wire_field(1, "td") + wire_field(2, "bundle"))));
  CHECK(decode_x509_svid_response(wire_field(1, unknown + kGoodX509 + unknown)));
}

TEST_CASE("decode: the last value of a repeated field counts") {
  const std::vector<JwtSvidMessage> svids =
      must_decode(wire_field(1, kGoodJwt + wire_field(2, "later")));
  REQUIRE(svids.size() == 1);
  CHECK(svids[0].svid.reveal() == "later");
  check_refused(wire_field(1, kGoodX509 + wire_field_always(2, "")),
                "an SVID in the agent's answer has no '");
}

TEST_CASE("decode: a field of a wrong wire type is ignored") {
  const std::string id = wire_field(1, "spiffe://td/a");
  check_fails(decode_jwt_svid_response(wire_field(1, wire_number(1, 5) + wire_field(2, "t"))),
              Error::Kind::no_credential, "has no 'spiffe_id'");
  check_fails(decode_jwt_svid_response(wire_field(1, id + wire_number(2, 5))),
              Error::Kind::no_credential, "has no 'svid'");
  check_fails(decode_x509_svid_response(wire_field(1, id + wire_field(2, "c") + wire_number(3, 5))),
              Error::Kind::no_credential, "has no 'x509_svid_key'");
  check_refused(wire_number(1, 5), "the agent's answer holds no SVID");
  CHECK(must_decode(wire_number(1, 5) + wire_field(1, kGoodJwt)).size() == 1);
  CHECK(must_decode(wire_field(1, kGoodJwt + wire_number(3, 5))).front().hint.empty());
}

TEST_CASE("decode: a mandatory field that is missing or empty is an error that names it") {
  const std::string id = wire_field(1, "spiffe://td/a");
  struct Case {
    std::string svid;
    std::string field;
  };
  for (const Case& c :
       {Case{"", "spiffe_id"}, Case{wire_field(2, "t"), "spiffe_id"},
        Case{wire_field_always(1, "") + wire_field(2, "t"), "spiffe_id"}, Case{id, "svid"},
        Case{id + wire_field_always(2, ""), "svid"}, Case{id + wire_field(3, "hint"), "svid"}}) {
    const std::string problem = "an SVID in the agent's answer has no '" + c.field + "'";
    for (const std::string& response :
         {wire_field_always(1, c.svid), wire_field(1, kGoodJwt) + wire_field_always(1, c.svid),
          wire_field_always(1, c.svid) + wire_field(1, kGoodJwt)}) {
      check_fails(decode_jwt_svid_response(response), Error::Kind::no_credential, problem);
    }
  }
  const std::vector<std::string> names = {"spiffe_id", "x509_svid", "x509_svid_key", "bundle"};
  for (std::uint32_t missing = 1; missing <= 4; ++missing) {
    std::string svid;
    for (std::uint32_t field = 1; field <= 5; ++field) {
      if (field != missing) svid += wire_field(field, "x");
    }
    check_fails(decode_x509_svid_response(wire_field(1, kGoodX509) + wire_field(1, svid)),
                Error::Kind::no_credential, "has no '" + names[missing - 1] + "'");
  }
  CHECK(decode_x509_svid_response(wire_field(1, kGoodX509)));
}

TEST_CASE("decode: no SVID, or more than 1000, is refused") {
  check_refused("", "the agent's answer holds no SVID");
  check_refused(wire_field(2, "x"), "the agent's answer holds no SVID");
  const auto many = [](std::size_t count) {
    std::string response;
    while (count-- > 0) response += wire_field(1, kGoodJwt);
    return response;
  };
  CHECK(must_decode(many(1000)).size() == 1000);
  for (const std::size_t count : {1001U, 10'000U}) {
    check_fails(decode_jwt_svid_response(many(count)), Error::Kind::no_credential,
                "the agent's answer holds more than 1000 SVIDs");
  }
}

TEST_CASE("decode: an invalid Protocol Buffers message is refused, never read in part") {
  const std::string good = wire_field(1, kGoodX509);
  for (std::size_t kept = 1; kept < good.size(); ++kept) {
    CAPTURE(kept);
    CHECK_FALSE(decode_x509_svid_response(good.substr(0, kept)));
  }
  for (const std::string& bad : {
           "\x0a"s,  // no length
           "\x0a\x05"
           "ab"s,                                                // cut
           "\x0a\x80"s,                                          // a length that is cut
           "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // of more than ten bytes
           "\x0a\xff\xff\xff\xff\x0f"s,                          // 4 GiB
           "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,      // all bits
           "\x80"s,                                              // a tag that is cut
           "\x00\x00"s,                                          // field 0
           "\x0b"s,                                              // a group
           "\x0e\x00"s,                                          // wire type 6
           "\x0f\x00"s,                                          // wire type 7
           "\x11\x01"s,                                          // eight bytes, only one sent
           "\x15\x01"s,                                          // four bytes, only one sent
           "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // a number of eleven bytes
           "<html>"s,
       }) {
    for (const std::string& response :
         {bad, wire_field(1, kGoodX509) + bad, wire_field(1, kGoodX509 + bad)}) {
      CAPTURE(response);
      check_fails(decode_x509_svid_response(response), Error::Kind::no_credential,
                  "the agent's answer is no Protocol Buffers message");
    }
    check_fails(decode_jwt_svid_response(wire_field(1, kGoodJwt) + bad), Error::Kind::no_credential,
                "is no Protocol Buffers message");
  }
}

TEST_CASE("decode: no error shows a token or key") {
  for (const std::string& response :
       {wire_field(1, kGoodJwt.substr(0, 15) + wire_field(3, "QanaryQ")) + "\x0a",
        wire_field(1, wire_field(2, "QanaryQ")), wire_field(1, wire_field(3, "QanaryQ"))}) {
    for (const Error& error : {decode_jwt_svid_response(response).error(),
                               decode_x509_svid_response(response).error()}) {
      CHECK_FALSE(contains(full_text(error), "QanaryQ"));
    }
  }
}

}  // namespace
}  // namespace execcred
