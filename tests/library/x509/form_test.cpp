// SPDX-License-Identifier: Apache-2.0
// The encodings of certificates and keys.
#include "support/issuer.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/encoding.hpp>
#include <execcred/x509/certificate.hpp>

#include <openssl/pem.h>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const std::string kParameters =
    "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

ClientCertificate must_check(const std::string& certificates, const std::string& key) {
  CAPTURE(certificates);
  Result<ClientCertificate> checked =
      check_client_certificate(certificates, SecretString(key), noon());
  if (!checked) FAIL(full_text(checked.error()));
  return std::move(checked).value();
}

void check_refused(const std::string& certificates, const std::string& key, std::string_view part) {
  CAPTURE(certificates);
  const Result<ClientCertificate> checked =
      check_client_certificate(certificates, SecretString(key), noon());
  check_fails(checked, Error::Kind::no_credential, part);
  const std::string told = full_text(checked.error());
  CHECK_FALSE(contains(told, "-----BEGIN"));
  if (key.size() > 200) CHECK_FALSE(contains(told, key.substr(key.size() / 2, 16)));
}

std::string with_line_ends(const std::string& text, const std::string& end) {
  std::string changed;
  for (const char c : text) changed += c == '\n' ? end : std::string(1, c);
  return changed;
}

std::string without_last_newline(std::string text) {
  text.pop_back();
  return text;
}

TEST_CASE("check_client_certificate: a PEM pair is returned unchanged") {
  const KeyPtr key = make_ec_key();
  const std::string chain = pem_of(*make_certificate(*key));
  for (const std::string& pem : {pkcs8_pem(*key), traditional_pem(*key)}) {
    const ClientCertificate checked = must_check(chain, pem);
    CHECK(checked.chain == chain);
    CHECK(checked.private_key.reveal() == pem);
  }
  CHECK(traditional_pem(*key).starts_with("-----BEGIN EC PRIVATE KEY-----\n"));
}

TEST_CASE("check_client_certificate: RSA, other curves and Ed25519") {
  std::vector<KeyPtr> keys;
  keys.push_back(make_rsa_key());
  keys.push_back(make_ec_key("P-384"));
  keys.push_back(make_ec_key("P-521"));
  keys.push_back(make_ed25519_key());
  for (const KeyPtr& key : keys) {
    const std::string chain = pem_of(*make_certificate(*key));
    CHECK(must_check(chain, pkcs8_pem(*key)).private_key.reveal() == pkcs8_pem(*key));
    if (EVP_PKEY_get_id(key.get()) == EVP_PKEY_ED25519) continue;  // has no traditional form
    CHECK(must_check(chain, traditional_pem(*key)).private_key.reveal() == traditional_pem(*key));
  }
  CHECK(traditional_pem(*keys[0]).starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
}

TEST_CASE("check_client_certificate: a key of a type that clients cannot use is refused") {
  const std::string chain = pem_of(*make_certificate(*make_ec_key()));
  std::vector<KeyPtr> keys;
  keys.push_back(make_ec_key("secp256k1"));
  keys.push_back(make_ec_key("brainpoolP256r1"));
  keys.emplace_back(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448"));
  keys.emplace_back(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  for (const KeyPtr& key : keys) {
    REQUIRE(key);
    check_refused(chain, pkcs8_pem(*key), "the private key is of a type that clients cannot use");
  }
}

TEST_CASE("check_client_certificate: equal content in any encoding gives equal bytes") {
  const KeyPtr key = make_ec_key();
  const CertificatePtr certificate = make_certificate(*key);
  const std::string chain = pem_of(*certificate);
  const std::string pem = traditional_pem(*key);
  const std::string attributes =
      "Bag Attributes\n    localKeyID: 01 00 00 00\nsubject=/CN=alice\nissuer=----/CN=x----\n";
  for (const std::string& text :
       {chain, without_last_newline(chain), "\n\n" + chain + "\n \n", attributes + chain + "end",
        with_line_ends(chain, "\r\n"), with_line_ends(chain, "\n  \t"),
        with_line_ends(chain, "\n\n"), "\xef\xbb\xbf" + chain, encode_base64(chain),
        encode_base64(chain) + "\n", " " + encode_base64(chain) + "\r\n", der_of(*certificate),
        pem + chain, chain + pem, kParameters + chain}) {
    const ClientCertificate checked = must_check(text, pem);
    CHECK(checked.chain == chain);
  }
  for (const std::string& text :
       {pem, without_last_newline(pem), attributes + pem + "\x1b", with_line_ends(pem, "\r\n"),
        kParameters + pem, pem + kParameters, chain + pem, pem + chain, "\xef\xbb\xbf" + pem,
        encode_base64(pem), encode_base64(with_line_ends(kParameters + pem, "\r\n")) + "\n",
        traditional_der(*key)}) {
    CHECK(must_check(chain, text).private_key.reveal() == pem);
  }
  CHECK(must_check(chain, pkcs8_der(*key)).private_key.reveal() == pkcs8_pem(*key));
}

TEST_CASE("check_client_certificate: a wrong label of a key is corrected") {
  const auto relabelled = [](std::string pem, const std::string& from, const std::string& to) {
    for (std::size_t at = pem.find(from); at != std::string::npos;
         at = pem.find(from, at + to.size())) {
      pem.replace(at, from.size(), to);
    }
    return pem;
  };
  const KeyPtr key = make_rsa_key();
  const std::string chain = pem_of(*make_certificate(*key));
  const std::string pem = pkcs8_pem(*key);
  CHECK(must_check(chain, relabelled(pem, " PRIVATE", " EC PRIVATE")).private_key.reveal() == pem);
  const std::string old = traditional_pem(*key);
  CHECK(must_check(chain, relabelled(old, "RSA PRIVATE", "PRIVATE")).private_key.reveal() == old);
}

TEST_CASE("check_client_certificate: an encrypted key is refused with a hint") {
  const KeyPtr key = make_rsa_key();
  const std::string chain = pem_of(*make_certificate(*key));
  CHECK(contains(encrypted_traditional_pem(*key), "Proc-Type: 4,ENCRYPTED"));
  for (const std::string& text :
       {encrypted_pkcs8_pem(*key), encrypted_traditional_pem(*key), encrypted_pkcs8_der(*key),
        encode_base64(encrypted_pkcs8_pem(*key)),
        with_line_ends(encrypted_traditional_pem(*key), "\r\n")}) {
    check_refused(chain, text,
                  "the private key is encrypted\nhint: a plugin cannot ask for its password");
  }
}

TEST_CASE("check_client_certificate: a missing certificate, and no key or several keys") {
  const KeyPtr key = make_ec_key();
  const std::string chain = pem_of(*make_certificate(*key));
  const std::string pem = pkcs8_pem(*key);
  for (const std::string& text : {pem + pkcs8_pem(*make_ec_key()), pem + pem,
                                  pem + encrypted_pkcs8_pem(*key), traditional_pem(*key) + pem}) {
    check_refused(chain, text, "there are several PRIVATE KEY blocks");
  }
  check_refused(chain, chain, "the private key is missing: there is PEM, but of 'CERTIFICATE'");
  check_refused(chain, kParameters, "of 'EC PARAMETERS'");
  for (const std::string& text : {std::string(), std::string(" \n")}) {
    check_refused(chain, text, "the private key is missing or empty");
    check_refused(text, pem, "the certificate is missing or empty");
  }
  check_refused(chain,
                "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n",
                "the private key is in OpenSSH's own form");
  check_refused(pem, pem, "the certificate is missing: there is PEM, but of 'PRIVATE KEY'");
  // <cluster>-sa of Cluster API: tls.crt is a public key
  check_refused("-----BEGIN PUBLIC KEY-----\nAQI=\n-----END PUBLIC KEY-----\n", pem,
                "the certificate is missing: there is PEM, but of 'PUBLIC KEY'");
}

TEST_CASE("check_client_certificate: DER that is cut or has trailing bytes is malformed") {
  const KeyPtr key = make_ec_key();
  const CertificatePtr certificate = make_certificate(*key);
  const std::string chain = pem_of(*certificate);
  const std::string pem = pkcs8_pem(*key);
  const std::string der = der_of(*certificate);
  const auto as_pem = [](const std::string& label, const std::string& bytes) {
    return "-----BEGIN " + label + "-----\n" + encode_base64(bytes) + "\n-----END " + label +
           "-----\n";
  };
  for (const std::string& bytes : {der + "x", der + der, der + std::string(1, '\0'), der + "\n",
                                   der.substr(0, der.size() - 1), der.substr(1)}) {
    check_refused(bytes, pem, "a certificate is malformed");
    check_refused(chain + as_pem("CERTIFICATE", bytes), pem, "a certificate is malformed");
  }
  for (const std::string& good : {pkcs8_der(*key), traditional_der(*key)}) {
    for (const std::string& bytes :
         {good + "x", good + good, good + std::string(1, '\0'), good.substr(0, good.size() - 1)}) {
      check_refused(chain, bytes, "the private key is neither PKCS#8 nor SEC 1 nor PKCS#1");
      check_refused(chain, as_pem("PRIVATE KEY", bytes), "the private key is neither PKCS#8");
    }
  }
  check_refused("no certificate at all", pem, "a certificate is malformed");
  check_refused(chain, "no key at all", "the private key is neither PKCS#8");
}

TEST_CASE("check_client_certificate: malformed PEM is refused, not skipped") {
  const KeyPtr key = make_ec_key();
  const std::string chain = pem_of(*make_certificate(*key));
  const std::string pem = pkcs8_pem(*key);
  const std::string begin = "-----BEGIN CERTIFICATE-----\n";
  const std::string end = "-----END CERTIFICATE-----\n";
  struct Case {
    std::string text;
    std::string problem;
  };
  for (const Case& c : {
           Case{without_last_newline(chain) + chain, "files that were joined may lack a newline"},
           Case{chain.substr(0, chain.size() - 2), "without the END line of 'CERTIFICATE'"},
           Case{chain.substr(0, chain.find("-----END")), "without the END line"},
           Case{chain + begin, "without the END line"},
           Case{begin + chain, "without the END line"},
           Case{chain + end, "out of place"},
           Case{"x" + chain, "out of place"},
           Case{begin + end, "is empty or no base64"},
           Case{begin + "A===\n" + end, "is empty or no base64"},
           Case{begin + "AQ ID\n" + end, "is empty or no base64"},
           Case{begin + "AQID\n-----END X-----\n", "without the END line"},
           Case{chain + std::string(1, '\0'), "with a NUL byte"},
           Case{std::string(1, '\0') + chain, "with a NUL byte"},
           Case{begin.substr(0, begin.size() - 1) + chain.substr(begin.size()), "out of place"},
       }) {
    check_refused(c.text, pem, c.problem);
    check_refused(chain, c.text, c.problem);
  }
}

TEST_CASE("check_client_certificate: the certificate and the key have at most 1 MiB each") {
  const KeyPtr key = make_ec_key();
  const std::string chain = pem_of(*make_certificate(*key));
  const std::string pem = pkcs8_pem(*key);
  constexpr std::size_t kMiB = 1024 * 1024;
  CHECK(must_check(chain + std::string(kMiB - chain.size(), '\n'), pem).chain == chain);
  check_refused(chain + std::string(kMiB - chain.size() + 1, '\n'), pem,
                "the certificate is larger than 1 MiB");
  check_refused(chain, pem + std::string(kMiB, '\n'), "the private key is larger than 1 MiB");
}

TEST_CASE("check_client_certificate: OpenSSL reads its output") {
  const KeyPtr key = make_rsa_key();
  const CertificatePtr certificate = make_certificate(*key);
  const ClientCertificate checked = must_check(der_of(*certificate), traditional_der(*key));
  const BioPtr chain(BIO_new_mem_buf(checked.chain.data(), static_cast<int>(checked.chain.size())));
  const CertificatePtr read(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  REQUIRE(read != nullptr);
  CHECK(X509_cmp(read.get(), certificate.get()) == 0);
  const std::string_view text = checked.private_key.reveal();
  const BioPtr pem(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  const KeyPtr read_key(PEM_read_bio_PrivateKey(pem.get(), nullptr, nullptr, nullptr));
  REQUIRE(read_key != nullptr);
  CHECK(EVP_PKEY_eq(read_key.get(), key.get()) == 1);
  CHECK(ERR_peek_error() == 0);
}

}  // namespace
}  // namespace execcred
