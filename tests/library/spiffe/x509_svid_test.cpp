// SPDX-License-Identifier: Apache-2.0
// The required fields of an X.509-SVID's certificates.
#include "svid.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/spiffe/x509_svid.hpp>

#include <array>
#include <functional>

#include <openssl/asn1.h>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

Result<X509Svid> check(const std::string& certificates, TimePoint now = noon()) {
  return check_x509_svid(message_with(certificates), now);
}

Result<X509Svid> check_leaf(const std::string& extension, const std::string& value) {
  return check(make_leaf(a_key(), with(leaf_extensions(), extension, value)));
}

void check_taken(const Result<X509Svid>& svid) {
  if (!svid) FAIL_CHECK(full_text(svid.error()));
}

// The error has the leaf's name, the agent's name for it, and a hint.
void check_refused(const Result<X509Svid>& svid, const std::string& problem) {
  check_fails(svid, Error::Kind::no_credential,
              "the X.509-SVID's certificate 'CN=workload,O=SPIRE' " + problem);
  CHECK(contains(full_text(svid.error()),
                 "\nwhile looking at the X.509-SVID of 'spiffe://example.org/controller'"));
  CHECK_FALSE(svid.error().hint.empty());
  CHECK_FALSE(svid.error().is_transient);
}

TEST_CASE("check_x509_svid: a valid one is returned with its ID, name and times") {
  const std::string leaf = make_leaf(a_key());
  const Result<X509Svid> svid = check(leaf);
  if (!svid) FAIL(full_text(svid.error()));
  CHECK(svid->spiffe_id == kId);
  CHECK(svid->common_name == "workload");
  CHECK(svid->pair.private_key.reveal() == pkcs8_pem(a_key()));
  CHECK((svid->pair.not_before == TimePoint(1'767'225'600s)));
  CHECK((svid->pair.not_after == TimePoint(1'798'761'600s)));
}

TEST_CASE("check_x509_svid: a key of a type that clients cannot use is refused") {
  for (const char* curve : {"secp256k1", "brainpoolP256r1"}) {
    const KeyPtr key = make_ec_key(curve);
    X509SvidMessage message = message_with(make_leaf(*key));
    message.private_key = SecretString(pkcs8_der(*key));
    check_fails(check_x509_svid(message, noon()), Error::Kind::no_credential,
                "the private key is of a type that clients cannot use");
  }
}

TEST_CASE("check_x509_svid: a CA certificate is refused as the leaf") {
  for (const std::string value : {"critical,CA:TRUE", "CA:TRUE", "CA:TRUE,pathlen:0"}) {
    check_refused(check_leaf("basicConstraints", value), "is a CA certificate");
  }
  check_taken(check_leaf("basicConstraints", "CA:FALSE"));
  check_taken(check_leaf("basicConstraints", {}));
  Extensions twice = leaf_extensions();
  twice.emplace_back("basicConstraints", "CA:TRUE");
  check_refused(check(make_leaf(a_key(), twice)), "has a malformed extension basicConstraints");
  check_refused(check_leaf("basicConstraints", "DER:0400"),
                "has a malformed extension basicConstraints");
}

TEST_CASE("check_x509_svid: the leaf has exactly one URI, the ID that the agent names") {
  const std::string uri = "URI:" + std::string(kId);
  for (const std::string& names :
       {uri, uri + ",DNS:a.example.org,DNS:b.example.org", "DNS:x," + uri,
        "IP:127.0.0.1,email:a@b.c," + uri, "critical," + uri}) {
    check_taken(check_leaf("subjectAltName", names));
  }
  for (const std::string names :
       {"", "DNS:a.example.org", "email:spiffe@example.org", "DER:3000"}) {
    check_refused(check_leaf("subjectAltName", names),
                  "has no URIs among its alternative names, where an X.509-SVID has one");
  }
  for (const std::string& names : {uri + ",URI:spiffe://example.org/other",
                                   "URI:https://example.org," + uri, uri + "," + uri}) {
    check_refused(check_leaf("subjectAltName", names), "has 2 URIs among");
  }
  for (const std::string other :
       {"spiffe://example.org/Controller", "spiffe://example.org/controller2",
        "spiffe://example.org", "spiffe://other.org/controller"}) {
    check_refused(
        check_leaf("subjectAltName", "URI:" + other),
        "is of '" + other + "', but the agent calls it 'spiffe://example.org/controller'");
  }
  Extensions twice = leaf_extensions();
  twice.emplace_back("subjectAltName", uri);
  check_refused(check(make_leaf(a_key(), twice)), "has a malformed extension subjectAltName");
  check_refused(check_leaf("subjectAltName", "DER:0400"),
                "has a malformed extension subjectAltName");
}

TEST_CASE("check_x509_svid: the URI must be a SPIFFE ID, even if the agent names it") {
  for (const std::string uri :
       {"https://example.org/controller", "spiffe://example.org/controller/",
        "SPIFFE://example.org/controller", "spiffe://example.org/a%62"}) {
    X509SvidMessage message =
        message_with(make_leaf(a_key(), with(leaf_extensions(), "subjectAltName", "URI:" + uri)));
    message.spiffe_id = uri;
    check_fails(check_x509_svid(message, noon()), Error::Kind::no_credential,
                "'CN=workload,O=SPIRE' is of no SPIFFE ID: the SPIFFE ID '" + uri + "'");
  }
  // "spiffe://a/b", a NUL, "c": a reader of C strings would see an ID
  X509SvidMessage message =
      message_with(make_leaf(a_key(), with(leaf_extensions(), "subjectAltName",
                                           "DER:3010860e7370696666653a2f2f612f620063")));
  message.spiffe_id = "spiffe://a/b";
  check_fails(check_x509_svid(message, noon()), Error::Kind::no_credential, "is of no SPIFFE ID");
}

TEST_CASE("check_x509_svid: the leaf's key usage has digitalSignature, and no use of a CA") {
  for (const std::string usage : {"digitalSignature", "critical,digitalSignature",
                                  "digitalSignature,keyEncipherment,keyAgreement"}) {
    check_taken(check_leaf("keyUsage", usage));
  }
  for (const std::string usage :
       {"", "keyEncipherment", "critical,keyAgreement", "nonRepudiation", "keyCertSign,cRLSign"}) {
    check_refused(check_leaf("keyUsage", usage), "has no key usage digitalSignature");
  }
  for (const std::string usage : {"digitalSignature,keyCertSign", "digitalSignature,cRLSign",
                                  "critical,digitalSignature,keyCertSign,cRLSign"}) {
    check_refused(check_leaf("keyUsage", usage), "has a CA's key usage, keyCertSign or cRLSign");
  }
  Extensions twice = leaf_extensions();
  twice.emplace_back("keyUsage", "digitalSignature");
  check_refused(check(make_leaf(a_key(), twice)), "has a malformed extension keyUsage");
}

TEST_CASE("check_x509_svid: the leaf's extended key usage is absent, or allows clients") {
  for (const std::string usage :
       {"", "clientAuth", "serverAuth,clientAuth", "anyExtendedKeyUsage"}) {
    check_taken(check_leaf("extendedKeyUsage", usage));
  }
  for (const std::string usage : {"serverAuth", "critical,serverAuth,codeSigning", "1.2.3.4"}) {
    check_refused(check_leaf("extendedKeyUsage", usage), "is not for clients: its extended key");
  }
  check_refused(check_leaf("extendedKeyUsage", "DER:3000"), "is not for clients");
}

TEST_CASE("check_x509_svid: the leaf is valid now, or begins at most a minute ahead") {
  const std::string leaf = make_leaf(a_key());
  const TimePoint begin(1'767'225'600s);
  const TimePoint end(1'798'761'600s);
  check_taken(check(leaf, end - 1s));
  check_refused(check(leaf, end), "has expired: it ended at 2027-01-01T00:00:00Z");
  check_refused(check(leaf, end + 1h), "has expired");
  check_taken(check(leaf, begin - 60s));
  check_refused(check(leaf, begin - 61s), "is not valid yet: it begins at 2026-01-01T00:00:00Z");
}

TEST_CASE("check_x509_svid: a malformed time is refused") {
  for (const std::string time : {"20260101000000Z", "20270101000000Z"}) {
    std::string leaf = make_leaf(a_key());
    const std::size_t at = leaf.find(time);
    REQUIRE(at != std::string::npos);
    leaf[at + 4] = 'x';
    check_refused(check(leaf), "has a malformed time");
  }
}

TEST_CASE("check_x509_svid: the others are CAs with keyCertSign, their times are not checked") {
  const std::string leaf = make_leaf(a_key());
  struct Case {
    std::string extension;
    std::string value;
    std::string problem;
  };
  for (const Case& c : {
           Case{"basicConstraints", "", "is no CA's"},
           Case{"basicConstraints", "CA:FALSE", "is no CA's"},
           Case{"basicConstraints", "DER:0400", "has a malformed extension basicConstraints"},
           Case{"keyUsage", "", "has no key usage keyCertSign"},
           Case{"keyUsage", "digitalSignature,cRLSign", "has no key usage keyCertSign"},
           Case{"keyUsage", "DER:3000", "has a malformed extension keyUsage"},
       }) {
    CAPTURE(c.value);
    const std::string bad =
        make_authority("middle", with(authority_extensions(), c.extension, c.value));
    const std::string wanted =
        "the X.509-SVID's intermediate certificate 'CN=middle,O=SPIRE' " + c.problem;
    for (const std::string& chain :
         {leaf + bad, leaf + an_authority() + bad, leaf + bad + an_authority()}) {
      check_fails(check(chain), Error::Kind::no_credential, wanted);
    }
  }
  for (const std::string usage : {"keyCertSign", "critical,digitalSignature,keyCertSign"}) {
    check_taken(
        check(leaf + make_authority("middle", with(authority_extensions(), "keyUsage", usage))));
  }
  check_taken(
      check(leaf + make_authority("middle", with(authority_extensions(), "subjectAltName", ""))));
  const std::string old = der_of(*make_certificate(
      a_key(), {.extensions = authority_extensions(), .not_after = "20260201000000Z"}));
  check_taken(check(leaf + old));
  // the leaf twice is not a chain
  check_fails(check(leaf + leaf), Error::Kind::no_credential, "intermediate certificate");
}

// The name of a leaf with these CN attributes, in this order.
std::string name_of(const std::vector<std::pair<int, std::string>>& names) {
  const CertificatePtr leaf = make_certificate(
      a_key(), {.common_name = {}, .organization = "SPIRE", .extensions = leaf_extensions()});
  X509_NAME* subject = X509_NAME_dup(X509_get_subject_name(leaf.get()));
  for (const auto& [type, value] : names) {
    require_openssl(X509_NAME_add_entry_by_txt(subject, "CN", type,
                                               reinterpret_cast<const unsigned char*>(value.data()),
                                               static_cast<int>(value.size()), -1, 0) == 1,
                    "name a certificate");
  }
  X509_set_subject_name(leaf.get(), subject);
  X509_NAME_free(subject);
  const Result<X509Svid> svid = check(der_of(*leaf));
  if (!svid) FAIL(full_text(svid.error()));
  return svid->common_name;
}

TEST_CASE("check_x509_svid: the common name is the last one, as UTF-8, or empty") {
  CHECK(name_of({}).empty());
  CHECK(name_of({{V_ASN1_UTF8STRING, ""}}).empty());
  CHECK(name_of({{V_ASN1_UTF8STRING, "controller"}}) == "controller");
  CHECK(name_of({{V_ASN1_PRINTABLESTRING, "controller"}}) == "controller");
  CHECK(name_of({{V_ASN1_UTF8STRING, "contr\u00f4leur \u5236"}}) == "contr\u00f4leur \u5236");
  CHECK(name_of({{V_ASN1_BMPSTRING, std::string("\x00"
                                                "a"
                                                "\x52\x36",
                                                4)}}) == "a\u5236");
  CHECK(name_of({{V_ASN1_UTF8STRING, std::string("a\0b", 3)}}) == std::string("a\0b", 3));
  CHECK(name_of({{V_ASN1_UTF8STRING, "first"}, {V_ASN1_UTF8STRING, "last"}}) == "last");
  CHECK(name_of({{V_ASN1_UTF8STRING, "first"}, {V_ASN1_UTF8STRING, ""}}).empty());
}

}  // namespace
}  // namespace execcred
