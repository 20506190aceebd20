// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/x509/certificate_fields.hpp>

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace execcred::doctor {
namespace {

constexpr std::size_t kMostAddresses = 8;
constexpr std::size_t kMaxReply = 1024 * 1024;

Error failed(std::string_view cause, std::string message, std::string hint = {}) {
  return Error{.kind = Error::Kind::unavailable,
               .message = std::move(message),
               .hint = std::move(hint),
               .cause = cause};
}

// Whatever a proxy's failure is, its cause is the proxy.
Error failure_of(bool is_server, std::string_view cause, std::string message,
                 std::string hint = {}) {
  return failed(is_server ? cause : cause::kProxyFailed, std::move(message), std::move(hint));
}

bool is_other_version(int alert, int reason) {
  return alert == kProtocolVersion || alert == kInsufficientSecurity ||
         reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_WRONG_SSL_VERSION ||
         reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION;
}

bool is_no_tls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_PACKET_LENGTH_TOO_LONG;
}

// Whether the chain does not lead to a CA that is trusted.
bool is_untrusted(int verify_error) {
  constexpr std::array kErrors = {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
                                  X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                                  X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
                                  X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
                                  X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                                  X509_V_ERR_CERT_SIGNATURE_FAILURE,
                                  X509_V_ERR_CERT_UNTRUSTED,
                                  X509_V_ERR_AKID_SKID_MISMATCH,
                                  X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH,
                                  X509_V_ERR_SUBJECT_ISSUER_MISMATCH};
  return std::find(kErrors.begin(), kErrors.end(), verify_error) != kErrors.end();
}

Error stopped() {
  return Error{.kind = Error::Kind::unavailable, .message = "it was interrupted", .is_local = true};
}

// The result of getaddrinfo(). The call cannot be interrupted, so a separate thread makes it, and
// may outlive the caller.
struct Lookup {
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
  int problem = 0;
  int error_number = 0;
  addrinfo* found = nullptr;

  ~Lookup() {
    if (found != nullptr) freeaddrinfo(found);
  }
};

void look_up(const std::shared_ptr<Lookup>& lookup, const std::string& name,
             const std::string& port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int problem = getaddrinfo(name.c_str(), port.c_str(), &hints, &found);
  const int error_number = errno;
  const std::lock_guard<std::mutex> lock(lookup->mutex);
  lookup->problem = problem;
  lookup->error_number = error_number;
  lookup->found = found;
  lookup->is_done = true;
  lookup->done.notify_all();
}

std::string address_text(const sockaddr& address, socklen_t size) {
  std::array<char, NI_MAXHOST> host = {};
  const int problem =
      getnameinfo(&address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return problem == 0 ? std::string(host.data()) : std::string("?");
}

constexpr const char* kNobodyListens = "nothing listens there: check host and port";

}  // namespace

Status Connection::resolve() {
  const Url& hop = next_hop();
  const bool is_proxy = route_.proxy.has_value();
  const std::string& name = hop.host.name;
  // An address with a zone is a name in brackets.
  if (hop.host.kind == Host::Kind::address || name.starts_with('[')) {
    seen_[StepId::name] = "an address";
    return {};
  }
  const std::string_view cause = is_proxy ? cause::kProxyFailed : cause::kNameUnknown;
  const std::string whose = (is_proxy ? "the proxy's name " : "the name ") + in_quotes(name);
  const auto lookup = std::make_shared<Lookup>();
  const std::string port = std::to_string(hop.port);
  try {
    std::thread(look_up, lookup, name, port).detach();
  } catch (const std::system_error& problem) {
    return failed(cause, whose + " cannot be resolved: no thread can be started: " +
                             system_message(problem.code().value()));
  }
  std::unique_lock<std::mutex> lock(lookup->mutex);
  const TimePoint end = step_end_.value_or(std::chrono::steady_clock::now() + patience_.limit);
  constexpr std::chrono::milliseconds kGlance(50);
  while (!lookup->is_done && std::chrono::steady_clock::now() < end) {
    lookup->done.wait_until(lock, std::min(end, std::chrono::steady_clock::now() + kGlance));
    pollfd stop = {.fd = patience_.stop, .events = POLLIN, .revents = 0};
    if (patience_.stop >= 0 && poll(&stop, 1, 0) == 1) return stopped();
  }
  const std::string hint = "check the name, and that DNS works here";
  if (!lookup->is_done) {
    return failed(cause, whose + " was not resolved within " + format_duration(patience_.limit),
                  hint);
  }
  if (lookup->problem != 0) {
    const std::string why = lookup->problem == EAI_SYSTEM ? system_message(lookup->error_number)
                                                          : gai_strerror(lookup->problem);
    return failed(cause, whose + " cannot be resolved: " + why, hint);
  }
  std::vector<std::string> addresses;
  for (const addrinfo* one = lookup->found; one != nullptr; one = one->ai_next) {
    if (addresses.size() == kMostAddresses) break;
    addresses.push_back(address_text(*one->ai_addr, one->ai_addrlen));
  }
  resolved_ = name + ":" + port + ":" + join(addresses, ",");
  seen_[StepId::name] = in_quotes(name) + " is " + join(addresses, ", ");
  return {};
}

const std::string* Connection::seen(StepId step) const {
  const auto found = seen_.find(step);
  return found == seen_.end() ? nullptr : &found->second;
}

bool Connection::is_refused() const {
  return tls() != nullptr && is_about_client_certificate(tls()->events().alert);
}

void Connection::adjust(CurlOptions& options) {
  // libcurl gives a half of its limit to an address that is not the last. end() is the limit of the
  // request, and comes before it.
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(patience_.limit * 5 / 4);
  options.set(CURLOPT_TIMEOUT_MS, 0);
  options.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit.count()));
  options.set(CURLOPT_FRESH_CONNECT, 0);
  if (!resolved_.empty()) {
    resolve_list_.data = resolved_.data();
    options.set(CURLOPT_RESOLVE, &resolve_list_);
  }
  options.set(CURLOPT_OPENSOCKETFUNCTION, on_socket);
  options.set(CURLOPT_OPENSOCKETDATA, this);
  options.set(CURLOPT_SSL_CTX_FUNCTION, on_tls);
  options.set(CURLOPT_SSL_CTX_DATA, this);
  if (route_.is_insecure) {
    options.set(CURLOPT_SSL_VERIFYPEER, 0);
    options.set(CURLOPT_SSL_VERIFYHOST, 0);
  }
  tls()->watch([this](const SSL& ssl) { take_peer(ssl); });
}

curl_socket_t Connection::on_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  auto& connection = *static_cast<Connection*>(self);
  if (connection.attempts_.empty()) {
    connection.start_ = std::chrono::steady_clock::now();
    for (const StepId step : {StepId::connect, StepId::proxy, StepId::tls}) {
      connection.seen_.erase(step);
    }
  }
  Attempt attempt;
  attempt.socket = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  attempt.size = std::min<socklen_t>(address->addrlen, sizeof attempt.address);
  std::memcpy(&attempt.address, &address->addr, attempt.size);
  connection.attempts_.push_back(attempt);
  return attempt.socket;
}

// libcurl has closed the other sockets, and other threads may use their numbers.
std::string Connection::connected_address() const {
  for (const Attempt& attempt : attempts_) {
    sockaddr_storage peer = {};
    socklen_t size = sizeof peer;
    auto* const address = reinterpret_cast<sockaddr*>(&peer);
    if (getpeername(attempt.socket, address, &size) == 0 && size == attempt.size &&
        std::memcmp(&peer, &attempt.address, size) == 0) {
      return address_text(*address, size);
    }
  }
  return "an address";
}

// A handshake begins, with the proxy or the server.
CURLcode Connection::on_tls(CURL* /*curl*/, void* context, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  auto& tls_context = *static_cast<SSL_CTX*>(context);
  Tls& tls = *connection.tls();
  const bool is_ready = tls.set_up(tls_context);
  if (!tls.is_with_server()) return is_ready ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
  const Route& route = connection.route_;
  const auto elapsed = std::chrono::round<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - connection.start_);
  connection.seen_[StepId::connect] =
      connection.connected_address() + " after " + format_duration(elapsed);
  connection.seen_[StepId::proxy] =
      route.proxy ? origin_of(*route.proxy) + " leads to " + route.authority() : "no proxy";
  if (route.is_insecure) SSL_CTX_set_verify(&tls_context, SSL_VERIFY_NONE, nullptr);
  return is_ready ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
}

void Connection::take_peer(const SSL& ssl) {
  peer_ = {};
  peer_.protocol = SSL_get_version(&ssl);
  if (X509* const leaf = SSL_get0_peer_certificate(&ssl)) {
    peer_.subject = text_of_name(X509_get_subject_name(leaf));
    peer_.not_after = time_of(X509_get0_notAfter(leaf));
  }
  // Without verification, OpenSSL has a chain too, of whatever the server sent.
  const STACK_OF(X509)* const chain = route_.is_insecure ? nullptr : SSL_get0_verified_chain(&ssl);
  if (chain != nullptr && sk_X509_num(chain) > 0) {
    const X509* const root = sk_X509_value(chain, sk_X509_num(chain) - 1);
    peer_.ca_subject = text_of_name(X509_get_subject_name(root));
    peer_.ca_not_after = time_of(X509_get0_notAfter(root));
  }
  const STACK_OF(X509_NAME)* const names = SSL_get0_peer_CA_list(&ssl);
  for (int i = 0; names != nullptr && i < sk_X509_NAME_num(names); ++i) {
    peer_.client_cas.push_back(der_of_name(sk_X509_NAME_value(names, i)));
  }
  peer_.asks_for_client_certificate = tls()->events().asks_for_client_certificate;
  std::string& seen = seen_[StepId::tls];
  seen = peer_.protocol + ", certificate of " + in_quotes(peer_.subject);
  if (peer_.not_after) seen += " until " + format_rfc3339(*peer_.not_after);
  if (peer_.ca_not_after) {
    seen += ", CA " + in_quotes(peer_.ca_subject) + " until " + format_rfc3339(*peer_.ca_not_after);
  }
  if (!step_end_) start_step();
}

Result<HttpResponse> Connection::go(HttpRequest request, std::string_view path) {
  if (seen(StepId::name) == nullptr) TRY(resolve());
  request.url = origin_of(route_.server) + route_.server.path + std::string(path);
  request.max_reply_bytes = kMaxReply;
  request.timeout = patience_.limit;
  attempts_.clear();
  way_end_ = std::chrono::steady_clock::now() + patience_.limit;
  return send(request);
}

Status Connection::open() {
  TRY(go({.only_connects = true}, {}));
  return {};
}

Result<HttpResponse> Connection::exchange(HttpRequest request, std::string_view path,
                                          const SecretString& token) {
  if (!token.empty()) {
    if (route_.is_insecure) {
      return Error{.message = "a credential is not sent to a server that is not verified"};
    }
    SecretString bearer("Bearer ");
    bearer.append(token.reveal());
    request.headers.push_back({.name = "Authorization", .value = std::move(bearer)});
  }
  return go(std::move(request), path);
}

Error Connection::explain(const HttpFailure& failure) const {
  const bool is_open = seen(StepId::tls) != nullptr;
  const bool is_at_server = seen(StepId::proxy) != nullptr;
  const bool is_tls = is_at_server ? !is_open : is_tls_failure(failure);
  if (is_tls || is_refused()) return tls_failure(failure);
  if (!is_open) return route_.proxy ? proxy_failure(failure) : connect_failure(failure);
  Error error = describe(failure);
  const bool is_no_api = error.kind == Error::Kind::no_credential;
  error.cause = is_no_api ? cause::kNotAKubernetesApi : cause::kServerError;
  if (is_no_api) error.hint = "is this the address of a Kubernetes API server?";
  return error;
}

Error Connection::connect_failure(const HttpFailure& failure) const {
  if (failure.code == CURLE_OPERATION_TIMEDOUT || failure.system_error == ETIMEDOUT) {
    return failed(cause::kConnectTimeout,
                  "cannot connect to " + route_.authority() + ": no answer within " +
                      format_duration(patience_.limit),
                  "a firewall may drop what is sent there, or the machine is down");
  }
  Error error = describe(failure);
  const bool is_refusal = failure.system_error == ECONNREFUSED;
  error.cause = is_refusal ? cause::kConnectRefused : cause::kConnectFailed;
  if (is_refusal) error.hint = kNobodyListens;
  return error;
}

namespace {

struct SocksFailure {
  std::string_view cause = cause::kProxyFailed;
  std::string what = "closed the connection";
};

SocksFailure socks_failure(CURLproxycode code, const std::string& target) {
  const std::string no = "does not connect to " + target + ": ";
  switch (code) {
    case CURLPX_BAD_VERSION:
      return {.what = "does not speak SOCKS5"};
    case CURLPX_USER_REJECTED:
      return {.cause = cause::kProxyRefused, .what = "refuses user and password"};
    case CURLPX_NO_AUTH:
    case CURLPX_UNKNOWN_MODE:
    case CURLPX_GSSAPI:
    case CURLPX_GSSAPI_PERMSG:
      return {.cause = cause::kProxyRefused, .what = "demands a login"};
    case CURLPX_REPLY_NOT_ALLOWED:
      return {.cause = cause::kProxyRefused, .what = no + "its rules do not allow it"};
    case CURLPX_REPLY_NETWORK_UNREACHABLE:
      return {.what = no + system_message(ENETUNREACH)};
    case CURLPX_REPLY_HOST_UNREACHABLE:
      return {.what = no + system_message(EHOSTUNREACH)};
    case CURLPX_REPLY_CONNECTION_REFUSED:
      return {.what = no + system_message(ECONNREFUSED)};
    case CURLPX_REPLY_TTL_EXPIRED:
      return {.what = no + system_message(ETIMEDOUT)};
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE:
    case CURLPX_REPLY_COMMAND_NOT_SUPPORTED:
    case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED:
    case CURLPX_REPLY_UNASSIGNED:
      return {.what = no + "it does not say why"};
    default:
      return {};
  }
}

}  // namespace

Error Connection::proxy_failure(const HttpFailure& failure) const {
  const std::string name = "the proxy " + origin_of(*route_.proxy);
  const int status = failure.connect_status;
  if (failure.code == CURLE_OPERATION_TIMEDOUT) {
    return failed(cause::kProxyFailed, name + " has not connected to " + route_.authority() +
                                           " within " + format_duration(patience_.limit));
  }
  if (failure.code == CURLE_PROXY) {
    const SocksFailure socks = socks_failure(failure.socks_failure, route_.authority());
    return failed(socks.cause, name + " " + socks.what,
                  "is it a SOCKS5 proxy that allows this server?");
  }
  Error error = describe(failure);
  error.cause = cause::kProxyFailed;
  if (failure.system_error == ECONNREFUSED) {
    error.hint = kNobodyListens;
  } else if (status >= 300) {
    const bool may_pass = is_passing_status(status);
    if (!may_pass) error.cause = cause::kProxyRefused;
    if (status != 407) {
      error.hint = may_pass ? "the proxy cannot reach the server"
                            : "the proxy's rules must allow this server and port";
    }
  } else if (failure.code == CURLE_RECV_ERROR) {
    error.message += ", or answered with something that is not HTTP/1.1";
    error.hint = "is it a proxy, and of this scheme?";
  }
  return error;
}

// The error of a handshake that ended because of the certificate of the proxy or the server.
Error Connection::certificate_failure(bool is_server, const std::string& peer) const {
  const TlsEvents& events = tls()->events();
  const std::string of_subject = " of " + in_quotes(events.subject);
  if (is_untrusted(events.verify_error)) {
    return failure_of(
        is_server, cause::kTlsWrongCa,
        "the certificate" + of_subject + ", issued by " + in_quotes(events.issuer) +
            ", does not lead to " +
            (route_.http.tls.ca_certificates.empty() ? "a CA of this system" : "the cluster's CA"),
        "certificate-authority-data must hold the CA of the server's certificate");
  }
  switch (events.verify_error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return failure_of(
          is_server, cause::kTlsWrongName,
          "the certificate of " + peer + " is not for " + in_quotes(host_of(is_server).name) +
              " but for " + (events.names.empty() ? "no name" : join(events.names, ", ")),
          std::string(is_server
                          ? "the server's name in the ClusterProfile, or its tls-server-name, "
                          : "the host of the proxy's URL ") +
              "must be one of these");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return failure_of(is_server, cause::kTlsExpired,
                        "the certificate" + of_subject + " ended at " + events.not_after,
                        "renew the server's certificate, or check this machine's clock");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return failure_of(is_server, cause::kTlsExpired,
                        "the certificate" + of_subject + " begins at " + events.not_before,
                        "check the clocks of this machine and the server's");
    case X509_V_ERR_UNSPECIFIED:
    case X509_V_ERR_OUT_OF_MEM:
      return failure_of(is_server, cause::kTlsFailed,
                        "the certificate" + of_subject + " was not verified: " +
                            X509_verify_cert_error_string(events.verify_error));
    // Everything else is a rule that a certificate breaks, and only another certificate helps.
    default:
      return failure_of(is_server, cause::kTlsWrongCa,
                        "the certificate" + of_subject + " cannot be used: " +
                            X509_verify_cert_error_string(events.verify_error),
                        "the server, or the CA that issued it, needs another certificate");
  }
}

// The error of a handshake that the peer has ended by an alert.
Error Connection::alert_failure(bool is_server, const std::string& peer) const {
  const TlsEvents& events = tls()->events();
  if (is_refused() && tls()->lacks_client_certificate()) {
    return failure_of(
        is_server, cause::kTlsFailed,
        peer + " asked for a client certificate, and refused the handshake without one",
        "the credential needs a client certificate, of a CA that is trusted there");
  }
  if (is_refused() && is_server && tls()->has_client_certificate()) {
    return failure_of(is_server, cause::kTlsFailed,
                      peer + " refused the client certificate: " + alert_text(events.alert),
                      "it must be valid, and of a CA that is trusted there");
  }
  if (events.alert == kUnrecognizedName) {
    return failure_of(is_server, cause::kTlsWrongName,
                      peer + " knows no " + in_quotes(host_of(is_server).name),
                      is_server ? "check the server's name, and tls-server-name" : "check its URL");
  }
  return failure_of(is_server, cause::kTlsFailed,
                    peer + " refused the handshake: " + alert_text(events.alert));
}

Error Connection::tls_failure(const HttpFailure& failure) const {
  const TlsEvents& events = tls()->events();
  const unsigned long code = openssl_code(failure.detail);
  const int reason = ERR_GET_REASON(code);
  const bool is_server = tls()->is_with_server();
  const std::string peer = is_server ? route_.authority() : origin_of(*route_.proxy);
  if (failure.code == CURLE_SSL_CERTPROBLEM) {
    return failed(cause::kTlsFailed, "TLS cannot be set up for " + peer);
  }
  if (events.verify_error != X509_V_OK) return certificate_failure(is_server, peer);
  const bool is_disagreement = events.alert == kHandshakeFailure && !events.is_agreed;
  const bool lacks_certificate = is_refused() && tls()->lacks_client_certificate();
  if (!lacks_certificate && (is_disagreement || is_other_version(events.alert, reason))) {
    return failure_of(is_server, cause::kTlsProtocol,
                      peer + " and this side have no version or cipher of TLS in common",
                      "TLS 1.2 or newer is needed");
  }
  if (events.alert >= 0) return alert_failure(is_server, peer);
  if (is_no_tls(reason)) {
    return failure_of(is_server, cause::kTlsNoHttps, peer + " answers, but does not speak TLS",
                      "is this the port of https?");
  }
  if (failure.code == CURLE_OPERATION_TIMEDOUT) {
    return failure_of(is_server, cause::kTlsFailed,
                      "the TLS handshake did not end within " + format_duration(patience_.limit),
                      "what answers there may not be an API server");
  }
  if (code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return failure_of(is_server, cause::kTlsFailed,
                      peer + " closed the connection in the handshake",
                      "a load balancer without a server behind it does this");
  }
  return failure_of(is_server, cause::kTlsFailed, describe_tls(failure).message);
}

}  // namespace execcred::doctor
