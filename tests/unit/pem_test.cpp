// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/pem.hpp>

namespace execcred {
namespace {

const std::string kBegin = "-----BEGIN CERTIFICATE-----\n";
const std::string kEnd = "-----END CERTIFICATE-----\n";
const std::string kOne = kBegin + "Zm9v\nYmFy\n" + kEnd;  // "foobar"
const std::string kTwo = kBegin + "AQI=\n" + kEnd;        // 0x01 0x02

using Ders = std::vector<std::string>;

TEST_CASE("parse_pem_certificates: returns the bytes of each certificate, in order") {
  struct Case {
    std::string text;
    Ders wanted;
  };
  const std::string no_last_newline = kOne.substr(0, kOne.size() - 1);
  for (const Case& c : {
           Case{kOne, {"foobar"}},
           Case{no_last_newline, {"foobar"}},
           Case{kOne + kTwo, {"foobar", "\x01\x02"}},
           Case{kTwo + kOne + kTwo, {"\x01\x02", "foobar", "\x01\x02"}},
           Case{"subject=/CN=one\n" + kOne + "\n\n# comment -- here\n" + kTwo + "end\n",
                {"foobar", "\x01\x02"}},
           Case{"-----BEGIN CERTIFICATE-----\r\nZm9v\r\nYmFy\r\n-----END CERTIFICATE-----\r\n",
                {"foobar"}},
           Case{kBegin + "Z\nm\n9\nv\nYmFy\n" + kEnd, {"foobar"}},
       }) {
    CAPTURE(c.text);
    const Result<Ders> certificates = parse_pem_certificates(c.text);
    REQUIRE(certificates);
    CHECK((*certificates == c.wanted));
  }
}

TEST_CASE("parse_pem_certificates: refuses texts that other parsers may read differently") {
  for (const auto& [told, texts] : std::vector<test::Refusals>{
           {"holds no certificate",
            {std::string(), std::string("\n\n"), std::string("Zm9v"),
             std::string("no certificate here\n")}},
           {"holds a certificate without its END line",
            {kBegin, kBegin + "Zm9v\n", kOne + kBegin, kOne + kBegin + "AQI=\n"}},
           {"holds something other than CERTIFICATE blocks",
            {kEnd, kOne + kEnd, kEnd + kOne, kBegin + kOne,
             kBegin + "Zm9v\n" + kBegin + "AQI=\n" + kEnd,  // joined lines
             std::string("-----BEGIN CERTIFICATE-----Zm9v-----END CERTIFICATE-----"),
             kBegin + "Zm9v-----END CERTIFICATE-----\n",
             std::string("x-----BEGIN CERTIFICATE-----\nZm9v\n") + kEnd,
             kOne.substr(0, kOne.size() - 1) + kTwo,
             std::string("-----BEGIN CERTIFICATE-----\rZm9v\r-----END CERTIFICATE-----\r"),
             kOne + "-----BEGIN CERTIFICATE-----\rAQI=\r-----END CERTIFICATE-----\r",
             // Other blocks, alone or beside a certificate.
             std::string("-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----\n"),
             kOne + "-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----\n",
             kOne +
                 "-----BEGIN TRUSTED CERTIFICATE-----\nZm9v\n-----END TRUSTED CERTIFICATE-----\n",
             kOne + "-----BEGIN X509 CERTIFICATE-----\nZm9v\n-----END X509 CERTIFICATE-----\n",
             kOne + "-----BEGIN NEW-----\n",
             kOne + "-----begin certificate-----\nAQI=\n-----end certificate-----\n",
             kOne + "-----BEGIN  CERTIFICATE-----\nAQI=\n" + kEnd,
             kOne + "------BEGIN CERTIFICATE------\nAQI=\n" + kEnd, kOne + "-----\n",
             kOne + "text -----BEGIN CERTIFICATE-----\nAQI=\n" + kEnd,
             kOne + "\xef\xbb\xbf-----BEGIN CERTIFICATE-----\nAQI=\n" + kEnd}},
           {"holds a certificate that is not base64",
            {kBegin + kEnd, kBegin + "Zm9\n" + kEnd, kBegin + "Zm9=\n" + kEnd,
             kBegin + "Zg==\nZg==\n" + kEnd, kBegin + "Zm 9v\n" + kEnd, kBegin + "Zm-v\n" + kEnd,
             kBegin + std::string("Zm9v\0\n", 6) + kEnd, kBegin + "=twTO\n" + kEnd}},
           {"holds a certificate with an empty line in it",
            // OpenSSL reads the text before an empty line in a body as a header.
            {kBegin + "\n" + kEnd, kBegin + "Zm9v\n\nYmFy\n" + kEnd,
             kBegin + "Zm9v\r\n \t\r\nYmFy\r\n" + kEnd, kBegin + "\nZm9v\n" + kEnd,
             kBegin + "Zm9v\n\n" + kEnd, kBegin + "Proc-Type: 4,ENCRYPTED\n\nZm9v\n" + kEnd}},
       }) {
    for (const std::string& text : texts) {
      CAPTURE(text);
      test::check_fails(parse_pem_certificates(text), Error::Kind::configuration, told);
    }
  }
}

TEST_CASE("parse_go_certificates: finds the blocks that Go's encoding/pem finds") {
  const std::string key = "-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----\n";
  struct Case {
    std::string text;
    Ders wanted;
  };
  for (const Case& c : std::vector<Case>{
           {kOne + kTwo, {"foobar", "\x01\x02"}},
           {"text\n" + kOne + "text\n", {"foobar"}},
           {key + kOne, {"foobar"}},
           {"-----BEGIN X-----\n" + kOne, {"foobar"}},
           {"  " + kOne + kTwo, {"\x01\x02"}},  // an indented block is passed over
           {kBegin + "A: b\n\nZm9v\n" + kEnd + kTwo, {"\x01\x02"}},
           {kBegin + "Zm 9v \t\n\nYmFy\n" + kEnd, {"foobar"}},
           {"-----BEGIN CERTIFICATE----- \t\r\nZm9v\r\n-----END CERTIFICATE----- \n", {"foo"}}}) {
    CAPTURE(c.text);
    const Result<Ders> certificates = parse_go_certificates(c.text);
    REQUIRE(certificates);
    CHECK((*certificates == c.wanted));
  }
}

TEST_CASE("parse_go_certificates: tells the faults of a PEM text apart") {
  const std::string key = "-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----\n";
  struct Case {
    std::string text;
    std::string fault;
  };
  for (const Case& c : std::vector<Case>{
           {"", "it has no -----BEGIN line"},
           {"Zm9v", "it has no -----BEGIN line"},
           {"\x30\x82", "it is DER"},
           {"a\n  " + kOne, "white space or text is before the -----BEGIN of line 2"},
           {"\xef\xbb\xbf" + kOne, "a byte order mark is before line 1"},
           {key + key, "it holds 'PRIVATE KEY'"},
           {kBegin + "Zm9v\n", "the 'CERTIFICATE' of line 1 has no END line"},
           {kBegin + "*m9v\n" + kEnd, "the 'CERTIFICATE' of line 1 is no base64"},
           {kBegin + "A: b\n\nZm9v\n" + kEnd, "the 'CERTIFICATE' of line 1 has a header"},
           {kBegin + "Zm9v\n " + kEnd, "the 'CERTIFICATE' of line 1 has white space before"}}) {
    CAPTURE(c.text);
    test::check_fails(parse_go_certificates(c.text), Error::Kind::configuration,
                      "holds no certificate in PEM: " + c.fault);
    // The strict reader takes nothing that Go does not read.
    CHECK_FALSE(parse_pem_certificates(c.text));
  }
  CHECK(parse_go_private_key(kOne + key)->label == "PRIVATE KEY");
  test::check_fails(parse_go_private_key(" " + key), Error::Kind::configuration,
                    "is no private key in PEM: white space or text is before");
  test::check_fails(parse_go_private_key(kOne), Error::Kind::configuration,
                    "is no private key in PEM: it holds 'CERTIFICATE'");
}

}  // namespace
}  // namespace execcred
