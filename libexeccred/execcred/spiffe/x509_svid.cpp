// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/x509_svid.hpp>

#include <execcred/base/pem.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/spiffe/spiffe_id.hpp>
#include <execcred/x509/certificate_fields.hpp>
#include <execcred/x509/openssl.hpp>
#include <execcred/x509/private_key.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace execcred {
namespace {

using BitsOwner = std::unique_ptr<ASN1_BIT_STRING, OpensslFree<ASN1_BIT_STRING_free>>;
using NamesOwner = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;

constexpr std::size_t kMaxChain = 20;
constexpr std::size_t kMaxBundle = 1000;
constexpr std::string_view kLeaf = "the X.509-SVID's certificate";
constexpr std::string_view kIssuer = "the X.509-SVID's intermediate certificate";

// Bits of a key usage (RFC 5280 section 4.2.1.3).
constexpr int kDigitalSignature = 0;
constexpr int kKeyCertSign = 5;
constexpr int kCrlSign = 6;

Result<std::vector<Certificate>> read_certificates(std::string_view der, std::size_t max,
                                                   const std::string& part) {
  std::vector<Certificate> found;
  while (!der.empty()) {
    if (found.size() == max) {
      return Error::no_credential(part + " has more than " + std::to_string(max) + " certificates");
    }
    std::optional<Certificate> certificate = take_certificate(der);
    if (!certificate) {
      return Error::no_credential(part + " has no certificate in place " +
                                  std::to_string(found.size() + 1) + ", but " +
                                  std::to_string(der.size()) + " other bytes");
    }
    found.push_back(std::move(*certificate));
  }
  if (found.empty()) return Error::no_credential(part + " is empty");
  return found;
}

std::optional<CertifiedUser> user_of(const X509SvidMessage& message) {
  if (!start_openssl()) return std::nullopt;
  std::string_view der = message.certificates;
  const std::optional<Certificate> leaf = take_certificate(der);
  if (!leaf) return std::nullopt;
  return certified_user(*leaf->x509);
}

Result<std::string> find_uri(const X509& leaf) {
  const NamesOwner names = TRY(find_extension<NamesOwner>(leaf, NID_subject_alt_name));
  std::string uri;
  int count = 0;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* text = name->d.uniformResourceIdentifier;
    uri.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
               static_cast<std::size_t>(ASN1_STRING_length(text)));
    ++count;
  }
  if (count == 1) return uri;
  return Error::no_credential("has " + (count == 0 ? "no" : std::to_string(count)) +
                              " URIs among its alternative names, where an X.509-SVID has one");
}

Status check_id(const X509& leaf, const std::string& spiffe_id) {
  const std::string uri = TRY(find_uri(leaf));
  const Result<SpiffeId> id = SpiffeId::parse(uri);
  if (!id) return Error::no_credential("is of no SPIFFE ID: " + id.error().message);
  if (uri == spiffe_id) return {};
  return Error::no_credential("is of " + in_quotes(uri) + ", but the agent calls it " +
                              in_quotes(spiffe_id));
}

// Checks the key usage of a leaf (X509-SVID section 4.3).
Status check_key_usage(const X509& leaf) {
  const BitsOwner usage = TRY(find_extension<BitsOwner>(leaf, NID_key_usage));
  if (!usage || ASN1_BIT_STRING_get_bit(usage.get(), kDigitalSignature) == 0) {
    return Error::no_credential(
        "has no key usage digitalSignature, so it cannot authenticate a client");
  }
  if (ASN1_BIT_STRING_get_bit(usage.get(), kKeyCertSign) != 0 ||
      ASN1_BIT_STRING_get_bit(usage.get(), kCrlSign) != 0) {
    return Error::no_credential("has a CA's key usage, keyCertSign or cRLSign");
  }
  return {};
}

Status check_leaf(const X509& leaf, const std::string& spiffe_id, TimePoint now,
                  ClientCertificate& checked) {
  const bool is_ca = TRY(is_authority(leaf));
  if (is_ca)
    return Error::no_credential("is a CA certificate, and a CA's key must not be given to clients");
  TRY(check_id(leaf, spiffe_id));
  TRY(check_key_usage(leaf));
  TRY(check_is_for_clients(leaf));
  return check_validity(leaf, now, checked);
}

Status check_issuer(const X509& issuer) {
  const bool is_ca = TRY(is_authority(issuer));
  if (!is_ca) return Error::no_credential("is no CA's");
  const BitsOwner usage = TRY(find_extension<BitsOwner>(issuer, NID_key_usage));
  if (usage && ASN1_BIT_STRING_get_bit(usage.get(), kKeyCertSign) != 0) return {};
  return Error::no_credential("has no key usage keyCertSign");
}

Status check_key(const X509& leaf, std::string_view der) {
  const KeyOwner key = read_pkcs8_key(der);
  if (!key) {
    return Error::no_credential(
        "the X.509-SVID's private key is no PKCS#8 in DER, or encrypted, damaged or of an "
        "unknown algorithm");
  }
  TRY(check_usable_by_clients(*key).context("checking the X.509-SVID"));
  const bool belongs = X509_check_private_key(&leaf, key.get()) == 1;
  ERR_clear_error();
  if (belongs) return {};
  return Error::no_credential("the X.509-SVID's private key does not belong to its certificate " +
                              subject_of(leaf));
}

Result<X509Svid> check(const X509SvidMessage& message, TimePoint now) {
  TRY(start_openssl());
  const std::vector<Certificate> chain =
      TRY(read_certificates(message.certificates, kMaxChain, "the X.509-SVID"));
  X509Svid svid;
  const X509& leaf = *chain.front().x509;
  TRY(name_certificate(check_leaf(leaf, message.spiffe_id, now, svid.pair), kLeaf, leaf));
  TRY(check_key(leaf, message.private_key.reveal()));
  for (std::size_t i = 1; i < chain.size(); ++i) {
    TRY(name_certificate(check_issuer(*chain[i].x509), kIssuer, *chain[i].x509));
  }
  TRY(read_certificates(message.bundle, kMaxBundle, "the X.509-SVID's bundle"));

  svid.pair.chain = write_pem(chain);
  append_pem("PRIVATE KEY", message.private_key.reveal(), svid.pair.private_key);
  svid.spiffe_id = message.spiffe_id;
  svid.common_name = certified_user(leaf).name;
  return svid;
}

}  // namespace

Result<X509Svid> check_x509_svid(const X509SvidMessage& message, TimePoint now) {
  return check(message, now)
      .context("looking at the X.509-SVID of " + in_quotes(message.spiffe_id))
      .hint("the agent issued it like this: check how its server makes X.509-SVIDs");
}

Result<X509Svid> fetch_x509_svid(const WorkloadApi& api, const SvidChoice& choice,
                                 const Clock& clock) {
  const std::vector<X509SvidMessage> messages = TRY(api.fetch_x509_svids());
  std::vector<SvidCandidate> candidates;
  candidates.reserve(messages.size());
  for (const X509SvidMessage& message : messages) {
    candidates.push_back({.spiffe_id = message.spiffe_id, .hint = message.hint});
  }
  const std::size_t chosen = TRY(choose_svid(
      candidates, choice, [&messages](std::size_t place) { return user_of(messages[place]); }));
  return check_x509_svid(messages[chosen], clock.now());
}

}  // namespace execcred
