// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/certificate_request.hpp>

#include <execcred/base/pem.hpp>
#include <execcred/base/try.hpp>
#include <execcred/x509/openssl.hpp>

#include <algorithm>
#include <string_view>

#include <openssl/err.h>
#include <openssl/rsa.h>

namespace execcred {
namespace {

using ContextOwner = std::unique_ptr<EVP_PKEY_CTX, OpensslFree<EVP_PKEY_CTX_free>>;
using Pkcs8Owner = std::unique_ptr<PKCS8_PRIV_KEY_INFO, OpensslFree<PKCS8_PRIV_KEY_INFO_free>>;
using RequestOwner = std::unique_ptr<X509_REQ, OpensslFree<X509_REQ_free>>;

Error failed(const char* what) {
  ERR_clear_error();
  return Error::internal(std::string("OpenSSL cannot ") + what);
}

bool choose_parameters(EVP_PKEY_CTX* context, KeyType type) {
  constexpr int kBits = 2048;
  switch (type) {
    case KeyType::ecdsa_p256:
      return EVP_PKEY_CTX_set_group_name(context, "P-256") == 1;
    case KeyType::rsa_2048:
      return EVP_PKEY_CTX_set_rsa_keygen_bits(context, kBits) == 1;
    case KeyType::ed25519:
      break;
  }
  return true;
}

const char* algorithm_of(KeyType type) {
  switch (type) {
    case KeyType::ecdsa_p256:
      return "EC";
    case KeyType::rsa_2048:
      return "RSA";
    case KeyType::ed25519:
      break;
  }
  return "ED25519";
}

KeyOwner make_key(KeyType type) {
  const ContextOwner context(EVP_PKEY_CTX_new_from_name(nullptr, algorithm_of(type), nullptr));
  if (!context || EVP_PKEY_keygen_init(context.get()) != 1) return {};
  if (!choose_parameters(context.get(), type)) return {};
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_generate(context.get(), &key) != 1) return {};
  return KeyOwner(key);
}

// Writes DER by one of OpenSSL's i2d functions; empty if that fails.
template <class Object, class Write>
SecretString write_der(const Object* object, Write write) {
  SecretString der;
  const int size = write(object, nullptr);
  if (size <= 0) return der;
  auto* at = reinterpret_cast<unsigned char*>(der.reserve(static_cast<std::size_t>(size)));
  if (write(object, &at) == size) der.grow(static_cast<std::size_t>(size));
  return der;
}

// The type is given as UTF8String. For an MBSTRING type, OpenSSL would apply X.520's limit of 64
// characters, and a user's name in Kubernetes may be longer.
bool add_entry(X509_NAME* name, int nid, std::string_view text) {
  return X509_NAME_add_entry_by_NID(name, nid, V_ASN1_UTF8STRING,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_subject(X509_REQ* request, const CertificateSubject& subject) {
  const NameOwner name(X509_NAME_new());
  const std::vector<std::string>& groups = subject.organizations;
  return name != nullptr &&
         std::all_of(groups.begin(), groups.end(),
                     [&name](const std::string& group) {
                       return add_entry(name.get(), NID_organizationName, group);
                     }) &&
         add_entry(name.get(), NID_commonName, subject.common_name) &&
         X509_REQ_set_subject_name(request, name.get()) == 1;
}

}  // namespace

Result<CertificateRequest> make_certificate_request(KeyType type,
                                                    const CertificateSubject& subject) {
  TRY(start_openssl());
  const KeyOwner key = make_key(type);
  if (!key) return failed("make a private key");
  const Pkcs8Owner info(EVP_PKEY2PKCS8(key.get()));
  const SecretString key_der =
      info ? write_der(info.get(), i2d_PKCS8_PRIV_KEY_INFO) : SecretString();
  if (key_der.empty()) return failed("write a private key");

  const RequestOwner request(X509_REQ_new());
  // Ed25519 has a digest of its own.
  const EVP_MD* const digest = type == KeyType::ed25519 ? nullptr : EVP_sha256();
  const bool is_made = request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
                       set_subject(request.get(), subject) &&
                       X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
                       X509_REQ_sign(request.get(), key.get(), digest) > 0;
  const SecretString der = is_made ? write_der(request.get(), i2d_X509_REQ) : SecretString();
  if (der.empty()) return failed("make a certificate request");

  CertificateRequest made;
  append_pem("PRIVATE KEY", key_der.reveal(), made.private_key);
  SecretString pem;
  append_pem("CERTIFICATE REQUEST", der.reveal(), pem);
  made.request = pem.reveal();
  return made;
}

}  // namespace execcred
