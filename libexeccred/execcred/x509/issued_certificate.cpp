// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/issued_certificate.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/x509/certificate_fields.hpp>
#include <execcred/x509/openssl.hpp>
#include <execcred/x509/private_key.hpp>

#include <set>
#include <string>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/err.h>

namespace execcred {
namespace {

using UsageOwner = std::unique_ptr<EXTENDED_KEY_USAGE, OpensslFree<EXTENDED_KEY_USAGE_free>>;

bool has_subject(const X509& leaf, const CertificateSubject& subject) {
  const X509_NAME* const name = X509_get_subject_name(&leaf);
  std::vector<std::string> users;
  std::set<std::string> groups;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(name, i);
    std::string text = utf8_of(*X509_NAME_ENTRY_get_data(entry));
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (nid == NID_commonName) {
      users.push_back(std::move(text));
    } else if (nid == NID_organizationName) {
      groups.insert(std::move(text));
    } else {
      return false;
    }
  }
  const std::set<std::string> asked(subject.organizations.begin(), subject.organizations.end());
  return users == std::vector<std::string>{subject.common_name} && groups == asked;
}

// Requires clientAuth by name, as requested. "Any" usage, or no extended key usage, is refused.
Status check_names_clients(const X509& leaf) {
  const UsageOwner usages = TRY(find_extension<UsageOwner>(leaf, NID_ext_key_usage));
  for (int i = 0; usages && i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    if (OBJ_obj2nid(sk_ASN1_OBJECT_value(usages.get(), i)) == NID_client_auth) return {};
  }
  return Error::no_credential("is not for clients: its extended key usage lacks clientAuth");
}

Status check_leaf(const X509& leaf, const EVP_PKEY& key, const CertificateSubject& subject) {
  const bool is_of_key = X509_check_private_key(&leaf, &key) == 1;
  ERR_clear_error();
  if (!is_of_key) return Error::no_credential("is of another key than the request");
  if (!has_subject(leaf, subject)) {
    return Error::no_credential("has another subject than the request, of user " +
                                in_quotes(subject.common_name));
  }
  return check_names_clients(leaf);
}

Status check_signatures(const std::vector<Certificate>& chain) {
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    X509& signer = *chain[i + 1].x509;
    EVP_PKEY* const key = X509_get0_pubkey(&signer);
    const bool is_signed = key != nullptr && X509_verify(chain[i].x509.get(), key) == 1;
    ERR_clear_error();
    if (is_signed) continue;
    return name_certificate(
        Error::no_credential("is not signed by the next one of the chain, " + subject_of(signer)),
        "the certificate", *chain[i].x509);
  }
  return {};
}

}  // namespace

Result<ClientCertificate> check_issued_certificate(std::string_view chain,
                                                   const SecretString& private_key,
                                                   const CertificateSubject& subject,
                                                   TimePoint now) {
  constexpr std::size_t kMaxText = 1024 * 1024;
  if (chain.size() > kMaxText) return Error::no_credential("the certificate is larger than 1 MiB");
  TRY(start_openssl());
  const std::vector<Certificate> certificates = TRY(read_certificates(chain));
  if (certificates.size() > kMaxIssuedChain) {
    return Error::no_credential("the chain has " + std::to_string(certificates.size()) +
                                " certificates, and may have " + std::to_string(kMaxIssuedChain));
  }
  const PrivateKey key = TRY(read_private_key(private_key));
  const X509& leaf = *certificates.front().x509;
  TRY(name_certificate(check_leaf(leaf, *key.key, subject), "the certificate", leaf));
  TRY(check_signatures(certificates));
  return check_client_certificate(chain, private_key, now);
}

}  // namespace execcred
