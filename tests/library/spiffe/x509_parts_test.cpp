// SPDX-License-Identifier: Apache-2.0
// The parts of an X.509-SVID's message: DER without trailing bytes, and the leaf's own key.
#include "svid.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/spiffe/x509_svid.hpp>
#include <execcred/x509/certificate_fields.hpp>

#include <openssl/err.h>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::string_literals;

std::string pem(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const CertificatePtr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  REQUIRE(certificate);
  return pem_of(*certificate);
}

Result<X509Svid> check_key(const std::string& leaf, const std::string& key) {
  X509SvidMessage message = message_with(leaf);
  message.private_key = SecretString(key);
  return check_x509_svid(message, noon());
}

Result<X509Svid> check_bundle(const std::string& bundle) {
  static const std::string leaf = make_leaf(a_key());
  X509SvidMessage message = message_with(leaf);
  message.bundle = bundle;
  return check_x509_svid(message, noon());
}

// The error shows no part of the key, neither as PEM nor as bytes.
void check_hides(const Error& error, const std::string& key) {
  const std::string told = full_text(error);
  CHECK_FALSE(contains(told, "-----BEGIN"));
  CHECK_FALSE(contains(told, encode_base64(key).substr(40, 16)));
  if (key.size() > 60) CHECK_FALSE(contains(told, key.substr(key.size() / 2, 8)));
}

TEST_CASE("check_x509_svid: the leaf is the first, and the others keep their order") {
  const std::string leaf = make_leaf(a_key());
  const std::string one = make_authority("one");
  const std::string two = make_authority("two");
  for (const auto& [der, wanted] : std::vector<std::pair<std::string, std::string>>{
           {leaf, pem(leaf)},
           {leaf + one + two, pem(leaf) + pem(one) + pem(two)},
           {leaf + two + one, pem(leaf) + pem(two) + pem(one)},
           {leaf + one + one, pem(leaf) + pem(one) + pem(one)}}) {
    const Result<X509Svid> svid = check_x509_svid(message_with(der), noon());
    if (!svid) FAIL(full_text(svid.error()));
    CHECK(svid->pair.chain == wanted);
    // again: equal bytes
    CHECK(check_x509_svid(message_with(der), noon())->pair.chain == wanted);
  }
  check_fails(check_x509_svid(message_with(one + leaf), noon()), Error::Kind::no_credential,
              "the X.509-SVID's certificate 'CN=one,O=SPIRE' is a CA certificate");
}

TEST_CASE("check_x509_svid: keys of every type are returned as PKCS#8 in PEM") {
  std::vector<KeyPtr> keys;
  keys.push_back(make_rsa_key());
  keys.push_back(make_ec_key());
  keys.push_back(make_ec_key("P-384"));
  keys.push_back(make_ed25519_key());
  for (const KeyPtr& key : keys) {
    const std::string leaf = make_leaf(*key);
    const Result<X509Svid> svid = check_key(leaf, pkcs8_der(*key));
    if (!svid) FAIL(full_text(svid.error()));
    CHECK(svid->pair.private_key.reveal() == pkcs8_pem(*key));
    CHECK(svid->pair.private_key.reveal().starts_with("-----BEGIN PRIVATE KEY-----\n"));
    CHECK(svid->pair.chain == pem(leaf));
    CHECK(ERR_peek_error() == 0);
    CHECK(check_client_certificate(svid->pair.chain, svid->pair.private_key, noon()));
  }
}

TEST_CASE("check_x509_svid: a key in another form, cut or with trailing bytes is refused") {
  std::vector<KeyPtr> keys;
  keys.push_back(make_rsa_key());
  keys.push_back(make_ec_key());
  for (const KeyPtr& key : keys) {
    const std::string leaf = make_leaf(*key);
    const std::string good = pkcs8_der(*key);
    for (const std::string& bad :
         {traditional_der(*key), encrypted_pkcs8_der(*key), pkcs8_pem(*key), traditional_pem(*key),
          encode_base64(good), good + "x", good + "\n", good + "\0"s, good + good,
          good.substr(0, good.size() - 1), good.substr(1), "\0"s + good, ""s, "x"s}) {
      const Result<X509Svid> svid = check_key(leaf, bad);
      check_fails(svid, Error::Kind::no_credential,
                  "the X.509-SVID's private key is no PKCS#8 in DER");
      check_hides(svid.error(), good);
      CHECK(ERR_peek_error() == 0);
    }
  }
}

TEST_CASE("check_x509_svid: the key must belong to the leaf, not to its issuer") {
  std::vector<KeyPtr> others;
  others.push_back(make_rsa_key());
  others.push_back(make_ec_key());
  others.push_back(make_ec_key("P-384"));
  others.push_back(make_ed25519_key());
  const std::string leaf = make_leaf(a_key());
  for (const KeyPtr& other : others) {
    const Result<X509Svid> svid = check_key(leaf, pkcs8_der(*other));
    check_fails(svid, Error::Kind::no_credential,
                "the X.509-SVID's private key does not belong to its certificate "
                "'CN=workload,O=SPIRE'\nwhile looking at");
    check_hides(svid.error(), pkcs8_der(*other));
    CHECK_FALSE(svid.error().is_transient);
    CHECK(ERR_peek_error() == 0);
  }
  const KeyPtr key = make_ec_key();
  check_fails(check_key(make_leaf(*key) + make_authority("of a_key()"), pkcs8_der(a_key())),
              Error::Kind::no_credential, "does not belong to its certificate");
}

TEST_CASE("check_x509_svid: bytes between, after or instead of certificates are refused") {
  const std::string leaf = make_leaf(a_key());
  const std::string& authority = an_authority();
  struct Case {
    std::string certificates;
    std::string problem;
  };
  for (const Case& c : {
           Case{"", "the X.509-SVID is empty"},
           Case{"x", "the X.509-SVID has no certificate in place 1, but 1 other bytes"},
           Case{pem(leaf), "has no certificate in place 1"},
           Case{encode_base64(leaf), "has no certificate in place 1"},
           Case{"\0"s + leaf, "has no certificate in place 1"},
           Case{leaf.substr(1), "has no certificate in place 1"},
           Case{leaf.substr(0, leaf.size() - 1), "has no certificate in place 1"},
           Case{leaf + "x", "has no certificate in place 2, but 1 other bytes"},
           Case{leaf + "\0"s, "has no certificate in place 2, but 1 other bytes"},
           Case{leaf + "\x30\x00"s, "has no certificate in place 2, but 2 other bytes"},
           Case{leaf + "\n" + authority, "has no certificate in place 2"},
           Case{leaf + authority + "x", "has no certificate in place 3"},
           Case{leaf + authority.substr(0, authority.size() - 1), "in place 2"},
           Case{leaf + pkcs8_der(a_key()), "has no certificate in place 2"},
       }) {
    const Result<X509Svid> svid = check_x509_svid(message_with(c.certificates), noon());
    check_fails(svid, Error::Kind::no_credential, c.problem);
    check_hides(svid.error(), pkcs8_der(a_key()));
    CHECK_FALSE(contains(svid.error().message, "\n"));
    CHECK(ERR_peek_error() == 0);
  }
}

TEST_CASE("check_x509_svid: the bundle has at least one certificate and no other bytes") {
  const std::string& authority = an_authority();
  CHECK(check_bundle(authority));
  CHECK(check_bundle(authority + make_authority("next")));
  for (const std::string& bad :
       {"x"s, "\x30\x00"s, authority + "x", authority + authority + "\0"s, authority.substr(1),
        authority.substr(0, authority.size() - 1), pem(authority), pkcs8_der(a_key())}) {
    const Result<X509Svid> svid = check_bundle(bad);
    check_fails(svid, Error::Kind::no_credential, "the X.509-SVID's bundle has no certificate in");
    check_hides(svid.error(), pkcs8_der(a_key()));
  }
  check_fails(check_bundle(""), Error::Kind::no_credential, "the X.509-SVID's bundle is empty");
}

TEST_CASE("check_x509_svid: the number of certificates is limited") {
  const std::string leaf = make_leaf(a_key());
  const auto many = [](std::size_t count) {
    std::string der;
    while (count-- > 0) der += an_authority();
    return der;
  };
  CHECK(check_x509_svid(message_with(leaf + many(19)), noon()));
  check_fails(check_x509_svid(message_with(leaf + many(20)), noon()), Error::Kind::no_credential,
              "the X.509-SVID has more than 20 certificates");
  CHECK(check_bundle(many(100)));
  check_fails(check_bundle(many(1001)), Error::Kind::no_credential,
              "the X.509-SVID's bundle has more than 1000 certificates");
}

TEST_CASE("check_x509_svid: names in messages are quoted and printable") {
  for (const std::string name : {"x\ny", "x\x1b[2Jy", "x\xe2\x80\xaey"}) {
    const std::string leaf = der_of(*make_certificate(a_key(), {.common_name = name}));
    const Result<X509Svid> svid = check_x509_svid(message_with(leaf), noon());
    check_fails(svid, Error::Kind::no_credential, "has no URIs");
    for (const std::string_view part : {"\n", "\x1b", "\xe2\x80\xae"}) {
      CHECK_FALSE(contains(svid.error().message, part));
    }
  }
  X509SvidMessage message = message_with("x");
  message.spiffe_id = "a\n\x1b[2J" + std::string(5000, 'b');
  const Result<X509Svid> svid = check_x509_svid(message, noon());
  REQUIRE_FALSE(svid);
  CHECK_FALSE(contains(svid.error().context.front(), "\n"));
  CHECK(svid.error().context.front().size() < 300);
}

}  // namespace
}  // namespace execcred
