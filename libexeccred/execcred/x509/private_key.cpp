// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/private_key.hpp>

#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <openssl/err.h>
#include <openssl/evp.h>

namespace execcred {
namespace {

using Pkcs8Owner = std::unique_ptr<PKCS8_PRIV_KEY_INFO, OpensslFree<PKCS8_PRIV_KEY_INFO_free>>;
using EncryptedOwner = std::unique_ptr<X509_SIG, OpensslFree<X509_SIG_free>>;

Error wrong(const std::string& problem, std::string hint = {}) {
  return Error::no_credential("the private key " + problem, std::move(hint));
}

Error encrypted() {
  return wrong("is encrypted",
               "a plugin cannot ask for its password: decrypt it with openssl pkey -in FILE, and "
               "protect the file by its permissions");
}

// Reads a DER value by one of OpenSSL's d2i functions; null if it is malformed or anything follows
// it.
template <class Read>
auto read_whole(std::string_view der, Read read) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const auto* const end = at + der.size();
  auto value = read(&at, static_cast<long>(der.size()));
  if (at != end) value.reset();
  ERR_clear_error();
  return value;
}

KeyOwner read_of_type(int type, std::string_view der) {
  return read_whole(der, [type](const unsigned char** at, long size) {
    return KeyOwner(d2i_PrivateKey(type, nullptr, at, size));
  });
}

bool is_encrypted_pkcs8(std::string_view der) {
  return read_whole(der, [](const unsigned char** at, long size) {
           return EncryptedOwner(d2i_X509_SIG(nullptr, at, size));
         }) != nullptr;
}

Result<PrivateKey> read_der(std::string_view der) {
  PrivateKey found;
  std::string_view label = "PRIVATE KEY";
  found.key = read_pkcs8_key(der);
  if (!found.key) {
    label = "EC PRIVATE KEY";
    found.key = read_of_type(EVP_PKEY_EC, der);
  }
  if (!found.key) {
    label = "RSA PRIVATE KEY";
    found.key = read_of_type(EVP_PKEY_RSA, der);
  }
  if (!found.key && is_encrypted_pkcs8(der)) return encrypted();
  if (!found.key) {
    return wrong("is neither PKCS#8 nor SEC 1 nor PKCS#1, or damaged",
                 "it must be PEM, base64 of PEM, or DER of an RSA, EC or Ed25519 key");
  }
  append_pem(label, der, found.pem);
  return found;
}

Result<PrivateKey> read_pem(std::string_view text) {
  Result<std::vector<PemBlock>> blocks = parse_pem_blocks(text);
  if (!blocks) return wrong(blocks.error().message, blocks.error().hint);
  const PemBlock* found = nullptr;
  for (const PemBlock& block : *blocks) {
    if (!block.label.ends_with("PRIVATE KEY")) continue;
    if (found != nullptr) return wrong("is not the only one: there are several PRIVATE KEY blocks");
    found = &block;
  }
  if (found == nullptr) {
    return wrong("is missing: there is PEM, but of " +
                 (blocks->empty() ? "nothing" : in_quotes(blocks->front().label)));
  }
  if (found->is_encrypted || found->label == "ENCRYPTED PRIVATE KEY") return encrypted();
  if (found->label == "OPENSSH PRIVATE KEY") {
    return wrong("is in OpenSSH's own form", "rewrite it: ssh-keygen -p -m PKCS8 -f FILE");
  }
  return read_der(found->der.reveal());
}

bool is_nist_curve(const EVP_PKEY& key) {
  constexpr std::array<std::string_view, 4> kCurves = {"prime256v1", "secp384r1", "secp521r1",
                                                       "secp224r1"};
  std::array<char, 32> name = {};
  std::size_t size = 0;
  const bool has_name = EVP_PKEY_get_group_name(&key, name.data(), name.size(), &size) == 1;
  ERR_clear_error();
  return has_name && std::find(kCurves.begin(), kCurves.end(),
                               std::string_view(name.data(), size)) != kCurves.end();
}

}  // namespace

Status check_usable_by_clients(const EVP_PKEY& key) {
  const int type = EVP_PKEY_get_base_id(&key);
  if (type == EVP_PKEY_RSA || type == EVP_PKEY_ED25519) return {};
  if (type == EVP_PKEY_EC && is_nist_curve(key)) return {};
  return wrong("is of a type that clients cannot use",
               "client-go uses RSA, EC (P-224, P-256, P-384, P-521) and Ed25519");
}

KeyOwner read_pkcs8_key(std::string_view der) {
  const auto info = read_whole(der, [](const unsigned char** at, long size) {
    return Pkcs8Owner(d2i_PKCS8_PRIV_KEY_INFO(nullptr, at, size));
  });
  KeyOwner key(info ? EVP_PKCS82PKEY(info.get()) : nullptr);
  ERR_clear_error();
  return key;
}

Result<PrivateKey> read_private_key(const SecretString& text) {
  return looks_like_pem(text.reveal()) ? read_pem(text.reveal()) : read_der(text.reveal());
}

}  // namespace execcred
