// SPDX-License-Identifier: Apache-2.0
#include "jws_keys.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

namespace execcred::test {
namespace {

constexpr std::string_view kRsaPkcs1 =
    "MIIEowIBAAKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrc"
    "S2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf6"
    "3kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT"
    "6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABAoIB"
    "ABKucaRpzQorw35SbEUAVx8dYXUdZOlJcHtiWQ+dC6V8ljxAHj/PLyzTveyI5QO/xkObCyjIL303l2cfUhPu2MFaJdjV"
    "zqACXuOrLot/eSFvxjvqVidTtAZExqFRJ9mylUVAoLvhowVWmC1On95fZCXxTUtxNEG1Xcc7m0rtzJKs45J+N/V9DP1e"
    "dYH6USyPSWGp6wuA+KgHRnKKVf9GRx80JQY7nVNkL17eHoTWEwga+lwi0FEoW9Y7lDtWXYmKBWhUE+U8PGxlJf8f4049"
    "3HDw1WRQ/aSLoS4QTp3rn7gYgeHEvfJdkkf0UMhlknlo53M09EFPdadQ4TlUbjqKc50CgYEA4BzEEOtIpmVdVEZNCqS7"
    "baC4crd0pqnRH/5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw/Py5PJdTJNPY8cQn7ouZ2KKDc"
    "mnPGBY5t7yLc1QlQ5xHdwW1VhvKn+nXqhJTBgIPgtldC+KDV5z+y2XDwGUcCgYEAuQPEfgmVtjL0Uyyx88GZFF1fOunH"
    "3+7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD/YwD66t62wDmpe/HlB+TnBA+njb"
    "glfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdcCgYAHAp9XcCSrn8wVkMVkKdb7DOX4IKjzdahm+ctD"
    "AJN4O/y7OW5FKebvUjdAIt2GuoTZ71iTG+7F0F+lP88jtjP4U4qe7VHoewl4MKOfXZKTe+YCS1XbNvfgwJ3Ltyl1OH9h"
    "Wvu2yza7q+d5PCsDzqtm27kxuvULVeya+TEdAB1ijQKBgQCH/3r6YrVH/uCWGy6bzV1nGNOdjKc9tmkfOJmN54dxdixd"
    "pozCQ6U4OxZrsj3FcOhHBsqAHvX2uuYjagqvo3cOj1TRqNocX40omfCCMx3bD1yPPf/6TI2XECva/ggqEY2mYzmIiA5L"
    "VVmc5nrybr+lssFKneeyxN2Wq93S0iJMdQKBgCGHewxzoa1r8ZMD0LETNrToK423K377UCYqXfg5XMclbrjPbEC3YI1Z"
    "NqMtuhdBJqUnBi6tjKMF+34Xf0CUN8ncuXGO2CAYvO8PdyCixHX52ybaDjy1FtCE6yUXjoKNXKvUm7MWGsAYH6f4IegO"
    "etN5NvmUMFStCSkh7ixZLkN1";
constexpr std::string_view kEcSec1 =
    "MDECAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49AwEH";
constexpr std::string_view kEd25519Pkcs8 =
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";

// An EC key, encrypted with the password "secret".
constexpr std::string_view kEncryptedPkcs8 =
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhr9kgrlX4+eQICCAAwDAYIKoZIhvcNAgkFADAdBglg"
    "hkgBZQMEASoEEAS36ajZKfLQGjNh5CI1GCEEgZA2gjOsQzQ28evbng02QCGe/3gzgHj2uuY7Qw/Y74aRbOOvUrZ8"
    "67hvyrqhyZkEJwZJp1Eb4SqNfeGjz6R9EypBcvVBkKRzS6sLVImoXIQW0U95cbVixldS1PEvvyyWtrULI6catoTo"
    "eLNoRblRx2MDWJWYQ7We3mmn/hNhy7rx+uL69KKIoEeTdi7hH7Tye2w=";

using ContextPtr = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;
using EcdsaPtr = std::unique_ptr<ECDSA_SIG, OpensslDeleter<ECDSA_SIG_free>>;

SecretString to_pem(std::string_view label, std::string_view base64) {
  SecretString pem;
  append_pem(label, *decode_base64(base64), pem);
  return pem;
}

const EVP_MD* digest_of(std::string_view algorithm) {
  if (algorithm == "EdDSA") return nullptr;
  if (algorithm.ends_with("256")) return EVP_sha256();
  return algorithm.ends_with("384") ? EVP_sha384() : EVP_sha512();
}

// Converts the concatenated r and s to the DER form of OpenSSL.
std::string der_of(std::string_view joined) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(joined.data());
  const int half = static_cast<int>(joined.size() / 2);
  const EcdsaPtr parts(ECDSA_SIG_new());
  ECDSA_SIG_set0(parts.get(), BN_bin2bn(bytes, half, nullptr),
                 BN_bin2bn(bytes + half, half, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parts.get(), &der);
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

}  // namespace

SecretString rfc7515_rsa_key() { return to_pem("RSA PRIVATE KEY", kRsaPkcs1); }
SecretString rfc7515_ec_key() { return to_pem("EC PRIVATE KEY", kEcSec1); }
SecretString rfc8037_key() { return to_pem("PRIVATE KEY", kEd25519Pkcs8); }
SecretString encrypted_key() { return to_pem("ENCRYPTED PRIVATE KEY", kEncryptedPkcs8); }

KeyPtr new_rsa_key(unsigned bits) { return KeyPtr(EVP_RSA_gen(bits)); }
KeyPtr new_ec_key(const char* curve) { return KeyPtr(EVP_EC_gen(curve)); }
KeyPtr new_ed25519_key() { return KeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }

SecretString pkcs8_pem(const KeyPtr& key) {
  return SecretString(written_by([&](BIO* out) {
    return PEM_write_bio_PKCS8PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }));
}

KeyPtr parse_key(const SecretString& pem) {
  const BioPtr memory(BIO_new_mem_buf(pem.reveal().data(), static_cast<int>(pem.size())));
  KeyPtr key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr));
  require_openssl(key != nullptr, "read a key");
  return key;
}

bool is_signed_by(std::string_view token, std::string_view algorithm, const KeyPtr& key) {
  std::string signature = part_of(token, 2);
  if (algorithm.starts_with("ES")) signature = der_of(signature);
  const std::string_view input = token.substr(0, token.rfind('.'));
  const ContextPtr context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* parameters = nullptr;
  require_openssl(EVP_DigestVerifyInit(context.get(), &parameters, digest_of(algorithm), nullptr,
                                       key.get()) == 1,
                  "begin a verification");
  if (algorithm.starts_with("PS")) {
    EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST);
  }
  return EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(input.data()),
                          input.size()) == 1;
}

std::string part_of(std::string_view token, std::size_t index) {
  const std::vector<std::string_view> parts = split(token, '.');
  if (parts.size() != 3) throw std::runtime_error("this is no compact JWS");
  return decode_base64url(parts[index]).value();
}

}  // namespace execcred::test
