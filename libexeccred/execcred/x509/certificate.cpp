// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/certificate.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/x509/certificate_fields.hpp>
#include <execcred/x509/openssl.hpp>
#include <execcred/x509/private_key.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace execcred {
namespace {

constexpr std::size_t kMaxInput = 1024 * 1024;
constexpr std::string_view kNameAnother = "name the Secret or file of a client certificate";

// PEM, unchanged or decoded from base64; any other text unchanged.
Result<SecretString> unwrap(std::string_view text, const std::string& subject) {
  if (text.size() > kMaxInput) return Error::no_credential(subject + " is larger than 1 MiB");
  if (trim(text).empty()) return Error::no_credential(subject + " is missing or empty");
  std::optional<std::string> decoded;
  if (!looks_like_pem(text)) decoded = decode_base64(trim(text));
  SecretString plain(decoded && looks_like_pem(*decoded) ? *decoded : text);
  if (decoded) wipe(*decoded);
  return plain;
}

// Moves the leaf to the front, and removes further copies of it.
Status sort_chain(std::vector<Certificate>& certificates, const EVP_PKEY& key) {
  const auto leaf = std::find_if(certificates.begin(), certificates.end(), [&key](const auto& c) {
    return X509_check_private_key(c.x509.get(), &key) == 1;
  });
  ERR_clear_error();
  if (leaf == certificates.end()) {
    Error error =
        Error::no_credential("the private key does not belong to the certificate " +
                                 subject_of(*certificates.front().x509),
                             "take both from one pair; while they are being renewed, try again");
    error.is_transient = true;
    return error;
  }
  std::rotate(certificates.begin(), leaf, leaf + 1);
  const auto is_leaf = [&der = certificates.front().der](const Certificate& other) {
    return other.der == der;
  };
  certificates.erase(std::remove_if(certificates.begin() + 1, certificates.end(), is_leaf),
                     certificates.end());
  return {};
}

Status check_is_no_authority(const X509& leaf) {
  const bool is_ca = TRY(is_authority(leaf));
  if (!is_ca) return {};
  return Error::no_credential("is a CA certificate, and a CA's key must not be given to clients",
                              std::string(kNameAnother));
}

Status check_leaf(const X509& leaf, TimePoint now, bool may_be_authority,
                  ClientCertificate& checked) {
  if (!may_be_authority) TRY(check_is_no_authority(leaf));
  TRY(check_is_for_clients(leaf).hint(std::string(kNameAnother)));
  return check_validity(leaf, now, checked);
}

Result<ClientCertificate> check(std::string_view certificates, const SecretString& private_key,
                                TimePoint now, bool may_be_authority) {
  TRY(start_openssl());
  const SecretString certificate_text = TRY(unwrap(certificates, "the certificate"));
  const SecretString key_text = TRY(unwrap(private_key.reveal(), "the private key"));
  std::vector<Certificate> chain = TRY(read_certificates(certificate_text.reveal()));
  PrivateKey key = TRY(read_private_key(key_text));
  TRY(check_usable_by_clients(*key.key));
  TRY(sort_chain(chain, *key.key));

  const X509& leaf = *chain.front().x509;
  ClientCertificate checked;
  TRY(name_certificate(check_leaf(leaf, now, may_be_authority, checked), "the certificate", leaf));
  checked.chain = write_pem(chain);
  checked.private_key = std::move(key.pem);
  return checked;
}

}  // namespace

Result<ClientCertificate> check_client_certificate(std::string_view certificates,
                                                   const SecretString& private_key, TimePoint now) {
  return check(certificates, private_key, now, false);
}

Status check_pair(Credential& credential, TimePoint now) {
  ClientCertificate pair =
      TRY(check(credential.client_certificate, credential.client_key, now, true));
  credential.client_certificate = std::move(pair.chain);
  credential.client_key = std::move(pair.private_key);
  credential.expires_at = std::min(pair.not_after, credential.expires_at.value_or(pair.not_after));
  return {};
}

Result<std::string> go_authorities(std::string_view pem) {
  TRY(start_openssl());
  const std::vector<std::string> ders = TRY(parse_go_certificates(pem));
  std::vector<Certificate> found;
  for (const std::string_view whole : ders) {
    std::string_view der = whole;
    std::optional<Certificate> certificate = take_certificate(der);
    if (certificate && der.empty()) found.push_back(*std::move(certificate));
  }
  if (found.empty()) return Error::configuration("holds no certificate that can be read");
  return write_pem(found);
}

}  // namespace execcred
