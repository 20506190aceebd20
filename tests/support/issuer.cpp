// SPDX-License-Identifier: Apache-2.0
#include "issuer.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace execcred::test {
namespace {

void set_name(X509_NAME& name, const char* field, const std::string& value) {
  if (value.empty()) return;
  require_openssl(X509_NAME_add_entry_by_txt(&name, field, MBSTRING_UTF8,
                                             reinterpret_cast<const unsigned char*>(value.data()),
                                             static_cast<int>(value.size()), -1, 0) == 1,
                  "name a certificate");
}

char kPassword[] = "correct horse";
constexpr int kPasswordSize = sizeof kPassword - 1;

}  // namespace

TimePoint noon() {
  using std::chrono::July;
  return std::chrono::sys_days(std::chrono::year(2026) / July / 1) + std::chrono::hours(12);
}

KeyPtr make_ec_key(const char* curve) {
  KeyPtr key(EVP_EC_gen(curve));
  require_openssl(key != nullptr, "make an EC key");
  return key;
}

KeyPtr make_rsa_key() {
  KeyPtr key(EVP_RSA_gen(1024));
  require_openssl(key != nullptr, "make an RSA key");
  return key;
}

KeyPtr make_ed25519_key() {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  require_openssl(key != nullptr, "make an Ed25519 key");
  return key;
}

CertificatePtr make_certificate(EVP_PKEY& key, const Wish& wish, EVP_PKEY* issuer_key) {
  CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  BIGNUM* number = nullptr;
  BN_dec2bn(&number, wish.serial.c_str());
  const BignumPtr serial(number);
  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get()));
  X509_NAME& subject = *X509_get_subject_name(certificate.get());
  set_name(subject, "O", wish.organization);
  set_name(subject, "CN", wish.common_name);
  require_openssl(
      ASN1_TIME_set_string(X509_getm_notBefore(certificate.get()), wish.not_before.c_str()) == 1 &&
          ASN1_TIME_set_string(X509_getm_notAfter(certificate.get()), wish.not_after.c_str()) == 1,
      "date a certificate");
  X509_set_pubkey(certificate.get(), &key);
  for (const auto& [name, value] : wish.extensions) {
    const ExtensionPtr extension(X509V3_EXT_conf(nullptr, nullptr, name.c_str(), value.c_str()));
    require_openssl(extension && X509_add_ext(certificate.get(), extension.get(), -1) == 1,
                    "add the extension " + name);
  }
  EVP_PKEY* signer = issuer_key == nullptr ? &key : issuer_key;
  const bool has_digest = EVP_PKEY_get_id(signer) != EVP_PKEY_ED25519;
  require_openssl(X509_sign(certificate.get(), signer, has_digest ? EVP_sha256() : nullptr) != 0,
                  "sign a certificate");
  return certificate;
}

std::string der_of(X509& certificate) {
  return written_by([&](BIO* bio) { return i2d_X509_bio(bio, &certificate); });
}

std::string pem_of(X509& certificate) {
  return written_by([&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

std::string pkcs8_der(EVP_PKEY& key) {
  return written_by([&](BIO* bio) { return i2d_PKCS8PrivateKeyInfo_bio(bio, &key); });
}

std::string pkcs8_pem(EVP_PKEY& key) {
  return written_by([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string traditional_pem(EVP_PKEY& key) {
  return written_by([&](BIO* bio) {
    return PEM_write_bio_PrivateKey_traditional(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string traditional_der(EVP_PKEY& key) {
  return written_by([&](BIO* bio) { return i2d_PrivateKey_bio(bio, &key); });
}

std::string encrypted_pkcs8_pem(EVP_PKEY& key) {
  return written_by([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, &key, EVP_aes_256_cbc(), kPassword, kPasswordSize,
                                         nullptr, nullptr);
  });
}

std::string encrypted_pkcs8_der(EVP_PKEY& key) {
  return written_by([&](BIO* bio) {
    return i2d_PKCS8PrivateKey_bio(bio, &key, EVP_aes_256_cbc(), kPassword, kPasswordSize, nullptr,
                                   nullptr);
  });
}

std::string encrypted_traditional_pem(EVP_PKEY& key) {
  return written_by([&](BIO* bio) {
    return PEM_write_bio_PrivateKey_traditional(bio, &key, EVP_aes_256_cbc(),
                                                reinterpret_cast<const unsigned char*>(kPassword),
                                                kPasswordSize, nullptr, nullptr);
  });
}

}  // namespace execcred::test
