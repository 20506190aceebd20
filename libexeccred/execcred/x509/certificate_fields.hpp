// SPDX-License-Identifier: Apache-2.0
// Reading the fields of certificates that are checked (RFC 5280).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/x509/certificate.hpp>
#include <execcred/x509/openssl.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace execcred {

struct Certificate {
  X509Owner x509 = {};
  std::string der = {};
};

// Removes the first certificate from `der`, and returns it; nullopt if it is malformed.
std::optional<Certificate> take_certificate(std::string_view& der);

// Reads at least one certificate: PEM, whose blocks of another kind are ignored, or one certificate
// in DER. The caller must limit the size of the text. Fails (no_credential).
Result<std::vector<Certificate>> read_certificates(std::string_view text);

// The certificates in PEM, one after the other.
std::string write_pem(const std::vector<Certificate>& certificates);

// The subject in the form of RFC 4514, in quotes.
std::string subject_of(const X509& certificate);

// The user of a client certificate. Of several common names, the last one counts, as in API
// servers.
CertifiedUser certified_user(const X509& certificate);

// The name in the form of RFC 4514. Special characters and those outside ASCII are escaped. Empty
// for nullptr.
std::string text_of_name(const X509_NAME* name);
// Empty for nullptr.
std::string der_of_name(const X509_NAME* name);

// Empty for a string that cannot be converted.
std::string utf8_of(const ASN1_STRING& string);

// nullopt for nullptr and for a malformed time.
std::optional<std::chrono::sys_seconds> time_of(const ASN1_TIME* time);

// The functions below fail (no_credential) with "is …" or "has …". This one puts "ROLE SUBJECT"
// before the message of a failed status, so that a subject is formatted only for a message.
Status name_certificate(Status status, std::string_view role, const X509& certificate);

Error malformed_extension(int nid);

// The extension of that type; null if there is none. Fails (no_credential) if it is malformed or
// occurs twice.
template <class Owner>
Result<Owner> find_extension(const X509& certificate, int nid) {
  int critical = 0;
  Owner extension(static_cast<typename Owner::pointer>(
      X509_get_ext_d2i(&certificate, nid, &critical, nullptr)));
  ERR_clear_error();
  constexpr int kAbsent = -1;
  if (extension || critical == kAbsent) return extension;
  return malformed_extension(nid);
}

Result<bool> is_authority(const X509& certificate);

// Fails unless the extended key usage contains clientAuth, or is absent or "any", which allow any
// usage.
Status check_is_for_clients(const X509& leaf);

// Sets not_before and not_after. Fails if `now` is at or past the end, or more than 60 s before the
// beginning, because clocks differ.
Status check_validity(const X509& leaf, TimePoint now, ClientCertificate& checked);

}  // namespace execcred
