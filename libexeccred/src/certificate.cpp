// SPDX-License-Identifier: Apache-2.0
#include "pem_block.hpp"
#include "private_key.hpp"

#include <execcred/base64.hpp>
#include <execcred/certificate.hpp>
#include <execcred/rfc3339.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace execcred {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

using BasicConstraintsPtr =
    std::unique_ptr<BASIC_CONSTRAINTS, OpensslDeleter<BASIC_CONSTRAINTS_free>>;
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using UsagePtr = std::unique_ptr<EXTENDED_KEY_USAGE, OpensslDeleter<EXTENDED_KEY_USAGE_free>>;

constexpr std::size_t kMaxInput = 1024 * 1024;
constexpr seconds kClockSkew(60);
// The last whole second that a TimePoint can hold, and the first.
constexpr seconds kLastSecond(9'223'372'036);

struct Certificate {
  CertificatePtr x509 = {};
  SecretString der = {};
};

Error wrong(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::no_credential, .message = std::move(message), .hint = std::move(hint)};
}

// PEM as it is or out of base64; everything else as it is.
Result<SecretString> unwrap(std::string_view text, const std::string& subject) {
  if (text.size() > kMaxInput) return wrong(subject + " is larger than 1 MiB");
  if (trim(text).empty()) return wrong(subject + " is missing or empty");
  std::optional<std::string> decoded;
  if (!looks_like_pem(text)) decoded = decode_base64(trim(text));
  SecretString plain(decoded && looks_like_pem(*decoded) ? *decoded : text);
  if (decoded) wipe(*decoded);
  return plain;
}

Result<Certificate> read_certificate(std::string_view der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const auto* const end = at + der.size();
  CertificatePtr x509(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  if (!x509 || at != end) {
    return wrong("a certificate is malformed", "it must be PEM, base64 of PEM, or DER");
  }
  return Certificate{.x509 = std::move(x509), .der = SecretString(der)};
}

Result<std::vector<Certificate>> read_certificates(std::string_view text) {
  std::vector<Certificate> found;
  if (!looks_like_pem(text)) {
    TRY_ASSIGN(Certificate certificate, read_certificate(text));
    found.push_back(std::move(certificate));
    return found;
  }
  Result<std::vector<PemBlock>> blocks = parse_pem_blocks(text);
  if (!blocks) return wrong("the certificate " + blocks.error().message, blocks.error().hint);
  for (const PemBlock& block : *blocks) {
    if (block.label != "CERTIFICATE") continue;
    TRY_ASSIGN(Certificate certificate, read_certificate(block.der.reveal()));
    found.push_back(std::move(certificate));
  }
  if (found.empty()) {
    return wrong("the certificate is missing: there is PEM, but of " +
                 (blocks->empty() ? "nothing" : in_quotes(blocks->front().label)));
  }
  return found;
}

// RFC 4514, quoted.
std::string subject_of(const X509& certificate) {
  const BioPtr memory(BIO_new(BIO_s_mem()));
  char* text = nullptr;
  const unsigned long flags = XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);
  const bool is_written =
      memory &&
      X509_NAME_print_ex(memory.get(), X509_get_subject_name(&certificate), 0, flags) >= 0;
  const long size = is_written ? BIO_get_mem_data(memory.get(), &text) : 0;
  ERR_clear_error();
  return in_quotes(size > 0 ? std::string_view(text, static_cast<std::size_t>(size))
                            : std::string_view());
}

// An extension by its type, null where there is none. Fails where it is malformed or comes twice.
template <class Pointer>
Result<Pointer> find_extension(const X509& certificate, int nid, const std::string& subject) {
  int critical = 0;
  Pointer extension(static_cast<typename Pointer::pointer>(
      X509_get_ext_d2i(&certificate, nid, &critical, nullptr)));
  ERR_clear_error();
  constexpr int kAbsent = -1;
  if (extension || critical == kAbsent) return extension;
  return wrong(subject + " has a malformed extension " + OBJ_nid2sn(nid));
}

Status check_is_no_authority(const X509& leaf, const std::string& subject) {
  TRY_ASSIGN(const BasicConstraintsPtr constraints,
             find_extension<BasicConstraintsPtr>(leaf, NID_basic_constraints, subject));
  if (!constraints || constraints->ca == 0) return {};
  return wrong(subject + " is a CA's, and a CA's key must never leave",
               "name the Secret or file of a client certificate");
}

std::string name_of(const ASN1_OBJECT& usage) {
  if (const int nid = OBJ_obj2nid(&usage); nid != NID_undef) return OBJ_nid2sn(nid);
  std::string name(80, '\0');
  const int size = OBJ_obj2txt(name.data(), static_cast<int>(name.size()), &usage, 1);
  name.resize(
      std::clamp<std::size_t>(size < 0 ? 0 : static_cast<std::size_t>(size), 0, name.size() - 1));
  return name;
}

// RFC 5280 section 4.2.1.12: without the extension, any use is allowed.
Status check_is_for_clients(const X509& leaf, const std::string& subject) {
  TRY_ASSIGN(const UsagePtr usages, find_extension<UsagePtr>(leaf, NID_ext_key_usage, subject));
  if (!usages) return {};
  std::vector<std::string> names;
  for (int i = 0; i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    const ASN1_OBJECT* usage = sk_ASN1_OBJECT_value(usages.get(), i);
    const int nid = OBJ_obj2nid(usage);
    if (nid == NID_client_auth || nid == NID_anyExtendedKeyUsage) return {};
    if (names.size() < 10) names.push_back(name_of(*usage));
  }
  return wrong(subject + " is not for clients: its extended key usage is " +
                   (names.empty() ? "empty" : join(names, ", ")) + ", without clientAuth",
               "name the Secret or file of a client certificate");
}

Result<sys_seconds> read_time(const ASN1_TIME* time, const std::string& subject) {
  std::tm parts = {};
  const bool is_good = time != nullptr && ASN1_TIME_to_tm(time, &parts) == 1;
  ERR_clear_error();
  if (!is_good) return wrong(subject + " has a malformed time");
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  return std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) +
         std::chrono::minutes(parts.tm_min) + seconds(parts.tm_sec);
}

TimePoint bounded(sys_seconds time) {
  return TimePoint(std::clamp(time.time_since_epoch(), -kLastSecond, kLastSecond));
}

Status check_times(const X509& leaf, const std::string& subject, TimePoint now,
                   ClientCertificate& checked) {
  TRY_ASSIGN(const sys_seconds begin, read_time(X509_get0_notBefore(&leaf), subject));
  TRY_ASSIGN(const sys_seconds end, read_time(X509_get0_notAfter(&leaf), subject));
  checked.not_before = bounded(begin);
  checked.not_after = bounded(end);
  if (checked.not_after <= now) {
    return wrong(subject + " has expired: it ended at " + format_rfc3339(end),
                 "check that whatever renews it is still running, and this machine's clock");
  }
  if (checked.not_before > now && checked.not_before - now > kClockSkew) {
    return wrong(subject + " is not valid yet: it begins at " + format_rfc3339(begin),
                 "check this machine's clock");
  }
  return {};
}

// The leaf to the front, once.
Status sort_chain(std::vector<Certificate>& certificates, const EVP_PKEY& key) {
  const auto leaf = std::find_if(certificates.begin(), certificates.end(), [&key](const auto& c) {
    return X509_check_private_key(c.x509.get(), &key) == 1;
  });
  ERR_clear_error();
  if (leaf == certificates.end()) {
    Error error = wrong("the private key does not belong to the certificate " +
                            subject_of(*certificates.front().x509),
                        "take both from one pair; while they are being renewed, try again");
    error.is_transient = true;
    return error;
  }
  std::rotate(certificates.begin(), leaf, leaf + 1);
  const auto is_leaf = [der = certificates.front().der.reveal()](const Certificate& other) {
    return other.der.reveal() == der;
  };
  certificates.erase(std::remove_if(certificates.begin() + 1, certificates.end(), is_leaf),
                     certificates.end());
  return {};
}

}  // namespace

Result<ClientCertificate> check_client_certificate(std::string_view certificates,
                                                   const SecretString& private_key, TimePoint now) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
  TRY_ASSIGN(const SecretString certificate_text, unwrap(certificates, "the certificate"));
  TRY_ASSIGN(const SecretString key_text, unwrap(private_key.reveal(), "the private key"));
  TRY_ASSIGN(std::vector<Certificate> chain, read_certificates(certificate_text.reveal()));
  TRY_ASSIGN(PrivateKey key, read_private_key(key_text));
  TRY(sort_chain(chain, *key.key));

  const X509& leaf = *chain.front().x509;
  const std::string subject = "the certificate " + subject_of(leaf);
  TRY(check_is_no_authority(leaf, subject));
  TRY(check_is_for_clients(leaf, subject));
  ClientCertificate checked;
  TRY(check_times(leaf, subject, now, checked));
  SecretString pem;
  for (const Certificate& certificate : chain) {
    append_pem("CERTIFICATE", certificate.der.reveal(), pem);
  }
  checked.chain = pem.reveal();
  checked.private_key = std::move(key.pem);
  return checked;
}

}  // namespace execcred
