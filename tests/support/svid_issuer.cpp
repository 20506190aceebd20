// SPDX-License-Identifier: Apache-2.0
#include "svid_issuer.hpp"

#include "issuer.hpp"

#include <openssl/ecdsa.h>

#include <array>
#include <ctime>
#include <memory>

namespace execcred::test {
namespace {

using DigestPtr = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;
using SignaturePtr = std::unique_ptr<ECDSA_SIG, OpensslDeleter<ECDSA_SIG_free>>;

constexpr int kHalf = 32;  // bytes of r and of s on P-256

// As ASN1_TIME_set_string takes it.
std::string generalized_time(std::time_t seconds) {
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d%H%M%SZ", &parts)};
}

Wish authority_wish(const std::string& name) {
  const std::time_t now = std::time(nullptr);
  return {.common_name = name,
          .organization = "SPIFFE",
          .extensions = {{"basicConstraints", "critical,CA:TRUE"},
                         {"keyUsage", "critical,keyCertSign,cRLSign"},
                         {"subjectAltName", "URI:spiffe://example.org"}},
          .not_before = generalized_time(now - 3600),
          .not_after = generalized_time(now + 24 * 3600),
          .serial = "1"};
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "\"" : ",\"") + text + "\"";
  return "[" + list + "]";
}

}  // namespace

std::string base64url(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text.push_back(kAlphabet[bits >> (count - 6) & 63U]);
  }
  if (count > 0) text.push_back(kAlphabet[bits << (6 - count) & 63U]);
  return text;
}

SvidIssuer::SvidIssuer()
    : jwt_key_(make_ec_key()),
      root_key_(make_ec_key()),
      middle_key_(make_ec_key()),
      root_(der_of(*make_certificate(*root_key_, authority_wish("root")))),
      middle_(der_of(*make_certificate(*middle_key_, authority_wish("middle"), root_key_.get()))) {}

std::string SvidIssuer::jwt(const JwtWish& wish) const {
  const std::time_t now = std::time(nullptr);
  const std::string header =
      wish.header.empty() ? R"({"alg":"ES256","kid":"k1","typ":"JWT"})" : wish.header;
  const std::string claims = !wish.claims.empty()
                                 ? wish.claims
                                 : "{\"aud\":" + json_list(wish.audiences) +
                                       ",\"exp\":" + std::to_string(now + wish.seconds) +
                                       ",\"iat\":" + std::to_string(now) + ",\"sub\":\"" +
                                       wish.spiffe_id + "\"}";
  const std::string input = base64url(header) + "." + base64url(claims);
  return input + "." + base64url(sign(input));
}

std::string SvidIssuer::sign(std::string_view signing_input) const {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(signing_input.data());
  const DigestPtr digest(EVP_MD_CTX_new());
  std::array<unsigned char, 128> der = {};
  std::size_t size = der.size();
  require_openssl(
      EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, jwt_key_.get()) == 1 &&
          EVP_DigestSign(digest.get(), der.data(), &size, bytes, signing_input.size()) == 1,
      "sign a JWT");
  const unsigned char* at = der.data();
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  std::string raw(2 * kHalf, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(raw.data());
  require_openssl(signature &&
                      BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kHalf) == kHalf &&
                      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kHalf, kHalf) == kHalf,
                  "take a signature apart");
  return raw;
}

X509SvidWire SvidIssuer::x509(const X509Wish& wish) const {
  const std::time_t now = std::time(nullptr);
  Wish leaf = {.common_name = wish.common_name,
               .organization = wish.organization,
               .extensions = wish.extensions,
               .not_before = generalized_time(now - 60),
               .not_after = generalized_time(now + wish.seconds),
               .serial = "7"};
  if (leaf.extensions.empty()) {
    leaf.extensions = {{"basicConstraints", "critical,CA:FALSE"},
                       {"keyUsage", "critical,digitalSignature,keyEncipherment,keyAgreement"},
                       {"extendedKeyUsage", "serverAuth,clientAuth"},
                       {"subjectAltName", "URI:" + wish.spiffe_id}};
  }
  const KeyPtr key = make_ec_key();
  return {.spiffe_id = wish.spiffe_id,
          .certificates = der_of(*make_certificate(*key, leaf, middle_key_.get())) + middle_,
          .private_key = pkcs8_der(*key),
          .bundle = root_,
          .hint = {}};
}

}  // namespace execcred::test
