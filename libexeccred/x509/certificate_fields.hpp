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

// Removes the first certificate of `der` and returns it.
std::optional<Certificate> take_certificate(std::string_view& der);

// At least one: PEM, whose blocks of another kind are ignored, or one in DER. The caller bounds
// the text. Fails (no_credential).
Result<std::vector<Certificate>> read_certificates(std::string_view text);

// PEM, one after the other.
std::string write_pem(const std::vector<Certificate>& certificates);

// RFC 4514, quoted.
std::string subject_of(const X509& certificate);

// RFC 4514, its special and foreign characters escaped. Empty for no name.
std::string text_of_name(const X509_NAME* name);
// Empty for no name.
std::string der_of_name(const X509_NAME* name);

// Empty for a string that is no text.
std::string utf8_of(const ASN1_STRING& string);

// nullopt for a malformed time.
std::optional<std::chrono::sys_seconds> time_of(const ASN1_TIME* time);

// The functions below fail (no_credential) with "is …" or "has …". This one puts "ROLE SUBJECT"
// before the message, so that a subject is formatted only for a message.
Status name_certificate(Status status, std::string_view role, const X509& certificate);

Error malformed_extension(int nid);

// An extension by its type, null where there is none. Fails where it is malformed or comes twice.
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

// No extended key usage, which allows any, or one with clientAuth.
Status check_is_for_clients(const X509& leaf);

// Fills in not_before and not_after. Fails where `now` is past the end, or before the beginning by
// more than clocks differ.
Status check_validity(const X509& leaf, TimePoint now, ClientCertificate& checked);

}  // namespace execcred
