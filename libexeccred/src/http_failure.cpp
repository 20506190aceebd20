// SPDX-License-Identifier: Apache-2.0
#include "http_failure.hpp"

#include <execcred/text.hpp>

#include <cerrno>
#include <utility>

namespace execcred {
namespace {

using Kind = Error::Kind;

constexpr int kTooLarge = 100;  // CURLE_TOO_LARGE, since libcurl 8.6

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

Error timed_out(const HttpFailure& failure) {
  const std::string limit = format_duration(failure.timeout);
  if (failure.was_sent) {
    return unavailable("timed out: " + origin_of(failure.url) + " did not " +
                           (failure.has_reply ? "finish its reply" : "reply") + " within " + limit,
                       false);
  }
  return unavailable("timed out while connecting to " + next_hop(failure), true);
}

Error cut(const HttpFailure& failure) {
  const bool may_repeat = failure.is_safe_to_repeat || !failure.was_sent;
  if (failure.proxy != nullptr && !failure.was_sent) {
    return unavailable(proxy_name(failure) + " closed the connection", may_repeat);
  }
  return unavailable("the server at " + origin_of(failure.url) + " closed the connection " +
                         (failure.has_reply ? "in the middle of its reply" : "without a reply"),
                     may_repeat);
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

Error other(const HttpFailure& failure) {
  return unavailable("cannot talk to " + origin_of(failure.url) + ": " +
                         printable(curl_easy_strerror(failure.code)),
                     false);
}

}  // namespace

Error describe(const HttpFailure& failure) {
  if (failure.refusal != HttpReply::Refusal::none) return refused_reply(failure);
  if (failure.connect_status >= 300) return refused_by_proxy(failure);
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
      return not_http(failure);
    case CURLE_OUT_OF_MEMORY:  // what older versions say of a header line without an end
    case kTooLarge:
      return failure.was_sent ? head_too_large(failure) : other(failure);
    default:
      return other(failure);
  }
}

}  // namespace execcred
