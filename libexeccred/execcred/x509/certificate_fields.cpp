// SPDX-License-Identifier: Apache-2.0
#include <execcred/x509/certificate_fields.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/pem.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <openssl/crypto.h>

namespace execcred {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

using BasicConstraintsOwner =
    std::unique_ptr<BASIC_CONSTRAINTS, OpensslFree<BASIC_CONSTRAINTS_free>>;
using UsageOwner = std::unique_ptr<EXTENDED_KEY_USAGE, OpensslFree<EXTENDED_KEY_USAGE_free>>;

constexpr seconds kClockSkew(60);
// The last whole second that a TimePoint can hold. Its negative is the first.
constexpr seconds kLastSecond(9'223'372'036);

std::string name_of(const ASN1_OBJECT& usage) {
  if (const int nid = OBJ_obj2nid(&usage); nid != NID_undef) return OBJ_nid2sn(nid);
  std::string name(80, '\0');
  const int size = OBJ_obj2txt(name.data(), static_cast<int>(name.size()), &usage, 1);
  name.resize(
      std::clamp<std::size_t>(size < 0 ? 0 : static_cast<std::size_t>(size), 0, name.size() - 1));
  return name;
}

Result<sys_seconds> read_time(const ASN1_TIME* time) {
  if (const std::optional<sys_seconds> read = time_of(time)) return *read;
  return Error::no_credential("has a malformed time");
}

TimePoint bounded(sys_seconds time) {
  return TimePoint(std::clamp(time.time_since_epoch(), -kLastSecond, kLastSecond));
}

}  // namespace

std::optional<Certificate> take_certificate(std::string_view& der) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(der.data());
  const auto* at = begin;
  X509Owner x509(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  if (!x509) return std::nullopt;
  const auto size = static_cast<std::size_t>(at - begin);
  Certificate certificate{.x509 = std::move(x509), .der = std::string(der.substr(0, size))};
  der.remove_prefix(size);
  return certificate;
}

namespace {

Result<Certificate> read_certificate(std::string_view der) {
  std::optional<Certificate> certificate = take_certificate(der);
  if (certificate && der.empty()) return std::move(*certificate);
  return Error::no_credential("a certificate is malformed",
                              "it must be PEM, base64 of PEM, or DER");
}

}  // namespace

Result<std::vector<Certificate>> read_certificates(std::string_view text) {
  std::vector<Certificate> found;
  if (!looks_like_pem(text)) {
    Certificate certificate = TRY(read_certificate(text));
    found.push_back(std::move(certificate));
    return found;
  }
  Result<std::vector<PemBlock>> blocks = parse_pem_blocks(text);
  if (!blocks)
    return Error::no_credential("the certificate " + blocks.error().message, blocks.error().hint);
  for (const PemBlock& block : *blocks) {
    if (block.label != "CERTIFICATE") continue;
    Certificate certificate = TRY(read_certificate(block.der.reveal()));
    found.push_back(std::move(certificate));
  }
  if (found.empty()) {
    return Error::no_credential("the certificate is missing: there is PEM, but of " +
                                (blocks->empty() ? "nothing" : in_quotes(blocks->front().label)));
  }
  return found;
}

std::string write_pem(const std::vector<Certificate>& certificates) {
  SecretString pem;
  for (const Certificate& certificate : certificates) {
    append_pem("CERTIFICATE", certificate.der, pem);
  }
  return std::string(pem.reveal());
}

std::string subject_of(const X509& certificate) {
  const BioOwner memory(BIO_new(BIO_s_mem()));
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

CertifiedUser certified_user(const X509& certificate) {
  CertifiedUser user;
  const X509_NAME* const subject = X509_get_subject_name(&certificate);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(subject, i);
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (nid == NID_commonName) user.name = utf8_of(*X509_NAME_ENTRY_get_data(entry));
    if (nid == NID_organizationName) {
      user.groups.push_back(utf8_of(*X509_NAME_ENTRY_get_data(entry)));
    }
  }
  std::sort(user.groups.begin(), user.groups.end());
  user.groups.erase(std::unique(user.groups.begin(), user.groups.end()), user.groups.end());
  return user;
}

std::string text_of_name(const X509_NAME* name) {
  const BioOwner memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr || name == nullptr) return {};
  X509_NAME_print_ex(memory.get(), name, 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return size > 0 ? printable({text, static_cast<std::size_t>(size)}) : std::string();
}

std::string der_of_name(const X509_NAME* name) {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  if (name == nullptr || X509_NAME_get0_der(name, &bytes, &size) != 1) return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string utf8_of(const ASN1_STRING& string) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, &string);
  ERR_clear_error();
  if (size < 0) return {};
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  return text;
}

std::optional<sys_seconds> time_of(const ASN1_TIME* time) {
  std::tm parts = {};
  const bool is_good = time != nullptr && ASN1_TIME_to_tm(time, &parts) == 1;
  ERR_clear_error();
  if (!is_good) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  return std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) +
         std::chrono::minutes(parts.tm_min) + seconds(parts.tm_sec);
}

Status name_certificate(Status status, std::string_view role, const X509& certificate) {
  if (status) return status;
  std::string& message = status.error().message;
  message = std::string(role) + " " + subject_of(certificate) + " " + message;
  return status;
}

Error malformed_extension(int nid) {
  return Error::no_credential(std::string("has a malformed extension ") + OBJ_nid2sn(nid));
}

Result<bool> is_authority(const X509& certificate) {
  const BasicConstraintsOwner constraints =
      TRY(find_extension<BasicConstraintsOwner>(certificate, NID_basic_constraints));
  return constraints && constraints->ca != 0;
}

// RFC 5280 section 4.2.1.12.
Status check_is_for_clients(const X509& leaf) {
  const UsageOwner usages = TRY(find_extension<UsageOwner>(leaf, NID_ext_key_usage));
  if (!usages) return {};
  std::vector<std::string> names;
  for (int i = 0; i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
    const ASN1_OBJECT* usage = sk_ASN1_OBJECT_value(usages.get(), i);
    const int nid = OBJ_obj2nid(usage);
    if (nid == NID_client_auth || nid == NID_anyExtendedKeyUsage) return {};
    if (names.size() < 10) names.push_back(name_of(*usage));
  }
  return Error::no_credential("is not for clients: its extended key usage is " +
                              (names.empty() ? "empty" : join(names, ", ")) +
                              ", without clientAuth");
}

Status check_validity(const X509& leaf, TimePoint now, ClientCertificate& checked) {
  const sys_seconds begin = TRY(read_time(X509_get0_notBefore(&leaf)));
  const sys_seconds end = TRY(read_time(X509_get0_notAfter(&leaf)));
  checked.not_before = bounded(begin);
  checked.not_after = bounded(end);
  if (checked.not_after <= now) {
    Error error = Error::no_credential(
        "has expired: it ended at " + format_rfc3339(end),
        "check that whatever renews it is still running, and this machine's clock");
    error.cause = cause::kSourceExpired;
    return error;
  }
  if (checked.not_before > now && checked.not_before - now > kClockSkew) {
    Error error = Error::no_credential("is not valid yet: it begins at " + format_rfc3339(begin),
                                       "check this machine's clock");
    error.cause = cause::kCredentialNotYetValid;
    return error;
  }
  return {};
}

}  // namespace execcred
