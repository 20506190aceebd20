// SPDX-License-Identifier: Apache-2.0
// X.509-SVIDs, compared with OpenSSL: an accepted one is a leaf that may only authenticate, its CAs
// and its key.
//
// The input has three parts with a line of "%" between them, all DER: certificates, key, bundle.
#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/spiffe/x509_svid.hpp>
#include <execcred/x509/openssl.hpp>
#include "fuzz.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

// 2030-01-01, when the certificates of the seeds are valid.
constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'893'456'000));
const std::string kId = "spiffe://example.org/a";

BioOwner open(std::string_view text) {
  return BioOwner(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void check_leaf(const X509Owner& leaf, const X509Svid& svid) {
  require(leaf != nullptr, "OpenSSL reads the leaf");
  const std::uint32_t flags = X509_get_extension_flags(leaf.get());
  require((flags & EXFLAG_CA) == 0 || (flags & EXFLAG_BCONS) == 0, "no CA is given away");
  // OpenSSL reports no usage if another extension is malformed, which the server checks.
  if ((flags & EXFLAG_INVALID) == 0) {
    const std::uint32_t usage = X509_get_key_usage(leaf.get());
    require((flags & EXFLAG_KUSAGE) != 0 && (usage & KU_DIGITAL_SIGNATURE) != 0, "it may sign");
    require((usage & (KU_KEY_CERT_SIGN | KU_CRL_SIGN)) == 0, "but no certificates");
    require((flags & EXFLAG_XKUSAGE) == 0 ||
                (X509_get_extended_key_usage(leaf.get()) & (XKU_SSL_CLIENT | XKU_ANYEKU)) != 0,
            "and is for clients");
  }
  std::time_t now = 1'893'456'000;
  require(X509_cmp_time(X509_get0_notAfter(leaf.get()), &now) > 0, "it has not expired");
  require(svid.pair.not_after > kNow && svid.spiffe_id == kId, "nor is that what is told");
  const BioOwner text = open(svid.pair.private_key.reveal());
  const KeyOwner key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
  require(key != nullptr, "OpenSSL reads the key");
  require(X509_check_private_key(leaf.get(), key.get()) == 1, "they belong together");
}

void check_issuers(BIO& chain) {
  while (const X509Owner issuer{PEM_read_bio_X509(&chain, nullptr, nullptr, nullptr)}) {
    const std::uint32_t flags = X509_get_extension_flags(issuer.get());
    require((flags & EXFLAG_CA) != 0, "the others are CAs");
    require(
        (flags & EXFLAG_INVALID) != 0 || (X509_get_key_usage(issuer.get()) & KU_KEY_CERT_SIGN) != 0,
        "that sign certificates");
  }
}

// The decoded bytes of all PEM blocks, concatenated.
std::string unwrapped(std::string_view pem) {
  std::string base64;
  std::string der;
  while (!pem.empty()) {
    const std::string_view line = pem.substr(0, pem.find('\n'));
    pem.remove_prefix(std::min(pem.size(), line.size() + 1));
    if (!line.starts_with("-----")) {
      base64 += line;
    } else if (line.starts_with("-----END")) {
      der += decode_base64(base64).value();
      base64.clear();
    }
  }
  return der;
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> given = parts(input, "\n%\n", 3);
  const X509SvidMessage message = {.spiffe_id = kId,
                                   .certificates = std::string(given[0]),
                                   .private_key = SecretString(given[1]),
                                   .bundle = std::string(given[2])};
  const Result<X509Svid> svid = check_x509_svid(message, kNow);
  require(ERR_peek_error() == 0, "no error is left for others to find");
  if (!svid) {
    require(svid.error().kind == Error::Kind::no_credential, "a bad one is no credential");
    return;
  }
  require(unwrapped(svid->pair.chain) == given[0], "every byte of the certificates, in order");
  require(unwrapped(svid->pair.private_key.reveal()) == given[1], "and of the key");
  require(parse_pem_certificates(svid->pair.chain).has_value(), "a strict reader takes the chain");
  const BioOwner chain = open(svid->pair.chain);
  check_leaf(X509Owner(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)), *svid);
  check_issuers(*chain);
  ERR_clear_error();
  require(check_client_certificate(svid->pair.chain, svid->pair.private_key, kNow).has_value(),
          "the pair is a client's");
  require(!given[2].empty(), "there is a bundle");
}

}  // namespace execcred::fuzz
