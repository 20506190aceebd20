// SPDX-License-Identifier: Apache-2.0
#include "loopback_identity.hpp"

#include <utility>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace execcred::test {
namespace {

constexpr long kHour = 60L * 60L;
constexpr long kDay = 24L * kHour;
constexpr long kX509Version3 = 2;

KeyPtr make_key() {
  KeyPtr key(EVP_EC_gen("P-256"));
  require_openssl(key != nullptr, "make an ECDSA key");
  return key;
}

void set_common_name(X509_NAME& name, const std::string& value) {
  require_openssl(X509_NAME_add_entry_by_NID(&name, NID_commonName, MBSTRING_UTF8,
                                             reinterpret_cast<const unsigned char*>(value.data()),
                                             static_cast<int>(value.size()), -1, 0) == 1,
                  "name a certificate");
}

// Valid from an hour ago, so that a small difference between clocks does no harm.
CertificatePtr make_blank_certificate(const std::string& common_name, EVP_PKEY& key) {
  CertificatePtr certificate(X509_new());
  require_openssl(certificate != nullptr && X509_set_version(certificate.get(), kX509Version3),
                  "make a certificate");
  set_random_serial(*certificate);
  set_common_name(*X509_get_subject_name(certificate.get()), common_name);
  require_openssl(X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour) != nullptr &&
                      X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDay) != nullptr &&
                      X509_set_pubkey(certificate.get(), &key) == 1,
                  "fill a certificate");
  return certificate;
}

void add_extension(X509& certificate, X509& issuer, int nid, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  require_openssl(extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1,
                  std::string("add the extension ") + OBJ_nid2sn(nid));
}

void sign(X509& certificate, X509& issuer, EVP_PKEY& issuer_key) {
  require_openssl(X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1 &&
                      X509_sign(&certificate, &issuer_key, EVP_sha256()) != 0,
                  "sign a certificate");
}

CertificatePtr make_authority(EVP_PKEY& key) {
  CertificatePtr authority = make_blank_certificate("loopback test CA", key);
  add_extension(*authority, *authority, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(*authority, *authority, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(*authority, *authority, NID_subject_key_identifier, "hash");
  sign(*authority, *authority, key);
  return authority;
}

CertificatePtr make_server_certificate(EVP_PKEY& key, X509& authority, EVP_PKEY& authority_key) {
  CertificatePtr certificate = make_blank_certificate("loopback test server", key);
  add_extension(*certificate, authority, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(*certificate, authority, NID_key_usage, "critical,digitalSignature");
  add_extension(*certificate, authority, NID_ext_key_usage, "serverAuth");
  add_extension(*certificate, authority, NID_authority_key_identifier, "keyid:always");
  add_extension(*certificate, authority, NID_subject_alt_name, "IP:127.0.0.1,IP:::1,DNS:localhost");
  sign(*certificate, authority, authority_key);
  return certificate;
}

}  // namespace

LoopbackIdentity make_loopback_identity() {
  const KeyPtr authority_key = make_key();
  const CertificatePtr authority = make_authority(*authority_key);
  KeyPtr key = make_key();
  CertificatePtr certificate = make_server_certificate(*key, *authority, *authority_key);
  return {.key = std::move(key),
          .certificate = std::move(certificate),
          .ca_pem = written_by([&](BIO* out) { return PEM_write_bio_X509(out, authority.get()); })};
}

}  // namespace execcred::test
