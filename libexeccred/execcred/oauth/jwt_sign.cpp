// SPDX-License-Identifier: Apache-2.0
#include <execcred/oauth/jwt_sign.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/x509/openssl.hpp>
#include <execcred/x509/private_key.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

namespace execcred {
namespace {

using ContextOwner = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using EcdsaOwner = std::unique_ptr<ECDSA_SIG, OpensslFree<ECDSA_SIG_free>>;

constexpr int kLeastRsaBits = 2048;  // RFC 7518, section 3.3

enum class Family { rsa, ec, edwards };

struct Algorithm {
  std::string_view name;
  Family family;
  const EVP_MD* (*digest)();
  bool is_pss = false;
  std::string_view curve = {};
  int coordinate_bytes = 0;  // of r and of s
};

// The first of a family is its default; for EC the curve decides.
constexpr std::array<Algorithm, 10> kAlgorithms = {{
    {.name = "RS256", .family = Family::rsa, .digest = EVP_sha256},
    {.name = "RS384", .family = Family::rsa, .digest = EVP_sha384},
    {.name = "RS512", .family = Family::rsa, .digest = EVP_sha512},
    {.name = "PS256", .family = Family::rsa, .digest = EVP_sha256, .is_pss = true},
    {.name = "PS384", .family = Family::rsa, .digest = EVP_sha384, .is_pss = true},
    {.name = "PS512", .family = Family::rsa, .digest = EVP_sha512, .is_pss = true},
    {.name = "ES256",
     .family = Family::ec,
     .digest = EVP_sha256,
     .curve = "prime256v1",
     .coordinate_bytes = 32},
    {.name = "ES384",
     .family = Family::ec,
     .digest = EVP_sha384,
     .curve = "secp384r1",
     .coordinate_bytes = 48},
    {.name = "ES512",
     .family = Family::ec,
     .digest = EVP_sha512,
     .curve = "secp521r1",
     .coordinate_bytes = 66},
    {.name = "EdDSA", .family = Family::edwards, .digest = nullptr},
}};

Error failed(const std::string& step) {
  ERR_clear_error();
  return Error::internal("OpenSSL cannot " + step);
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto* found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                   [name](const Algorithm& known) { return known.name == name; });
  return found == kAlgorithms.end() ? nullptr : found;
}

std::string curve_of(const EVP_PKEY& key) {
  std::array<char, 80> name = {};
  const bool is_named = EVP_PKEY_get_group_name(&key, name.data(), name.size(), nullptr) == 1;
  ERR_clear_error();
  return is_named ? name.data() : "";
}

bool fits(const Algorithm& algorithm, const EVP_PKEY& key) {
  switch (EVP_PKEY_get_base_id(&key)) {
    case EVP_PKEY_RSA:
      return algorithm.family == Family::rsa;
    case EVP_PKEY_EC:
      return algorithm.family == Family::ec && curve_of(key) == algorithm.curve;
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448:
      return algorithm.family == Family::edwards;
    default:
      return false;
  }
}

// The kind of the key for messages, such as "an RSA key".
Result<std::string> describe(const EVP_PKEY& key) {
  switch (EVP_PKEY_get_base_id(&key)) {
    case EVP_PKEY_RSA:
      if (EVP_PKEY_get_bits(&key) < kLeastRsaBits) {
        return Error::no_credential(
            "the private key is too weak to sign with: it has " +
                std::to_string(EVP_PKEY_get_bits(&key)) + " bits, and RSA needs 2048",
            "make a new one: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072");
      }
      return std::string("an RSA key");
    case EVP_PKEY_EC:
      return "an EC key on the curve " + in_quotes(curve_of(key));
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448:
      return std::string("an Edwards-curve key");
    default:
      return Error::no_credential("the private key is of a kind that cannot sign tokens",
                                  "it must be RSA, EC (P-256, P-384 or P-521) or Ed25519");
  }
}

Result<const Algorithm*> choose_algorithm(const EVP_PKEY& key, std::string_view wanted) {
  const std::string description = TRY(describe(key));
  if (!wanted.empty()) {
    const Algorithm* found = find_algorithm(wanted);
    if (found != nullptr && fits(*found, key)) return found;
    std::vector<std::string> fitting;
    for (const Algorithm& known : kAlgorithms) {
      if (fits(known, key)) fitting.emplace_back(known.name);
    }
    return Error::configuration(
        "the signing algorithm " + in_quotes(wanted) +
            (found == nullptr ? " is none that is known"
                              : " does not fit the private key, " + description),
        fitting.empty() ? std::string() : "use " + join(fitting, ", "));
  }
  for (const Algorithm& known : kAlgorithms) {
    if (fits(known, key)) return &known;
  }
  return Error::no_credential(
      "the private key is " + description + ", for which there is no signing algorithm",
      "the curve must be P-256, P-384 or P-521");
}

// The salt is as long as the digest (RFC 7518, section 3.5).
bool use_pss(EVP_PKEY_CTX* context) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

Result<std::string> signature_of(const Algorithm& algorithm, EVP_PKEY& key,
                                 std::string_view input) {
  const ContextOwner context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* parameters = nullptr;  // the context's
  const EVP_MD* digest = algorithm.digest == nullptr ? nullptr : algorithm.digest();
  if (!context || EVP_DigestSignInit(context.get(), &parameters, digest, nullptr, &key) != 1 ||
      (algorithm.is_pss && !use_pss(parameters))) {
    return failed("begin a signature");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(input.data());
  std::size_t size = 0;
  if (EVP_DigestSign(context.get(), nullptr, &size, bytes, input.size()) != 1) {
    return failed("size a signature");
  }
  std::string signature(size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(context.get(), out, &size, bytes, input.size()) != 1) return failed("sign");
  signature.resize(size);
  return signature;
}

// Converts OpenSSL's DER to r and s, one after the other (RFC 7518, section 3.4).
Result<std::string> joined_coordinates(const std::string& der, int bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const EcdsaOwner parts(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  std::string joined(2 * static_cast<std::size_t>(bytes), '\0');
  auto* out = reinterpret_cast<unsigned char*>(joined.data());
  if (!parts || BN_bn2binpad(ECDSA_SIG_get0_r(parts.get()), out, bytes) != bytes ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parts.get()), out + bytes, bytes) != bytes) {
    return failed("take a signature apart");
  }
  return joined;
}

}  // namespace

Result<SigningKey> SigningKey::read(const SecretString& pem, std::string_view algorithm) {
  TRY(start_openssl());
  if (trim(pem.reveal()).empty())
    return Error::no_credential("the private key is missing or empty");
  PrivateKey found = TRY(read_private_key(pem));
  const Algorithm* const chosen = TRY(choose_algorithm(*found.key, algorithm));
  SigningKey key;
  key.key_ = std::shared_ptr<evp_pkey_st>(std::move(found.key));
  key.algorithm_ = chosen->name;
  return key;
}

Result<SecretString> SigningKey::sign(std::string_view header, std::string_view payload) const {
  const Algorithm& algorithm = *find_algorithm(algorithm_);
  SecretString token = encode_base64url(header);
  token.append(".");
  token.append(encode_base64url(payload).reveal());
  std::string signature = TRY(signature_of(algorithm, *key_, token.reveal()));
  if (algorithm.family == Family::ec) {
    signature = TRY(joined_coordinates(signature, algorithm.coordinate_bytes));
  }
  token.append(".");
  token.append(encode_base64url(signature).reveal());
  return token;
}

json::Value numeric_date(TimePoint time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return json::Value(json::Number{std::to_string(whole.time_since_epoch().count())});
}

Result<SecretString> sign_jwt(const SigningKey& key, std::string_view key_id,
                              const json::Value& claims) {
  json::Value header;
  header.add("alg", json::Value(key.algorithm()));
  if (!key_id.empty()) header.add("kid", json::Value(key_id));
  header.add("typ", json::Value("JWT"));
  return key.sign(json::to_text(header), json::to_text(claims));
}

}  // namespace execcred
