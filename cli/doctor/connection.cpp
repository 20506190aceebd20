// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/x509/certificate_fields.hpp>
#include <execcred/x509/openssl.hpp>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
constexpr std::size_t kMaxConnectReply = 16 * 1024;

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
             const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
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

std::string address_text(const sockaddr_storage& storage, socklen_t size) {
  std::array<char, NI_MAXHOST> host = {};
  const auto* const address = reinterpret_cast<const sockaddr*>(&storage);
  const int problem =
      getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return problem == 0 ? std::string(host.data()) : std::string("?");
}

// An attempt to connect that is under way.
struct Attempt {
  FileDescriptor socket;
  int problem = 0;
};

int start_connecting(const sockaddr_storage& storage, socklen_t size, Attempt& attempt) {
  attempt.socket.reset(socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!attempt.socket) return errno;
  const auto* const address = reinterpret_cast<const sockaddr*>(&storage);
  if (::connect(attempt.socket.get(), address, size) == 0 || errno == EINPROGRESS) return 0;
  return errno;
}

int problem_of(int descriptor) {
  int problem = 0;
  socklen_t size = sizeof problem;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &size);
  return problem;
}

}  // namespace

Connection::Waited Connection::wait(short events, TimePoint deadline) const {
  std::array<pollfd, 2> polled = {{{.fd = socket_.get(), .events = events, .revents = 0},
                                   {.fd = patience_.stop, .events = POLLIN, .revents = 0}}};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Waited::timed_out;
    const int ready = poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Waited::timed_out;
    return polled[1].revents != 0 ? Waited::stopped : Waited::ready;
  }
}

Result<std::string> Connection::resolve() {
  const Url& hop = next_hop();
  const bool is_proxy = route_.proxy.has_value();
  const std::string_view cause = is_proxy ? cause::kProxyFailed : cause::kNameUnknown;
  const std::string whose =
      (is_proxy ? "the proxy's name " : "the name ") + in_quotes(hop.host.name);
  const bool is_address = hop.host.kind == Host::Kind::address;
  std::string name = hop.host.name;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const auto lookup = std::make_shared<Lookup>();
  const std::string port = std::to_string(hop.port);
  if (is_address) {
    look_up(lookup, name, port, AI_NUMERICHOST);
  } else {
    try {
      std::thread(look_up, lookup, name, port, 0).detach();
    } catch (const std::system_error& problem) {
      return failed(cause, whose + " cannot be resolved: no thread can be started: " +
                               system_message(problem.code().value()));
    }
  }
  std::unique_lock<std::mutex> lock(lookup->mutex);
  const TimePoint end = deadline();
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
  std::vector<std::string> texts;
  for (const addrinfo* one = lookup->found; one != nullptr; one = one->ai_next) {
    if (addresses_.size() == kMostAddresses) break;
    Address address;
    if (one->ai_addrlen > sizeof address.storage) continue;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
    texts.push_back(address_text(address.storage, address.size));
    addresses_.push_back(address);
  }
  return is_address ? "an address" : in_quotes(name) + " is " + join(texts, ", ");
}

// Connects to all addresses at once, and keeps the first connection that succeeds.
Result<std::string> Connection::connect() {
  const auto started = std::chrono::steady_clock::now();
  const TimePoint end = deadline();
  std::vector<Attempt> attempts(addresses_.size());
  int problem = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    attempts[i].problem = start_connecting(addresses_[i].storage, addresses_[i].size, attempts[i]);
    if (attempts[i].problem != 0) attempts[i].socket.reset();
    if (attempts[i].problem != 0) problem = attempts[i].problem;
  }
  for (;;) {
    std::vector<pollfd> polled = {{.fd = patience_.stop, .events = POLLIN, .revents = 0}};
    for (const Attempt& attempt : attempts) {
      polled.push_back({.fd = attempt.socket.get(), .events = POLLOUT, .revents = 0});
    }
    const bool is_open = std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
      return static_cast<bool>(attempt.socket);
    });
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (!is_open || left.count() <= 0) break;
    const int ready = poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    if (polled.front().revents != 0) return stopped();
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (polled[i + 1].revents == 0) continue;
      problem = problem_of(attempts[i].socket.get());
      if (problem == 0) {
        socket_ = std::move(attempts[i].socket);
        const auto elapsed = std::chrono::round<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - started);
        return address_text(addresses_[i].storage, addresses_[i].size) + " after " +
               format_duration(elapsed);
      }
      attempts[i].socket.reset();
    }
  }
  const bool is_silent = std::any_of(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
    return static_cast<bool>(attempt.socket);
  });
  return connect_failure(is_silent ? ETIMEDOUT : problem);
}

Error Connection::connect_failure(int problem) const {
  const bool is_proxy = route_.proxy.has_value();
  const std::string peer =
      (is_proxy ? "the proxy " : "") + authority_of(next_hop().host, next_hop().port);
  if (problem == ETIMEDOUT) {
    return failed(
        is_proxy ? cause::kProxyFailed : cause::kConnectTimeout,
        "cannot connect to " + peer + ": no answer within " + format_duration(patience_.limit),
        "a firewall may drop what is sent there, or the machine is down");
  }
  const std::string_view cause = is_proxy                  ? cause::kProxyFailed
                                 : problem == ECONNREFUSED ? cause::kConnectRefused
                                                           : cause::kConnectFailed;
  return failed(cause, "cannot connect to " + peer + ": " + system_message(problem),
                problem == ECONNREFUSED ? "nothing listens there: check host and port" : "");
}

Result<std::string> Connection::open_tunnel() {
  if (!route_.proxy) return std::string("no proxy");
  const TimePoint end = deadline();
  const std::string name = origin_of(route_.proxy->url);
  if (route_.proxy->url.scheme == "https") {
    TRY(prepare_tls());
    outer_ = TRY(shake_hands(outer_context_, nullptr, false));
    active_ = outer_.get();
  }
  TRY(route_.proxy->url.scheme == "socks5" ? tunnel_by_socks(end) : tunnel_by_connect(end));
  return name + " leads to " + route_.authority();
}

Status Connection::tunnel_by_connect(TimePoint deadline) {
  const std::string target = route_.authority();
  const std::string name = "the proxy " + origin_of(route_.proxy->url);
  std::string request = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!route_.proxy->user.empty()) {
    std::string pair = route_.proxy->user + ":";
    pair += route_.proxy->password.reveal();
    request += "Proxy-Authorization: Basic " + encode_base64(pair) + "\r\n";
    wipe(pair);
  }
  request += "\r\n";
  const Status written = write_all(request, deadline);
  wipe(request);
  TRY(written);
  std::string reply;
  std::array<char, 2048> buffer = {};
  while (reply.find("\r\n\r\n") == std::string::npos && reply.size() < kMaxConnectReply) {
    const std::size_t count = TRY(read_some(buffer.data(), buffer.size(), deadline));
    if (count == 0) return failed(cause::kProxyFailed, name + " closed the connection");
    reply.append(buffer.data(), count);
  }
  const bool is_http = reply.starts_with("HTTP/1.") && reply.size() > 12 && is_digit(reply[9]) &&
                       is_digit(reply[10]) && is_digit(reply[11]);
  if (!is_http) {
    return failed(cause::kProxyFailed, name + " answered with something that is not HTTP/1.1",
                  "is it a proxy, and of this scheme?");
  }
  const std::string status = reply.substr(9, 3);
  if (status[0] == '2') return {};
  const bool may_pass = status[0] == '5' || status == "429" || status == "408";
  return failed(may_pass ? cause::kProxyFailed : cause::kProxyRefused,
                name + " does not connect to " + target + ": it answered " + status,
                status == "407" ? "put the proxy's user and password into its URL"
                : may_pass      ? "the proxy cannot reach the server"
                                : "the proxy's rules must allow this server and port");
}

namespace {

// The request CONNECT (RFC 1928, section 4). The proxy resolves the server's name, as it does for
// Go's clients.
std::string socks_request(const Url& server) {
  const Host& host = server.host;
  std::string request("\x05\x01\x00", 3);
  if (host.kind == Host::Kind::address) {
    request += host.address.v6 ? '\x04' : '\x01';
    request.append(reinterpret_cast<const char*>(host.address.bytes.data()),
                   host.address.v6 ? 16 : 4);
  } else {
    request += '\x03';
    request += static_cast<char>(host.name.size() & 0xffU);
    request += host.name;
  }
  request += static_cast<char>(server.port >> 8U);
  request += static_cast<char>(server.port & 0xffU);
  return request;
}

}  // namespace

Error Connection::socks_failure(std::string_view cause, const std::string& what) const {
  return failed(cause, "the proxy " + origin_of(route_.proxy->url) + " " + what,
                "is it a SOCKS5 proxy that allows this server?");
}

// Chooses the method (RFC 1928, section 3), and sends user and password (RFC 1929).
Status Connection::log_in_to_socks(TimePoint deadline) {
  const bool has_user = !route_.proxy->user.empty();
  TRY(write_all(
      has_user ? std::string_view("\x05\x02\x00\x02", 4) : std::string_view("\x05\x01\x00", 3),
      deadline));
  const std::string chosen = TRY(read_exactly(2, deadline));
  if (!chosen.starts_with('\x05'))
    return socks_failure(cause::kProxyFailed, "does not speak SOCKS5");
  if (chosen.ends_with('\x02') && has_user) {
    std::string login("\x01");
    login += static_cast<char>(route_.proxy->user.size() & 0xffU);
    login += route_.proxy->user;
    login += static_cast<char>(route_.proxy->password.size() & 0xffU);
    login += route_.proxy->password.reveal();
    const Status written = write_all(login, deadline);
    wipe(login);
    TRY(written);
    const std::string answer = TRY(read_exactly(2, deadline));
    if (!answer.ends_with('\0')) {
      return socks_failure(cause::kProxyRefused, "refuses user and password");
    }
  } else if (!chosen.ends_with('\0')) {
    return socks_failure(cause::kProxyRefused, "demands a login");
  }
  return {};
}

Status Connection::tunnel_by_socks(TimePoint deadline) {
  TRY(log_in_to_socks(deadline));
  TRY(write_all(socks_request(route_.server), deadline));
  const std::string answer = TRY(read_exactly(4, deadline));
  if (!answer.starts_with('\x05'))
    return socks_failure(cause::kProxyFailed, "does not speak SOCKS5");
  constexpr char kNotAllowed = '\x02';
  if (answer[1] != '\0') {
    return socks_failure(answer[1] == kNotAllowed ? cause::kProxyRefused : cause::kProxyFailed,
                         "does not connect to " + route_.authority() + ": code " +
                             std::to_string(static_cast<int>(answer[1])));
  }
  std::size_t rest = 6;
  if (answer[3] == '\x04') rest = 18;
  if (answer[3] == '\x03') {
    const std::string size = TRY(read_exactly(1, deadline));
    rest = static_cast<unsigned char>(size[0]) + 2U;
  }
  TRY(read_exactly(rest, deadline));
  return {};
}

Result<std::string> Connection::read_exactly(std::size_t size, TimePoint deadline) {
  std::string text(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const std::size_t count = TRY(read_some(text.data() + done, size - done, deadline));
    if (count == 0) {
      return failed(cause::kProxyFailed,
                    "the proxy " + origin_of(route_.proxy->url) + " closed the connection");
    }
    done += count;
  }
  return text;
}

Status Connection::prepare_tls() {
  if (tls_ == nullptr) {
    TRY(start_openssl());
    tls_ = TRY(Tls::make(route_.tls));
    TRY(tls_->load_roots());
  }
  std::vector<Host> peers;
  if (route_.proxy && route_.proxy->url.scheme == "https") peers.push_back(route_.proxy->url.host);
  peers.push_back(route_.verified);
  tls_->expect(std::move(peers));
  return {};
}

// Fails if the first byte that the server or the proxy sends does not begin a handshake or an alert
// of TLS. Does not fail if it sends nothing.
Status Connection::check_speaks_tls(bool is_server, TimePoint deadline) {
  char first = 0;
  const Waited waited = wait(POLLIN, deadline);
  if (waited != Waited::ready) return {};
  const ssize_t count = recv(socket_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  constexpr char kHandshake = 0x16;
  constexpr char kAlert = 0x15;
  if (count != 1 || first == kHandshake || first == kAlert) return {};
  const std::string peer = is_server ? route_.authority() : origin_of(route_.proxy->url);
  return failure_of(is_server, cause::kTlsNoHttps, peer + " answers, but does not speak TLS",
                    "is this the port of https?");
}

Result<Connection::SslOwner> Connection::shake_hands(SslContextOwner& context, SSL* outer,
                                                     bool is_server) {
  context.reset(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || !tls_->set_up(*context)) {
    ERR_clear_error();
    return failed(cause::kTlsFailed, "TLS cannot be set up for " + route_.authority());
  }
  if (is_server && route_.is_insecure) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  }
  SslOwner ssl(SSL_new(context.get()));
  if (ssl == nullptr) return no_memory_for_tls();
  const Host& host = host_of(is_server);
  std::string name = host.name;
  if (name.ends_with('.')) name.pop_back();
  if (host.kind == Host::Kind::name && !name.starts_with('[')) {
    // The macro SSL_set_tlsext_host_name, without its cast.
    SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  }
  if (outer == nullptr) {
    SSL_set_fd(ssl.get(), socket_.get());
  } else {
    BIO* const through = BIO_new(BIO_f_ssl());
    if (through == nullptr) return no_memory_for_tls();
    BIO_set_ssl(through, outer, BIO_NOCLOSE);
    SSL_set_bio(ssl.get(), through, through);
  }
  const TimePoint end = deadline();
  bool is_first_answer = outer == nullptr;
  for (;;) {
    errno = 0;
    const int done = SSL_connect(ssl.get());
    if (done == 1) return ssl;
    const int reason = SSL_get_error(ssl.get(), done);
    const bool wants_more = reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
    if (!wants_more) {
      return tls_failure(reason, is_server, SSL_get_pending_cipher(ssl.get()) != nullptr);
    }
    if (reason == SSL_ERROR_WANT_READ && std::exchange(is_first_answer, false)) {
      TRY(check_speaks_tls(is_server, end));
    }
    const Waited waited = wait(reason == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, end);
    if (waited == Waited::stopped) return stopped();
    if (waited == Waited::timed_out) {
      return failure_of(is_server, cause::kTlsFailed,
                        "the TLS handshake did not end within " + format_duration(patience_.limit),
                        "what answers there may not be an API server");
    }
  }
}

const Host& Connection::host_of(bool is_server) const {
  return is_server ? route_.verified : route_.proxy->url.host;
}

// The error of a handshake that ended because of the certificate of the proxy or the server.
Error Connection::certificate_failure(bool is_server) const {
  const TlsEvents& events = tls_->events();
  const std::string peer = is_server ? route_.authority() : origin_of(route_.proxy->url);
  const std::string of_subject = " of " + in_quotes(events.subject);
  if (is_untrusted(events.verify_error)) {
    return failure_of(
        is_server, cause::kTlsWrongCa,
        "the certificate" + of_subject + ", issued by " + in_quotes(events.issuer) +
            ", does not lead to " +
            (route_.tls.ca_certificates.empty() ? "a CA of this system" : "the cluster's CA"),
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

Error Connection::tls_failure(int reason, bool is_server, bool is_agreed) const {
  const int problem = errno;
  const TlsEvents& events = tls_->events();
  const unsigned long code = ERR_peek_error();
  const int openssl = ERR_GET_REASON(code);
  ERR_clear_error();
  const std::string peer = is_server ? route_.authority() : origin_of(route_.proxy->url);
  if (events.verify_error != X509_V_OK) return certificate_failure(is_server);
  if (is_refused() && events.wants_client_certificate) {
    return failure_of(
        is_server, cause::kTlsFailed,
        peer + " asked for a client certificate, and refused the handshake without one",
        "the credential needs a client certificate, of a CA that is trusted there");
  }
  const bool is_disagreement = events.alert == kHandshakeFailure && !is_agreed;
  if (is_refused() && !is_disagreement && is_server && tls_->has_client_certificate()) {
    return failure_of(is_server, cause::kTlsFailed,
                      peer + " refused the client certificate: " + alert_text(events.alert),
                      "it must be valid, and of a CA that is trusted there");
  }
  if (is_disagreement || is_other_version(events.alert, openssl)) {
    return failure_of(is_server, cause::kTlsProtocol,
                      peer + " and this side have no version or cipher of TLS in common",
                      "TLS 1.2 or newer is needed");
  }
  if (events.alert == kUnrecognizedName) {
    return failure_of(is_server, cause::kTlsWrongName,
                      peer + " knows no " + in_quotes(host_of(is_server).name),
                      is_server ? "check the server's name, and tls-server-name" : "check its URL");
  }
  if (events.alert >= 0) {
    return failure_of(is_server, cause::kTlsFailed,
                      peer + " refused the handshake: " + alert_text(events.alert));
  }
  // The server does not speak TLS, and its reply came before check_speaks_tls() was called.
  if (is_no_tls(openssl)) {
    return failure_of(is_server, cause::kTlsNoHttps, peer + " answers, but does not speak TLS",
                      "is this the port of https?");
  }
  if (reason == SSL_ERROR_SYSCALL || openssl == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return failure_of(is_server, cause::kTlsFailed,
                      peer + " closed the connection in the handshake" +
                          (problem == 0 ? "" : ": " + system_message(problem)),
                      "a load balancer without a server behind it does this");
  }
  const char* const text = ERR_reason_error_string(code);
  return failure_of(is_server, cause::kTlsFailed,
                    "the TLS handshake with " + peer +
                        " failed: " + (text == nullptr ? "OpenSSL does not say why" : text));
}

bool Connection::is_refused() const {
  return tls_ != nullptr && is_about_client_certificate(tls_->events().alert);
}

void Connection::take_peer(SSL& ssl) {
  peer_ = {};
  peer_.protocol = SSL_get_version(&ssl);
  if (X509* const leaf = SSL_get0_peer_certificate(&ssl)) {
    peer_.subject = text_of_name(X509_get_subject_name(leaf));
    peer_.not_after = time_of(X509_get0_notAfter(leaf));
  }
  const STACK_OF(X509)* const chain = SSL_get0_verified_chain(&ssl);
  if (chain != nullptr && sk_X509_num(chain) > 0) {
    const X509* const root = sk_X509_value(chain, sk_X509_num(chain) - 1);
    peer_.ca_subject = text_of_name(X509_get_subject_name(root));
    peer_.ca_not_after = time_of(X509_get0_notAfter(root));
  }
  const STACK_OF(X509_NAME)* const names = SSL_get0_peer_CA_list(&ssl);
  for (int i = 0; names != nullptr && i < sk_X509_NAME_num(names); ++i) {
    peer_.client_cas.push_back(der_of_name(sk_X509_NAME_value(names, i)));
  }
  peer_.wants_client_certificate = tls_->events().wants_client_certificate;
}

Result<std::string> Connection::handshake() {
  // With an https proxy, TLS was prepared for the handshake with the proxy.
  if (outer_ == nullptr) TRY(prepare_tls());
  ssl_ = TRY(shake_hands(context_, outer_.get(), true));
  active_ = ssl_.get();
  is_open_ = true;
  take_peer(*ssl_);
  std::string told = peer_.protocol + ", certificate of " + in_quotes(peer_.subject);
  if (peer_.not_after) told += " until " + format_rfc3339(*peer_.not_after);
  if (peer_.ca_not_after) {
    told += ", CA " + in_quotes(peer_.ca_subject) + " until " + format_rfc3339(*peer_.ca_not_after);
  }
  return told;
}

Status Connection::open() {
  if (addresses_.empty()) TRY(resolve());
  ssl_.reset();
  outer_.reset();
  active_ = nullptr;
  is_open_ = false;
  unread_.clear();
  TRY(connect());
  TRY(open_tunnel());
  TRY(handshake());
  return {};
}

}  // namespace execcred::doctor
