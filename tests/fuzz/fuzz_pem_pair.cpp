// SPDX-License-Identifier: Apache-2.0
// A certificate and its key, compared with OpenSSL: an accepted pair is one chain and one key that
// belong together and are for a client. OpenSSL reads the same, and there is one written form.
//
// The input has two parts with a line of "%" between them: certificates, key.
#include "fuzz.hpp"

#include <execcred/base/pem.hpp>
#include <execcred/x509/certificate.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

template <auto Free>
struct Freer {
  template <class Handle>
  void operator()(Handle* handle) const {
    Free(handle);
  }
};

using BioPtr = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, Freer<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

// 2030-01-01, when the certificates of the seeds are valid.
constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1'893'456'000));

BioPtr open(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void check_leaf(const ClientCertificate& checked) {
  const BioPtr chain = open(checked.chain);
  const CertificatePtr leaf(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  require(leaf != nullptr, "OpenSSL reads the leaf");
  const BioPtr text = open(checked.private_key.reveal());
  const KeyPtr key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
  require(key != nullptr, "OpenSSL reads the key");
  require(X509_check_private_key(leaf.get(), key.get()) == 1, "they belong together");
  const std::uint32_t flags = X509_get_extension_flags(leaf.get());
  require((flags & EXFLAG_BCONS) == 0 || (flags & EXFLAG_CA) == 0, "no CA is given away");
  // OpenSSL reports no usage if another extension is malformed, which the server checks.
  const bool has_usage = (flags & EXFLAG_XKUSAGE) != 0 && (flags & EXFLAG_INVALID) == 0;
  require(
      !has_usage || (X509_get_extended_key_usage(leaf.get()) & (XKU_SSL_CLIENT | XKU_ANYEKU)) != 0,
      "it is for clients");
  std::time_t now = 1'893'456'000;
  require(X509_cmp_time(X509_get0_notAfter(leaf.get()), &now) > 0, "it has not expired");
  require(checked.not_after > kNow, "nor is that what is told");
  ERR_clear_error();
}

}  // namespace

void check(std::string_view input) {
  const std::vector<std::string_view> given = parts(input, "\n%\n", 2);
  const SecretString key(given[1]);
  const Result<ClientCertificate> checked = check_client_certificate(given[0], key, kNow);
  require(ERR_peek_error() == 0, "no error is left for others to find");
  if (!checked) {
    require(checked.error().kind == Error::Kind::no_credential, "a bad pair is no credential");
    return;
  }
  check_leaf(*checked);
  require(parse_pem_certificates(checked->chain).has_value(), "a strict reader takes the chain");
  const Result<ClientCertificate> again =
      check_client_certificate(checked->chain, checked->private_key, kNow);
  require(again && again->chain == checked->chain &&
              again->private_key.reveal() == checked->private_key.reveal(),
          "written in one way");
}

}  // namespace execcred::fuzz
