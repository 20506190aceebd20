// SPDX-License-Identifier: Apache-2.0
// The certificate chain in PEM that a cluster issues, compared with OpenSSL: an accepted chain has
// the requested key and subject and is for clients, and each certificate is signed by the next
// one.
#include "fuzz.hpp"
#include "issued_for.hpp"

#include <execcred/x509/issued_certificate.hpp>
#include <execcred/x509/openssl.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

BioOwner open(std::string_view text) {
  return BioOwner(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<X509Owner> certificates_of(const std::string& chain) {
  std::vector<X509Owner> certificates;
  const BioOwner bio = open(chain);
  while (X509Owner next{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    certificates.push_back(std::move(next));
  }
  ERR_clear_error();
  return certificates;
}

// "O=blue,O=fleet,CN=…", each attribute once.
std::set<std::string> attributes_of(const X509& certificate) {
  std::set<std::string> attributes;
  const X509_NAME* const name = X509_get_subject_name(&certificate);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(name, i);
    std::array<char, 80> type = {};
    OBJ_obj2txt(type.data(), type.size(), X509_NAME_ENTRY_get_object(entry), 0);
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    require(size >= 0, "a text");
    attributes.insert(
        std::string(type.data()) + "=" +
        std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)));
    OPENSSL_free(text);
  }
  return attributes;
}

void check_leaf(X509& leaf) {
  const BioOwner text = open(kIssuedKey);
  const KeyOwner key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
  require(key && X509_check_private_key(&leaf, key.get()) == 1, "of our key");
  require(attributes_of(leaf) == std::set<std::string>{"commonName=fleet-controller",
                                                       "organizationName=blue",
                                                       "organizationName=fleet"},
          "of the subject that was asked for");
  const std::uint32_t flags = X509_get_extension_flags(&leaf);
  if ((flags & EXFLAG_INVALID) == 0) {
    require(
        (flags & EXFLAG_XKUSAGE) != 0 && (X509_get_extended_key_usage(&leaf) & XKU_SSL_CLIENT) != 0,
        "for clients");
  }
  std::time_t now = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(kNow));
  require(X509_cmp_time(X509_get0_notAfter(&leaf), &now) > 0, "not expired");
  require(X509_cmp_time(X509_get0_notBefore(&leaf), &now) <= 0, "begun");
}

}  // namespace

void check(std::string_view input) {
  const Result<ClientCertificate> pair =
      check_issued_certificate(input, SecretString(kIssuedKey), issued_subject(), kNow);
  require(ERR_peek_error() == 0, "no error is left for others to find");
  if (!pair) {
    require(pair.error().kind == Error::Kind::no_credential, "a bad chain is no credential");
    require(pair.error().message.size() < 4000, "a short message");
    return;
  }
  const std::vector<X509Owner> chain = certificates_of(pair->chain);
  require(!chain.empty() && chain.size() <= kMaxIssuedChain, "a bounded chain");
  check_leaf(*chain.front());
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    require(X509_verify(chain[i].get(), X509_get0_pubkey(chain[i + 1].get())) == 1,
            "signed by the next one");
  }
  require(pair->not_after > kNow, "its end is to come");
  ERR_clear_error();
}

}  // namespace execcred::fuzz
