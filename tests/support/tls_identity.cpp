// SPDX-License-Identifier: Apache-2.0
#include "tls_identity.hpp"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>
#include <utility>

namespace execcred::test {
namespace {

KeyPtr make_key(int rsa_bits) {
  KeyPtr key(rsa_bits == 0 ? EVP_EC_gen("P-256") : EVP_RSA_gen(static_cast<unsigned>(rsa_bits)));
  require_openssl(key != nullptr, "make a key");
  return key;
}

void set_name(X509& certificate, const IdentityOptions& options) {
  const std::unique_ptr<X509_NAME, OpensslDeleter<X509_NAME_free>> name(X509_NAME_new());
  const auto* text = reinterpret_cast<const unsigned char*>(options.common_name.data());
  const int type = options.printable_name ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING;
  require_openssl(
      X509_NAME_add_entry_by_NID(name.get(), NID_commonName, type, text,
                                 static_cast<int>(options.common_name.size()), -1, 0) == 1 &&
          X509_set_subject_name(&certificate, name.get()) == 1,
      "name a certificate");
}

void add_extension(X509& certificate, X509& issuer, int nid, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  require_openssl(extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1,
                  "add an extension");
}

void add_extensions(X509& certificate, X509& issuer, const IdentityOptions& options) {
  bool has_constraints = false;
  for (const Extension& extension : options.extensions) {
    add_extension(certificate, issuer, extension.nid, extension.value);
    has_constraints = has_constraints || extension.nid == NID_basic_constraints;
  }
  if (!has_constraints) {
    add_extension(certificate, issuer, NID_basic_constraints,
                  options.is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
  }
  if (!options.alternative_names.empty() && !options.is_ca) {
    add_extension(certificate, issuer, NID_subject_alt_name, options.alternative_names);
  }
}

}  // namespace

Identity make_identity(const IdentityOptions& options) {
  Identity made;
  if (options.key_of != nullptr) {
    EVP_PKEY_up_ref(options.key_of->key.get());
    made.key.reset(options.key_of->key.get());
  } else {
    made.key = make_key(options.rsa_bits);
  }
  made.certificate.reset(X509_new());
  X509& certificate = *made.certificate;
  X509& issuer = options.issuer == nullptr ? certificate : *options.issuer->certificate;
  EVP_PKEY* const signer = options.issuer == nullptr ? made.key.get() : options.issuer->key.get();
  X509_set_version(&certificate, options.is_version_1 ? X509_VERSION_1 : X509_VERSION_3);
  set_random_serial(certificate);
  set_name(certificate, options);
  X509_gmtime_adj(X509_getm_notBefore(&certificate), options.begins);
  X509_gmtime_adj(X509_getm_notAfter(&certificate), options.ends);
  X509_set_pubkey(&certificate, made.key.get());
  X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer));
  if (!options.is_version_1) add_extensions(certificate, issuer, options);
  require_openssl(X509_sign(&certificate, signer, options.sha1 ? EVP_sha1() : EVP_sha256()) != 0,
                  "sign a certificate");
  made.pem = written_by([&](BIO* out) { return PEM_write_bio_X509(out, &certificate); });
  made.key_pem = written_by([&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return made;
}

Identity make_ca(const std::string& common_name) {
  return make_identity({.common_name = common_name, .is_ca = true});
}

}  // namespace execcred::test
