// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/failure.hpp>

#include <execcred/base/text.hpp>

#include <cerrno>
#include <utility>

namespace execcred {
namespace {

using Kind = Error::Kind;

constexpr int kTooLarge = 100;  // CURLE_TOO_LARGE, since libcurl 8.6
// How libcurl's message begins where poll failed within a transfer.
constexpr std::string_view kPollFailed = "select/poll";

Error unavailable(std::string message, bool is_transient) {
  return Error{
      .kind = Kind::unavailable, .message = std::move(message), .is_transient = is_transient};
}

Error not_usable(std::string message, std::string hint = {}) {
  return Error{.kind = Kind::no_credential, .message = std::move(message), .hint = std::move(hint)};
}

std::string proxy_name(const HttpFailure& failure) {
  return "the proxy " + origin_of(failure.proxy->url);
}

// Whom libcurl was connecting to.
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

// After which another attempt is the next run's.
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
  return not_usable("the reply of " + origin_of(failure.url) + " has more than 64 KiB of headers");
}

Error not_http(const HttpFailure& failure) {
  return not_usable(origin_of(failure.url) + " answered with something that is not HTTP/1.1",
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
  return not_usable("the reply of " + origin_of(failure.url) + " is larger than " +
                    size_text(failure.max_reply_bytes));
}

// Of a libcurl that has a code of its own for what is too large.
bool has_code_for_too_large() {
  constexpr unsigned kSince = 0x080600;
  return curl_version_info(CURLVERSION_NOW)->version_num >= kSince;
}

bool is_out_of_memory(const HttpFailure& failure) {
  if (failure.code != CURLE_OUT_OF_MEMORY) return false;
  // Older versions say it of a header line without an end, too.
  return !failure.was_sent || has_code_for_too_large();
}

// The errno value of the call that failed for a reason on this machine; 0 if none did.
int local_errno(const HttpFailure& failure) {
  if (failure.wait_code != CURLM_OK) return failure.last_errno;
  // Whatever libcurl and OpenSSL made of it.
  if (failure.last_errno == ENOMEM) return ENOMEM;
  const bool was_connecting = failure.code == CURLE_COULDNT_CONNECT;
  const bool is_of_socket = was_connecting || failure.code == CURLE_SSL_CONNECT_ERROR ||
                            failure.code == CURLE_RECV_ERROR || failure.code == CURLE_SEND_ERROR;
  if (!is_of_socket) return 0;
  // libcurl does not keep why there was no socket, or no way to wait for it.
  const bool is_kept = failure.system_error != 0 || !was_connecting;
  const int problem = is_kept ? failure.system_error : failure.last_errno;
  const bool is_progress = problem == EINPROGRESS || problem == EAGAIN || problem == EINTR;
  return is_network_failure(problem) || (!is_kept && is_progress) ? 0 : problem;
}

// Whether libcurl stopped for something that the other side has no part in.
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

// What no server brings about.
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
      return Error{.kind = Kind::configuration,
                   .message = "the client's certificate cannot be used",
                   .hint = "its key or a signature may be too weak for TLS"};
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

}  // namespace execcred
