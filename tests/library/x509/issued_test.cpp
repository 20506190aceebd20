// SPDX-License-Identifier: Apache-2.0
// Certificate requests, and the certificates that are issued for them.
#include "support/issuer.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/x509/certificate_request.hpp>
#include <execcred/x509/issued_certificate.hpp>

#include <openssl/pem.h>

#include <memory>
#include <set>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

using RequestPtr = std::unique_ptr<X509_REQ, OpensslDeleter<X509_REQ_free>>;

const CertificateSubject kAlice = {.common_name = "alice", .organizations = {"fleet"}};
const std::vector<std::pair<std::string, std::string>> kForClients = {
    {"extendedKeyUsage", "clientAuth"}};

RequestPtr parse_request(const std::string& pem) {
  const std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return RequestPtr(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
}

std::string subject_text(const X509_REQ& request) {
  return written_by([&](BIO* bio) {
    return X509_NAME_print_ex(bio, X509_REQ_get_subject_name(&request), 0, XN_FLAG_RFC2253) >= 0;
  });
}

Result<ClientCertificate> check(const std::string& chain, EVP_PKEY& key,
                                const CertificateSubject& subject = kAlice) {
  return check_issued_certificate(chain, SecretString(pkcs8_pem(key)), subject, noon());
}

TEST_CASE("make_certificate_request: a key of each type, and a request signed with it") {
  struct Case {
    KeyType type;
    std::string name;
    int bits;
  };
  std::set<std::string> keys;
  for (const Case& c :
       {Case{KeyType::ecdsa_p256, "EC", 256}, Case{KeyType::rsa_2048, "RSA", 2048},
        Case{KeyType::ed25519, "ED25519", 256}, Case{KeyType::ed25519, "ED25519", 256}}) {
    CAPTURE(c.name);
    const Result<CertificateRequest> made = make_certificate_request(
        c.type, {.common_name = "\xc3\xa4lice, or O=x", .organizations = {"b", "a", "b"}});
    REQUIRE(made);
    CHECK(made->request.starts_with("-----BEGIN CERTIFICATE REQUEST-----\n"));
    CHECK(made->private_key.reveal().starts_with("-----BEGIN PRIVATE KEY-----\n"));
    CHECK(keys.emplace(made->private_key.reveal()).second);
    const RequestPtr request = parse_request(made->request);
    REQUIRE(request);
    EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
    CHECK(std::string(EVP_PKEY_get0_type_name(key)) == c.name);
    CHECK(EVP_PKEY_get_bits(key) == c.bits);
    CHECK(X509_REQ_verify(request.get(), key) == 1);
    CHECK(subject_text(*request) == "CN=\\C3\\A4lice\\, or O=x,O=b,O=a,O=b");
    CHECK(X509_REQ_get_attr_count(request.get()) == 0);
  }
}

TEST_CASE("check_issued_certificate: the requested certificate, alone or with its chain") {
  const KeyPtr root = make_ec_key();
  const KeyPtr middle = make_rsa_key();
  const KeyPtr key = make_ed25519_key();
  const Wish leaf{.organization = "fleet", .extensions = kForClients};
  const std::string alone = pem_of(*make_certificate(*key, leaf, middle.get()));
  const std::string chain =
      alone + pem_of(*make_certificate(*middle, {}, root.get())) + pem_of(*make_certificate(*root));
  for (const std::string& text : {alone, chain, "a comment\n" + chain}) {
    const Result<ClientCertificate> checked = check(text, *key);
    if (!checked) FAIL(full_text(checked.error()));
    CHECK(checked->chain == (text == alone ? alone : chain));
  }
}

TEST_CASE("check_issued_certificate: a wrong key, subject, use, signer or length is refused") {
  const KeyPtr key = make_ec_key();
  const KeyPtr other = make_ec_key();
  const auto fails = [&](const std::string& chain, std::string_view part,
                         const CertificateSubject& subject = kAlice) {
    CAPTURE(part);
    check_fails(check(chain, *key, subject), Error::Kind::no_credential, part);
  };
  const Wish good{.organization = "fleet", .extensions = kForClients};
  const std::string leaf = pem_of(*make_certificate(*key, good, other.get()));
  const std::string authority = pem_of(*make_certificate(*other));
  fails("", "a certificate is malformed");
  fails("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is malformed");
  fails(std::string(1024 * 1024 + 1, 'x'), "is larger than 1 MiB");
  fails(pem_of(*make_certificate(*other, good)), "is of another key than the request");
  // The leaf is not the first.
  fails(authority + leaf, "is of another key than the request");
  fails(leaf, "has another subject", {.common_name = "bob", .organizations = {"fleet"}});
  fails(leaf, "has another subject", {.common_name = "alice"});
  fails(leaf, "has another subject", {.common_name = "alice", .organizations = {"fleet", "more"}});
  fails(pem_of(*make_certificate(*key, {.organization = "fleet"})), "lacks clientAuth");
  fails(leaf + leaf, "is not signed by the next one of the chain");
  fails(leaf + pem_of(*make_certificate(*make_ec_key())), "is not signed by the next one");
  std::string many = leaf;
  for (std::size_t i = 0; i < kMaxIssuedChain; ++i) many += authority;
  fails(many, "the chain has 17 certificates, and may have 16");
}

}  // namespace
}  // namespace execcred
