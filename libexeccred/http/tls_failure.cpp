// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/text.hpp>
#include <execcred/http/failure.hpp>
#include <execcred/http/root_survey.hpp>

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/tls1.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace execcred {
namespace {

constexpr int kHandshakeFailure = 40;  // RFC 8446, section 6
constexpr int kBadCertificate = 42;
constexpr int kProtocolVersion = 70;
constexpr int kCertificateRequired = 116;

Error failed(std::string message, std::string hint = {}) {
  return Error{
      .kind = Error::Kind::unavailable, .message = std::move(message), .hint = std::move(hint)};
}

// With an https proxy the first handshake is with that.
bool is_with_proxy(const HttpFailure& failure) {
  return failure.proxy != nullptr && failure.proxy->url.scheme == "https" &&
         failure.tls->handshakes() <= 1;
}

std::string peer_of(const HttpFailure& failure) {
  return is_with_proxy(failure) ? "the proxy " + origin_of(failure.proxy->url)
                                : origin_of(failure.url);
}

// "error:0A00010B:SSL routines::…", which libcurl took off OpenSSL's queue; the words are not
// loaded.
unsigned long openssl_code(std::string_view detail) {
  constexpr std::string_view kMark = "error:";
  const std::size_t mark = detail.rfind(kMark);
  if (mark == std::string_view::npos) return 0;
  const std::string_view digits = detail.substr(mark + kMark.size(), 8);
  unsigned long code = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return code;
}

int openssl_reason(std::string_view detail) { return ERR_GET_REASON(openssl_code(detail)); }

std::string_view alert_name(int alert) {
  switch (alert) {
    case kHandshakeFailure:
      return "handshake failure";
    case kBadCertificate:
      return "bad certificate";
    case 43:
      return "unsupported certificate";
    case 44:
      return "certificate revoked";
    case 45:
      return "certificate expired";
    case 46:
      return "certificate unknown";
    case 48:
      return "unknown CA";
    case 49:
      return "access denied";
    case 51:
      return "decrypt error";
    case kProtocolVersion:
      return "protocol version";
    case 71:
      return "insufficient security";
    case 80:
      return "internal error";
    case 112:
      return "unrecognized name";
    case kCertificateRequired:
      return "certificate required";
    default:
      return "";
  }
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> quoted;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i)
    quoted.push_back(in_quotes(names[i]));
  const std::size_t left = names.size() - quoted.size();
  return join(quoted, ", ") + (left > 0 ? " and " + std::to_string(left) + " more" : "");
}

Error wrong_name(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  const Host& wanted = is_with_proxy(failure) ? failure.proxy->url.host : failure.verified_host;
  const std::string head = "cannot verify " + peer_of(failure) + ": its certificate ";
  if (events.names.empty()) {
    return failed(head + "has no subject alternative names",
                  "a common name is not enough: issue the certificate with " +
                      in_quotes(wanted.name) + " as an alternative name");
  }
  return failed(head + "is for " + names_text(events.names) + ", not for " +
                in_quotes(wanted.name));
}

std::string trust_hint(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  const std::string issuer = in_quotes(events.issuer);
  if (!failure.tls->uses_system_roots()) {
    return "the CA certificates that were given do not know " + issuer;
  }
  return "the system's CA certificates, of " + survey_roots(system_root_paths()).text +
         ", do not know " + issuer + ": pass its certificate";
}

bool is_trust_problem(int problem) {
  switch (problem) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return true;
    default:
      return false;
  }
}

// Known only now where there are files that hold no certificate.
bool has_no_roots(const HttpFailure& failure) {
  return failure.tls->uses_system_roots() && is_trust_problem(failure.tls->events().verify_error) &&
         survey_roots(system_root_paths()).certificates == 0;
}

Error not_verified(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  const int problem = events.verify_error;
  if (has_no_roots(failure)) return no_roots(system_root_paths());
  std::string what = X509_verify_cert_error_string(problem);
  std::string hint;
  switch (problem) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return wrong_name(failure);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      hint = "that of " + in_quotes(events.subject) + " ended at " + events.not_after;
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      what = "certificate is not yet valid";
      hint = "that of " + in_quotes(events.subject) + " begins at " + events.not_before +
             "; check the clock";
      break;
    default:
      if (is_trust_problem(problem)) hint = trust_hint(failure);
      break;
  }
  return failed("cannot verify " + peer_of(failure) + ": " + what, hint);
}

Error too_old(const HttpFailure& failure) {
  return failed(peer_of(failure) + " speaks no TLS 1.2 or newer");
}

Error alerted(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  const std::string peer = peer_of(failure);
  if (events.alert == kProtocolVersion) return too_old(failure);
  const std::string_view name = alert_name(events.alert);
  const std::string alert =
      name.empty() ? "alert " + std::to_string(events.alert) : std::string(name);
  const bool is_about_client = events.alert == kHandshakeFailure ||
                               events.alert == kBadCertificate ||
                               events.alert == kCertificateRequired;
  if (events.wants_client_certificate && is_about_client) {
    return failed(peer + " wants a client certificate (TLS: " + alert + ")");
  }
  if (failure.tls->has_client_certificate() && events.alert >= kBadCertificate &&
      events.alert <= 49) {
    return failed(peer + " refused the client certificate (TLS: " + alert + ")");
  }
  return failed(peer + " refused TLS: " + alert);
}

Error broken_handshake(const HttpFailure& failure) {
  const std::string peer = peer_of(failure);
  const int reason = openssl_reason(failure.detail);
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
      return too_old(failure);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
      return failed(peer + " does not speak TLS", "check host and port, or write http://");
    case SSL_R_DH_KEY_TOO_SMALL:
    case SSL_R_EE_KEY_TOO_SMALL:
    case SSL_R_CA_KEY_TOO_SMALL:
    case SSL_R_CA_MD_TOO_WEAK:
    case SSL_R_WRONG_SIGNATURE_TYPE:
      return failed(peer + " uses keys that are too weak");
    case 0:
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: {
      Error error = failed(peer + " closed the connection during the TLS handshake");
      error.is_transient = true;
      return error;
    }
    default:
      return failed("TLS with " + peer + " failed: OpenSSL's reason " + std::to_string(reason));
  }
}

}  // namespace

bool is_local_tls_failure(const HttpFailure& failure) {
  const unsigned long code = openssl_code(failure.detail);
  return ERR_FATAL_ERROR(code) != 0 || ERR_GET_LIB(code) == ERR_LIB_RAND ||
         failure.detail == "Insufficient randomness";
}

bool is_tls_failure(const HttpFailure& failure) {
  if (failure.tls == nullptr) return false;
  const TlsEvents& events = failure.tls->events();
  return events.verify_error != X509_V_OK || events.alert >= 0 ||
         failure.code == CURLE_SSL_CONNECT_ERROR || failure.code == CURLE_PEER_FAILED_VERIFICATION;
}

Error describe_tls(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  if (events.verify_error == X509_V_ERR_OUT_OF_MEM) return no_memory_for_tls();
  if (events.verify_error != X509_V_OK) return not_verified(failure);
  if (events.alert >= 0) return alerted(failure);
  // libcurl's own check of the name, which is looser than ours.
  if (failure.code == CURLE_PEER_FAILED_VERIFICATION) {
    return failed("cannot verify " + peer_of(failure));
  }
  return broken_handshake(failure);
}

}  // namespace execcred
