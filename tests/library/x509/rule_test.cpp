// SPDX-License-Identifier: Apache-2.0
// The rules for a client certificate.
#include "support/issuer.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/x509/certificate.hpp>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

Result<ClientCertificate> check(const Wish& wish, TimePoint now = noon()) {
  const KeyPtr key = make_ec_key();
  return check_client_certificate(pem_of(*make_certificate(*key, wish)),
                                  SecretString(pkcs8_pem(*key)), now);
}

void check_passes(const Wish& wish, TimePoint now = noon()) {
  const Result<ClientCertificate> checked = check(wish, now);
  if (!checked) FAIL_CHECK(full_text(checked.error()));
}

TimePoint at(int year, unsigned month, unsigned day) {
  return std::chrono::sys_days(std::chrono::year(year) / static_cast<int>(month) /
                               static_cast<int>(day));
}

TEST_CASE("check_client_certificate: the key's certificate comes first, the others in order") {
  const KeyPtr root_key = make_ec_key();
  const KeyPtr middle_key = make_ec_key();
  const KeyPtr key = make_ec_key();
  const std::vector<std::pair<std::string, std::string>> is_ca = {
      {"basicConstraints", "critical,CA:TRUE"}};
  const std::string root =
      pem_of(*make_certificate(*root_key, {.common_name = "root", .extensions = is_ca}));
  const std::string middle = pem_of(*make_certificate(
      *middle_key, {.common_name = "middle", .extensions = is_ca}, root_key.get()));
  const std::string leaf = pem_of(*make_certificate(*key, {}, middle_key.get()));
  const SecretString pem(pkcs8_pem(*key));
  const std::string wanted = leaf + middle + root;
  for (const std::string& text :
       {leaf + middle + root, middle + leaf + root, middle + root + leaf,
        leaf + middle + leaf + root + leaf, middle + leaf + leaf + root}) {
    const Result<ClientCertificate> checked = check_client_certificate(text, pem, noon());
    if (!checked) FAIL(full_text(checked.error()));
    CHECK(checked->chain == wanted);
  }
  // a duplicate of another certificate is not removed
  CHECK(check_client_certificate(root + root + leaf, pem, noon())->chain == leaf + root + root);
}

TEST_CASE("check_client_certificate: of two certificates for one key, the first is the leaf") {
  const KeyPtr key = make_ec_key();
  const std::string one = pem_of(*make_certificate(*key, {.serial = "1"}));
  const std::string two = pem_of(*make_certificate(*key, {.serial = "2"}));
  const SecretString pem(pkcs8_pem(*key));
  CHECK(check_client_certificate(two + one, pem, noon())->chain == two + one);
  CHECK(check_client_certificate(one + two, pem, noon())->chain == one + two);
}

TEST_CASE("check_client_certificate: a key of another certificate is a transient error") {
  std::vector<KeyPtr> others;
  others.push_back(make_ec_key());
  others.push_back(make_ec_key("P-384"));
  others.push_back(make_rsa_key());
  others.push_back(make_ed25519_key());
  const KeyPtr key = make_ec_key();
  const std::string chain = pem_of(*make_certificate(*key));
  for (const KeyPtr& other : others) {
    const Result<ClientCertificate> checked =
        check_client_certificate(chain, SecretString(pkcs8_pem(*other)), noon());
    check_fails(checked, Error::Kind::no_credential,
                "the private key does not belong to the certificate 'CN=alice,O=system:masters'");
    CHECK(checked.error().is_transient);
  }
  const Result<ClientCertificate> expired = check({.not_after = "20260201000000Z"});
  CHECK_FALSE(expired.error().is_transient);
}

TEST_CASE("check_client_certificate: a CA certificate is refused") {
  for (const std::string value : {"critical,CA:TRUE", "CA:TRUE", "CA:TRUE,pathlen:0"}) {
    check_fails(check({.common_name = "kubernetes", .extensions = {{"basicConstraints", value}}}),
                Error::Kind::no_credential,
                "the certificate 'CN=kubernetes,O=system:masters' is a CA certificate");
  }
  check_passes({.extensions = {{"basicConstraints", "critical,CA:FALSE"}}});
  check_fails(
      check({.extensions = {{"basicConstraints", "CA:FALSE"}, {"basicConstraints", "CA:TRUE"}}}),
      Error::Kind::no_credential, "has a malformed extension basicConstraints");
}

TEST_CASE("check_pair: what was just issued may be a CA certificate, and is valid for clients") {
  const auto issued = [](const Wish& wish) {
    const KeyPtr key = make_ec_key();
    Credential credential = {.client_certificate = pem_of(*make_certificate(*key, wish)),
                             .client_key = SecretString(pkcs8_pem(*key))};
    return check_pair(credential, noon());
  };
  CHECK(issued({.extensions = {{"basicConstraints", "critical,CA:TRUE"}}}));
  CHECK_FALSE(issued({.not_after = "20260201000000Z"}));
  CHECK_FALSE(issued({.extensions = {{"extendedKeyUsage", "serverAuth"}}}));
}

TEST_CASE("check_client_certificate: an extended key usage must contain clientAuth") {
  struct Case {
    std::string usage;
    std::string shown;
  };
  for (const Case& c : {Case{"serverAuth", "serverAuth"},
                        Case{"critical,serverAuth,codeSigning", "serverAuth, codeSigning"},
                        Case{"1.2.3.4", "1.2.3.4"}}) {
    check_fails(check({.extensions = {{"extendedKeyUsage", c.usage}}}), Error::Kind::no_credential,
                "the certificate 'CN=alice,O=system:masters' is not for clients: its extended key "
                "usage is " +
                    c.shown + ", without clientAuth");
  }
  for (const std::string usage : {"clientAuth", "critical,clientAuth", "serverAuth,clientAuth",
                                  "anyExtendedKeyUsage", "1.2.3.4,clientAuth"}) {
    check_passes({.extensions = {{"extendedKeyUsage", usage}}});
  }
  check_passes({.extensions = {{"keyUsage", "critical,digitalSignature"}}});
  check_fails(check({.extensions = {{"extendedKeyUsage", "clientAuth"},
                                    {"extendedKeyUsage", "serverAuth"}}}),
              Error::Kind::no_credential, "has a malformed extension extendedKeyUsage");
  check_fails(check({.extensions = {{"extendedKeyUsage", "DER:3000"}}}), Error::Kind::no_credential,
              "its extended key usage is empty");
  check_fails(check({.extensions = {{"extendedKeyUsage", "DER:0400"}}}), Error::Kind::no_credential,
              "has a malformed extension extendedKeyUsage");
  std::string many = "1.2.3.0";
  for (int i = 1; i < 500; ++i) many += ",1.2.3." + std::to_string(i);
  const Result<ClientCertificate> checked = check({.extensions = {{"extendedKeyUsage", many}}});
  REQUIRE_FALSE(checked);
  CHECK(checked.error().message.size() < 400);
}

TEST_CASE("check_client_certificate: the leaf's times, it has expired at its end") {
  const Wish wish{.not_before = "20260601000000Z", .not_after = "20260801000000Z"};
  const Result<ClientCertificate> checked = check(wish);
  REQUIRE(checked);
  CHECK((checked->not_before == at(2026, 6, 1)));
  CHECK((checked->not_after == at(2026, 8, 1)));

  check_passes(wish, at(2026, 8, 1) - 1s);
  check_fails(check(wish, at(2026, 8, 1)), Error::Kind::no_credential,
              "the certificate 'CN=alice,O=system:masters' has expired: it ended at "
              "2026-08-01T00:00:00Z");
  check_fails(check(wish, at(2036, 8, 1)), Error::Kind::no_credential, "has expired");
}

TEST_CASE("check_client_certificate: a start more than a minute ahead is not valid yet") {
  const Wish wish{.not_before = "20260601000000Z", .not_after = "20260801000000Z"};
  check_passes(wish, at(2026, 6, 1));
  check_passes(wish, at(2026, 6, 1) - 60s);
  check_fails(check(wish, at(2026, 6, 1) - 61s), Error::Kind::no_credential,
              "the certificate 'CN=alice,O=system:masters' is not valid yet: it begins at "
              "2026-06-01T00:00:00Z");
  check_fails(check(wish, at(1990, 1, 1)), Error::Kind::no_credential, "is not valid yet");
}

TEST_CASE("check_client_certificate: times beyond the range of a TimePoint are limited to it") {
  const Result<ClientCertificate> checked =
      check({.not_before = "10000101000000Z", .not_after = "99991231235959Z"});
  REQUIRE(checked);
  CHECK((checked->not_after == TimePoint(9'223'372'036s)));
  CHECK((checked->not_before == TimePoint(-9'223'372'036s)));
  check_fails(check({.not_before = "30000101000000Z", .not_after = "99991231235959Z"}),
              Error::Kind::no_credential, "begins at 3000-01-01T00:00:00Z");
  check_fails(check({.not_before = "10000101000000Z", .not_after = "12000101000000Z"}),
              Error::Kind::no_credential, "ended at 1200-01-01T00:00:00Z");
}

TEST_CASE("check_client_certificate: the rules apply to the leaf, not to its issuers") {
  const KeyPtr root_key = make_ec_key();
  const KeyPtr key = make_ec_key();
  const std::string old_root = pem_of(*make_certificate(
      *root_key,
      {.common_name = "root",
       .extensions = {{"basicConstraints", "CA:TRUE"}, {"extendedKeyUsage", "OCSPSigning"}},
       .not_after = "20260201000000Z"}));
  const std::string leaf = pem_of(*make_certificate(*key, {}, root_key.get()));
  CHECK(check_client_certificate(leaf + old_root, SecretString(pkcs8_pem(*key)), noon()));
}

TEST_CASE("check_client_certificate: subjects in messages are quoted and printable") {
  const auto subject = [](const std::string& name) {
    const Result<ClientCertificate> checked =
        check({.common_name = name, .organization = {}, .not_after = "20260201000000Z"});
    REQUIRE_FALSE(checked);
    return checked.error().message;
  };
  CHECK(contains(subject(""), "the certificate '' has expired"));
  CHECK(contains(subject("\u00e9"), "'CN=\u00e9' has expired"));
  CHECK(contains(subject("a,b"), "'CN=a\\,b' has expired"));
  CHECK_FALSE(contains(subject("x\xe2\x80\xaey"), "\xe2\x80\xae"));
  CHECK_FALSE(contains(subject("x\ny"), "\n"));
}

}  // namespace
}  // namespace execcred
