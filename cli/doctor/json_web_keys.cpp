// SPDX-License-Identifier: Apache-2.0
#include "json_web_keys.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/x509/openssl.hpp>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::doctor {
namespace {

using NumberOwner = std::unique_ptr<BIGNUM, OpensslFree<BN_free>>;
using BuilderOwner = std::unique_ptr<OSSL_PARAM_BLD, OpensslFree<OSSL_PARAM_BLD_free>>;
using ParametersOwner = std::unique_ptr<OSSL_PARAM, OpensslFree<OSSL_PARAM_free>>;
using KeyContextOwner = std::unique_ptr<EVP_PKEY_CTX, OpensslFree<EVP_PKEY_CTX_free>>;
using DigestContextOwner = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using EcSignatureOwner = std::unique_ptr<ECDSA_SIG, OpensslFree<ECDSA_SIG_free>>;

// The supported algorithms (RFC 7518, section 3.1), which API servers accept.
struct Algorithm {
  std::string_view name;
  const char* digest;
  std::string_view curve;   // empty: RSA, PKCS #1
  std::size_t number_size;  // of each half of an ECDSA signature, and of a coordinate
  const char* group = nullptr;
};
constexpr std::array<Algorithm, 6> kAlgorithms = {{{"RS256", "SHA256", "", 0},
                                                   {"RS384", "SHA384", "", 0},
                                                   {"RS512", "SHA512", "", 0},
                                                   {"ES256", "SHA256", "P-256", 32, "prime256v1"},
                                                   {"ES384", "SHA384", "P-384", 48, "secp384r1"},
                                                   {"ES512", "SHA512", "P-521", 66, "secp521r1"}}};

std::optional<std::string> bytes_of(const json::Value& key, std::string_view name) {
  return decode_base64url(json::text_or_empty(key, name));
}

const unsigned char* bytes_at(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

NumberOwner number_of(std::string_view bytes) {
  return NumberOwner(BN_bin2bn(bytes_at(bytes), static_cast<int>(bytes.size()), nullptr));
}

KeyOwner make_key(const char* type, const BuilderOwner& builder) {
  const ParametersOwner parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContextOwner context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (parameters == nullptr || context == nullptr) return nullptr;
  if (EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get());
  return KeyOwner(key);
}

KeyOwner rsa_key(const json::Value& key) {
  const auto modulus = bytes_of(key, "n");
  const auto exponent = bytes_of(key, "e");
  if (!modulus || !exponent || modulus->empty() || modulus->size() > 2048) return nullptr;
  const NumberOwner n = number_of(*modulus);
  const NumberOwner e = number_of(*exponent);
  const BuilderOwner builder(OSSL_PARAM_BLD_new());
  if (builder == nullptr || n == nullptr || e == nullptr) return nullptr;
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return make_key("RSA", builder);
}

KeyOwner curve_key(const json::Value& key, const Algorithm& algorithm) {
  const auto x = bytes_of(key, "x");
  const auto y = bytes_of(key, "y");
  if (!x || !y || x->size() != algorithm.number_size || y->size() != algorithm.number_size) {
    return nullptr;
  }
  const std::string point = "\x04" + *x + *y;
  const BuilderOwner builder(OSSL_PARAM_BLD_new());
  if (builder == nullptr) return nullptr;
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, algorithm.group, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  return make_key("EC", builder);
}

// Converts a signature from the form of RFC 7518, the two numbers side by side, to DER, which
// OpenSSL expects. nullopt if the signature is malformed.
std::optional<std::string> der_of_signature(const std::string& raw, std::size_t size) {
  if (raw.size() != 2 * size) return std::nullopt;
  const EcSignatureOwner signature(ECDSA_SIG_new());
  NumberOwner r = number_of(std::string_view(raw).substr(0, size));
  NumberOwner s = number_of(std::string_view(raw).substr(size));
  if (signature == nullptr || r == nullptr || s == nullptr) return std::nullopt;
  if (ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return std::nullopt;
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  unsigned char* bytes = nullptr;
  const int length = i2d_ECDSA_SIG(signature.get(), &bytes);
  if (length <= 0) return std::nullopt;
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  OPENSSL_free(bytes);
  return der;
}

bool verifies(EVP_PKEY& key, const Algorithm& algorithm, std::string_view text,
              const std::string& signature) {
  const DigestContextOwner context(EVP_MD_CTX_new());
  if (context == nullptr) return false;
  if (EVP_DigestVerifyInit_ex(context.get(), nullptr, algorithm.digest, nullptr, nullptr, &key,
                              nullptr) != 1) {
    return false;
  }
  return EVP_DigestVerify(context.get(), bytes_at(signature), signature.size(), bytes_at(text),
                          text.size()) == 1;
}

}  // namespace

Signature check_signature(const SecretString& token, const UnverifiedClaims& claims,
                          const json::Value& keys) {
  const json::Value* const list = keys.find("keys");
  if (list == nullptr || list->array() == nullptr || !start_openssl()) return Signature::unknown;
  const Algorithm* algorithm = nullptr;
  for (const Algorithm& known : kAlgorithms) {
    if (known.name == claims.algorithm) algorithm = &known;
  }
  const std::size_t end = token.reveal().rfind('.');
  if (algorithm == nullptr || end == std::string_view::npos) return Signature::unknown;
  std::optional<std::string> signature = decode_base64url(token.reveal().substr(end + 1));
  if (signature && !algorithm->curve.empty()) {
    signature = der_of_signature(*signature, algorithm->number_size);
  }
  if (!signature) return Signature::unknown;
  bool has_read = false;
  bool has_unreadable = false;
  for (const json::Value& key : *list->array()) {
    const bool is_curve = json::text_or_empty(key, "kty") == "EC" &&
                          json::text_or_empty(key, "crv") == algorithm->curve;
    const bool is_rsa = json::text_or_empty(key, "kty") == "RSA" && algorithm->curve.empty();
    if (!is_curve && !is_rsa) continue;
    const KeyOwner read = is_rsa ? rsa_key(key) : curve_key(key, *algorithm);
    (read == nullptr ? has_unreadable : has_read) = true;
    const bool is_good =
        read != nullptr && verifies(*read, *algorithm, token.reveal().substr(0, end), *signature);
    ERR_clear_error();
    if (is_good) return Signature::good;
  }
  return has_read && !has_unreadable ? Signature::foreign : Signature::unknown;
}

}  // namespace execcred::doctor
