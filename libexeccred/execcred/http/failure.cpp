// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/failure.hpp>

#include <execcred/base/text.hpp>
#include <execcred/http/system_roots.hpp>

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/tls1.h>
#include <openssl/x509_vfy.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

namespace execcred {
namespace {

using Kind = Error::Kind;

constexpr int kTooLarge = 100;  // CURLE_TOO_LARGE, since libcurl 8.6
// The beginning of libcurl's message if poll failed within a transfer.
constexpr std::string_view kPollFailed = "select/poll";

Error unavailable(std::string message, bool is_transient) {
  return Error{
      .kind = Kind::unavailable, .message = std::move(message), .is_transient = is_transient};
}

std::string proxy_name(const HttpFailure& failure) {
  return "the proxy " + origin_of(failure.proxy->url);
}

// The host that libcurl was connecting to: the proxy's if there is a proxy.
std::string next_hop(const HttpFailure& failure) {
  return failure.proxy != nullptr ? proxy_name(failure) : origin_of(failure.url);
}

Error cannot_resolve(const std::string& whose, const Host& host) {
  Error error = unavailable("cannot resolve " + whose + in_quotes(host.name), true);
  error.hint = "check the name, and that DNS works here";
  return error;
}

Error cannot_connect(const HttpFailure& failure) {
  std::string message = "cannot connect to " + next_hop(failure);
  if (failure.system_error != 0) message += ": " + system_message(failure.system_error);
  return unavailable(std::move(message), true);
}

Error refused_by_proxy(const HttpFailure& failure) {
  const int status = failure.connect_status;
  const bool may_pass = status == 429 || status == 502 || status == 503 || status == 504;
  Error error = unavailable(proxy_name(failure) + " did not connect to " +
                                authority_of(failure.url.host, failure.url.port) +
                                ": it answered " + std::to_string(status),
                            may_pass);
  if (status == 407) error.hint = "put the proxy's user and password into its URL";
  return error;
}

// Applies spent() to the failure of a request that is spent by being sent.
Error sent(const HttpFailure& failure, Error error) {
  return failure.is_spent_by_sending ? spent(std::move(error)) : error;
}

Error timed_out(const HttpFailure& failure) {
  const std::string limit = format_duration(failure.timeout);
  if (failure.was_sent) {
    return sent(failure, unavailable("timed out: " + origin_of(failure.url) + " did not " +
                                         (failure.has_reply ? "finish its reply" : "reply") +
                                         " within " + limit,
                                     false));
  }
  return unavailable("timed out while connecting to " + next_hop(failure), true);
}

Error cut(const HttpFailure& failure) {
  const bool may_repeat = failure.is_safe_to_repeat || !failure.was_sent;
  if (failure.proxy != nullptr && !failure.was_sent) {
    return unavailable(proxy_name(failure) + " closed the connection", may_repeat);
  }
  Error error =
      unavailable("the server at " + origin_of(failure.url) + " closed the connection " +
                      (failure.has_reply ? "in the middle of its reply" : "without a reply"),
                  may_repeat);
  return failure.was_sent ? sent(failure, std::move(error)) : error;
}

Error head_too_large(const HttpFailure& failure) {
  return Error::no_credential("the reply of " + origin_of(failure.url) +
                              " has more than 64 KiB of headers");
}

Error not_http(const HttpFailure& failure) {
  return Error::no_credential(
      origin_of(failure.url) + " answered with something that is not HTTP/1.1",
      "check host and port");
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kKib = 1024;
  if (bytes >= kKib * kKib && bytes % (kKib * kKib) == 0) {
    return std::to_string(bytes / (kKib * kKib)) + " MiB";
  }
  if (bytes >= kKib && bytes % kKib == 0) return std::to_string(bytes / kKib) + " KiB";
  return std::to_string(bytes) + " bytes";
}

Error refused_reply(const HttpFailure& failure) {
  if (failure.refusal == HttpReply::Refusal::head_too_large) return head_too_large(failure);
  if (failure.refusal == HttpReply::Refusal::not_http) return not_http(failure);
  return Error::no_credential("the reply of " + origin_of(failure.url) + " is larger than " +
                              size_text(failure.max_reply_bytes));
}

// Whether this version of libcurl has CURLE_TOO_LARGE.
bool has_code_for_too_large() {
  constexpr unsigned kSince = 0x080600;
  return curl_version_info(CURLVERSION_NOW)->version_num >= kSince;
}

bool is_out_of_memory(const HttpFailure& failure) {
  if (failure.code != CURLE_OUT_OF_MEMORY) return false;
  // Older versions of libcurl also return this code for a header line without an end.
  return !failure.was_sent || has_code_for_too_large();
}

// The errno value of the call that failed for a reason on this machine; 0 if none did.
int local_errno(const HttpFailure& failure) {
  if (failure.wait_code != CURLM_OK) return failure.last_errno;
  // A lack of memory is local, whatever libcurl and OpenSSL report for it.
  if (failure.last_errno == ENOMEM) return ENOMEM;
  const bool was_connecting = failure.code == CURLE_COULDNT_CONNECT;
  const bool is_of_socket = was_connecting || failure.code == CURLE_SSL_CONNECT_ERROR ||
                            failure.code == CURLE_RECV_ERROR || failure.code == CURLE_SEND_ERROR;
  if (!is_of_socket) return 0;
  // libcurl does not keep the errno value if it could not make a socket, or could not wait for it.
  const bool is_kept = failure.system_error != 0 || !was_connecting;
  const int problem = is_kept ? failure.system_error : failure.last_errno;
  const bool is_progress = problem == EINPROGRESS || problem == EAGAIN || problem == EINTR;
  return is_network_failure(problem) || (!is_kept && is_progress) ? 0 : problem;
}

// Whether libcurl stopped for a reason on this machine.
bool is_local(const HttpFailure& failure) {
  return failure.wait_code != CURLM_OK || is_out_of_memory(failure) || local_errno(failure) != 0 ||
         failure.detail.starts_with(kPollFailed) ||
         (failure.code == CURLE_SSL_CONNECT_ERROR && is_local_tls_failure(failure));
}

Error local(const HttpFailure& failure) {
  const bool was_connecting = failure.code == CURLE_COULDNT_CONNECT;
  std::string reason;
  if (const int known = local_errno(failure); known != 0) {
    reason = system_message(known);
  } else if (failure.wait_code != CURLM_OK) {
    reason = printable(curl_multi_strerror(failure.wait_code));
  } else if (failure.code == CURLE_SSL_CONNECT_ERROR) {
    reason = "OpenSSL lacks memory or random bytes";
  } else {
    reason = printable(curl_easy_strerror(failure.code));
  }
  Error error = unavailable((was_connecting ? "cannot connect to " + next_hop(failure)
                                            : "cannot talk to " + origin_of(failure.url)) +
                                ", for a reason on this machine: " + reason,
                            failure.is_safe_to_repeat || !failure.was_sent);
  error.is_local = true;
  return failure.was_sent ? sent(failure, std::move(error)) : error;
}

// Failures that no server can cause.
Error other(const HttpFailure& failure) {
  Error error = unavailable("cannot talk to " + origin_of(failure.url) + ": " +
                                printable(curl_easy_strerror(failure.code)),
                            false);
  error.is_local = true;
  return error;
}

}  // namespace

Error describe(const HttpFailure& failure) {
  if (failure.refusal != HttpReply::Refusal::none) return refused_reply(failure);
  if (failure.connect_status >= 300) return refused_by_proxy(failure);
  if (is_local(failure)) return local(failure);
  if (is_tls_failure(failure)) return describe_tls(failure);
  switch (static_cast<int>(failure.code)) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return cannot_resolve("", failure.url.host);
    case CURLE_COULDNT_RESOLVE_PROXY:
      return cannot_resolve("the proxy ",
                            failure.proxy != nullptr ? failure.proxy->url.host : failure.url.host);
    case CURLE_COULDNT_CONNECT:
      return cannot_connect(failure);
    case CURLE_PROXY:
      return unavailable(proxy_name(failure) + " did not connect to " +
                             authority_of(failure.url.host, failure.url.port),
                         true);
    case CURLE_SSL_CERTPROBLEM:
      if (failure.tls == nullptr || !failure.tls->has_client_certificate()) return other(failure);
      return Error::configuration("the client's certificate cannot be used",
                                  "its key or a signature may be too weak for TLS");
    case CURLE_OPERATION_TIMEDOUT:
      return timed_out(failure);
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_WRITE_ERROR:  // a header line that was cut
      return cut(failure);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_BAD_FUNCTION_ARGUMENT:  // what its header parser says of a malformed line
      return failure.was_sent ? not_http(failure) : other(failure);
    case CURLE_OUT_OF_MEMORY:  // what older versions say of a header line without an end
    case kTooLarge:
      return failure.was_sent ? head_too_large(failure) : other(failure);
    default:
      return other(failure);
  }
}

unsigned long openssl_code(std::string_view detail) {
  constexpr std::string_view kMark = "error:";
  const std::size_t mark = detail.rfind(kMark);
  if (mark == std::string_view::npos) return 0;
  const std::string_view digits = detail.substr(mark + kMark.size(), 8);
  unsigned long code = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return code;
}

namespace {

// Whether the last handshake was with the proxy: with an https proxy, the first one is.
bool is_with_proxy(const HttpFailure& failure) {
  return failure.proxy != nullptr && failure.proxy->url.scheme == "https" &&
         failure.tls->handshakes() <= 1;
}

std::string peer_of(const HttpFailure& failure) {
  return is_with_proxy(failure) ? "the proxy " + origin_of(failure.proxy->url)
                                : origin_of(failure.url);
}

Error wrong_name(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  const Host& wanted = is_with_proxy(failure) ? failure.proxy->url.host : failure.verified_host;
  const std::string head = "cannot verify " + peer_of(failure) + ": its certificate ";
  if (events.names.empty()) {
    return Error::unavailable(head + "has no subject alternative names",
                              "a common name is not enough: issue the certificate with " +
                                  in_quotes(wanted.name) + " as an alternative name");
  }
  return Error::unavailable(head + "is for " + quoted_list(events.names, 3) + ", not for " +
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

// Whether the system has no CA certificate at all. That there are files, but without a certificate,
// is detected only here.
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
  return Error::unavailable("cannot verify " + peer_of(failure) + ": " + what, hint);
}

Error too_old(const HttpFailure& failure) {
  return Error::unavailable(peer_of(failure) + " speaks no TLS 1.2 or newer");
}

Error alerted(const HttpFailure& failure) {
  const TlsEvents& events = failure.tls->events();
  const std::string peer = peer_of(failure);
  if (events.alert == kProtocolVersion) return too_old(failure);
  const std::string alert = alert_text(events.alert);
  const bool is_about_client = is_about_client_certificate(events.alert);
  if (failure.tls->lacks_client_certificate() && is_about_client) {
    return Error::unavailable(peer + " wants a client certificate (TLS: " + alert + ")");
  }
  if (failure.tls->has_client_certificate() && is_about_client &&
      events.alert != kHandshakeFailure) {
    return Error::unavailable(peer + " refused the client certificate (TLS: " + alert + ")");
  }
  return Error::unavailable(peer + " refused TLS: " + alert);
}

Error broken_handshake(const HttpFailure& failure) {
  const std::string peer = peer_of(failure);
  const int reason = ERR_GET_REASON(openssl_code(failure.detail));
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
      return too_old(failure);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
      return Error::unavailable(peer + " does not speak TLS", "check host and port");
    case SSL_R_DH_KEY_TOO_SMALL:
    case SSL_R_EE_KEY_TOO_SMALL:
    case SSL_R_CA_KEY_TOO_SMALL:
    case SSL_R_CA_MD_TOO_WEAK:
    case SSL_R_WRONG_SIGNATURE_TYPE:
      return Error::unavailable(peer + " uses keys that are too weak");
    case 0:
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: {
      Error error = Error::unavailable(peer + " closed the connection during the TLS handshake");
      error.is_transient = true;
      return error;
    }
    default:
      return Error::unavailable("TLS with " + peer + " failed: OpenSSL's reason " +
                                std::to_string(reason));
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
  // libcurl's own check of the name, which is less strict than execcred's.
  if (failure.code == CURLE_PEER_FAILED_VERIFICATION) {
    return Error::unavailable("cannot verify " + peer_of(failure));
  }
  return broken_handshake(failure);
}

}  // namespace execcred
