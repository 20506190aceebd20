// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/allocation.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/version.hpp>
#include <execcred/http/curl_client.hpp>
#include <execcred/http/request.hpp>
#include <execcred/os/stop_event.hpp>
#include <execcred/x509/openssl.hpp>

#include <curl/curl.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace execcred {
namespace {

constexpr std::chrono::seconds kConnectTimeout(10);
constexpr long kUploadBuffer = 16 * 1024;  // libcurl's minimum; it clears all of it

// Gives libcurl allocation functions that end the program if there is no memory and the program has
// a handler for that: libcurl reports some failed allocations as a reply that was cut or is too
// large.
CURLcode start_libcurl() {
  if (!has_memory_handler()) return curl_global_init(CURL_GLOBAL_ALL);
  return curl_global_init_mem(CURL_GLOBAL_ALL, allocate_or_end, std::free, reallocate_or_end,
                              duplicate_or_end, allocate_zeros_or_end);
}

// Initialises OpenSSL before libcurl does it: libcurl would also make libssl load its error texts.
Status start_libraries() {
  TRY(start_openssl());
  static const bool kIsReady = [] {
    constexpr std::uint64_t kOptions = OPENSSL_INIT_NO_LOAD_SSL_STRINGS |
                                       OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
                                       OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT;
    return OPENSSL_init_ssl(kOptions, nullptr) == 1 && start_libcurl() == CURLE_OK;
  }();
  if (kIsReady) return {};
  return Error::internal("cannot start libcurl");
}

bool is_safe_to_repeat(const HttpRequest& request) {
  return (request.method == "GET" || request.method == "HEAD") && !request.is_spent_by_sending;
}

// If the server closes a kept connection in the meantime, libcurl sends the request again.
bool may_use_kept_connection(const HttpRequest& request) {
  return is_safe_to_repeat(request) || (request.is_idempotent && !request.is_spent_by_sending);
}

Error stopped() {
  return Error{.kind = Error::Kind::unavailable,
               .message = "stopped before the reply was complete",
               .is_local = true};
}

// RFC 9110, section 7.2: the default port is left out.
std::string host_header(const Url& url) {
  const std::string authority = authority_of(url.host, url.port);
  return url.port == default_port(url.scheme) ? authority.substr(0, authority.rfind(':'))
                                              : authority;
}

std::size_t on_header(char* data, std::size_t /*one*/, std::size_t size, void* reply) {
  return static_cast<HttpReply*>(reply)->take_header_line({data, size}) ? size : 0;
}

std::size_t on_body(char* data, std::size_t /*one*/, std::size_t size, void* reply) {
  return static_cast<HttpReply*>(reply)->take_body({data, size}) ? size : 0;
}

// A reply whose body goes to the request's receiver.
struct StreamedReply {
  HttpReply& reply;
  const std::function<bool(std::string_view)>& receive;
  bool is_ended = false;  // by the receiver
};

std::size_t on_streamed_header(char* data, std::size_t /*one*/, std::size_t size, void* streamed) {
  auto& stream = *static_cast<StreamedReply*>(streamed);
  const bool was_complete = stream.reply.has_head();
  if (!stream.reply.take_header_line({data, size})) return 0;
  const bool is_first = !was_complete && stream.reply.has_head();
  if (!is_first || stream.reply.response().status != 200) return size;
  stream.is_ended = !stream.receive({});
  return stream.is_ended ? 0 : size;
}

std::size_t on_part(char* data, std::size_t /*one*/, std::size_t size, void* streamed) {
  auto& stream = *static_cast<StreamedReply*>(streamed);
  if (stream.reply.response().status != 200) return on_body(data, 1, size, &stream.reply);
  stream.is_ended = !stream.receive({data, size});
  return stream.is_ended ? 0 : size;
}

// A streamed reply may be silent for a long time although the other side is gone, so TCP keepalive
// is used.
void set_stream(CurlOptions& options, StreamedReply& stream) {
  constexpr int kIdle = 20;  // s, as the next
  constexpr int kInterval = 5;
  options.set(CURLOPT_HEADERFUNCTION, on_streamed_header);
  options.set(CURLOPT_HEADERDATA, &stream);
  options.set(CURLOPT_WRITEFUNCTION, on_part);
  options.set(CURLOPT_WRITEDATA, &stream);
  options.set(CURLOPT_TCP_KEEPALIVE, 1);
  options.set(CURLOPT_TCP_KEEPIDLE, kIdle);
  options.set(CURLOPT_TCP_KEEPINTVL, kInterval);
}

CURLcode on_tls_context(CURL* /*curl*/, void* context, void* tls) {
  return static_cast<Tls*>(tls)->set_up(*static_cast<SSL_CTX*>(context)) ? CURLE_OK
                                                                         : CURLE_SSL_CERTPROBLEM;
}

}  // namespace

Status CurlClient::start_multi() {
  if (multi_ != nullptr) return {};
  TRY(start_libraries());
  multi_.reset(curl_multi_init());
  if (multi_ == nullptr) return Error::internal("cannot start libcurl");
#if LIBCURL_VERSION_NUM >= 0x081600
  // Newer libcurls ask the multi handle for what CURLOPT_QUICK_EXIT says.
  curl_multi_setopt(multi_.get(), CURLMOPT_QUICK_EXIT, 1L);
#endif
  return {};
}

Status CurlClient::start() {
  TRY(start_multi());
  if (curl_ != nullptr) return {};
  if (!settings_.proxy.url.empty()) {
    Result<Proxy> proxy = parse_proxy(settings_.proxy.url);
    if (!proxy) return Error::configuration("the proxy's URL " + proxy.error().message);
    proxy_ = std::move(proxy).value();
  }
  if (!settings_.tls.server_name.empty()) {
    Result<Host> host = parse_host(settings_.tls.server_name);
    if (!host) return Error::configuration("the TLS server name " + host.error().message);
    server_name_ = *std::move(host);
  }
  curl_.reset(curl_easy_init());
  if (curl_ == nullptr) return Error::internal("cannot start libcurl");
  return {};
}

Status CurlClient::start_tls() {
  if (tls_ != nullptr) return {};
  tls_ = TRY(Tls::make(settings_.tls));
  return {};
}

void CurlClient::set_transfer(CurlOptions& options, const HttpRequest& request, HttpReply& reply) {
  // At least 1 ms, because 0 means no limit for libcurl.
  const auto deadline = std::min(settings_.deadline, request.deadline);
  limit_ = std::max<Duration>(std::min<Duration>(request.timeout.value_or(settings_.timeout),
                                                 deadline - std::chrono::steady_clock::now()),
                              std::chrono::milliseconds(1));
  const std::int64_t timeout = std::chrono::ceil<std::chrono::milliseconds>(limit_).count();
  const auto connect_timeout =
      std::min<std::int64_t>(timeout, std::chrono::milliseconds(kConnectTimeout).count());
  options.set(CURLOPT_ERRORBUFFER, detail_.data());
  options.set(CURLOPT_NOSIGNAL, 1);
#if LIBCURL_VERSION_NUM >= 0x075700
  // Does not wait for the thread of a name look-up that hangs.
  options.set(CURLOPT_QUICK_EXIT, 1);
#endif
  options.set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout));
  options.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout));
  options.set(CURLOPT_PROTOCOLS_STR, request.allow_plain_http ? "http,https" : "https");
  options.set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  options.set(CURLOPT_HTTP09_ALLOWED, 0);
  options.set(CURLOPT_FOLLOWLOCATION, 0);
  options.set(CURLOPT_HEADERFUNCTION, on_header);
  options.set(CURLOPT_HEADERDATA, &reply);
  options.set(CURLOPT_WRITEFUNCTION, on_body);
  options.set(CURLOPT_WRITEDATA, &reply);
}

void CurlClient::set_route(CurlOptions& options, const Url& url) {
  // Plain http is for metadata servers, and a proxy would answer in their place.
  uses_proxy_ = proxy_ && uses_tls_ && !is_proxy_exception(settings_.proxy.exceptions, url);
  const Host& host = uses_tls_ && server_name_ ? *server_name_ : url.host;
  options.set(CURLOPT_URL, text_of_url(url, host));
  options.set(CURLOPT_PATH_AS_IS, 1);
  options.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1);
  options.set(CURLOPT_NOPROXY, "");
  if (!uses_proxy_) {
    options.set(CURLOPT_PROXY, "");  // not what the environment says
    return;
  }
  // socks5h: the proxy resolves the name, as in Go.
  const std::string scheme = proxy_->url.scheme == "socks5" ? "socks5h" : proxy_->url.scheme;
  options.set(CURLOPT_PROXY, scheme + "://" + authority_of(proxy_->url.host, proxy_->url.port));
  options.set(CURLOPT_HTTPPROXYTUNNEL, 1);
  options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
  options.set(CURLOPT_PROXYAUTH, CURLAUTH_BASIC);
  if (!proxy_->user.empty()) options.set(CURLOPT_PROXYUSERNAME, proxy_->user);
  if (!proxy_->password.empty()) {
    std::string password(proxy_->password.reveal());
    options.set(CURLOPT_PROXYPASSWORD, password);
    wipe(password);
  }
}

void CurlClient::set_tls(CurlOptions& options) const {
  // Without this, libcurl would load its own default CA files too.
  for (const CURLoption option :
       {CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH}) {
    options.set(option, static_cast<const char*>(nullptr));
  }
  options.set(CURLOPT_CA_CACHE_TIMEOUT, 0);
  options.set(CURLOPT_SSL_SESSIONID_CACHE, 0);
  for (const CURLoption option : {CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION}) {
    options.set(option, long{CURL_SSLVERSION_TLSv1_2});
  }
  for (const CURLoption option : {CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER}) {
    options.set(option, 1);
  }
  for (const CURLoption option : {CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST}) {
    options.set(option, 2);
  }
  options.set(CURLOPT_SSL_CTX_FUNCTION, on_tls_context);
  options.set(CURLOPT_SSL_CTX_DATA, tls_.get());
}

void CurlClient::set_message(CurlOptions& options, const HttpRequest& request,
                             HeaderLines& lines) const {
  const std::string_view body = request.body.reveal();
  bool has_type = false;
  for (const HttpHeader& header : request.headers) {
    has_type = has_type || ascii_lower(header.name) == "content-type";
    lines.add(header.name, header.value.reveal());
  }
  lines.leave_out("Expect");
  if (!has_type) lines.leave_out("Content-Type");
  if (request.method == "HEAD") {
    options.set(CURLOPT_NOBODY, 1);
  } else if (!body.empty() || request.method == "POST" || request.method == "PUT" ||
             request.method == "PATCH") {
    options.set(CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
    options.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  }
  options.set(CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
  options.set(CURLOPT_CUSTOMREQUEST, request.method);
  if (!may_use_kept_connection(request)) options.set(CURLOPT_FRESH_CONNECT, 1);
  options.set(CURLOPT_USERAGENT, std::string("execcred/") + kVersion);
  options.set(CURLOPT_HEADEROPT, long{CURLHEADER_SEPARATE});
}

// Does what curl_easy_perform does, which reports a failed wait as a wrong argument.
void CurlClient::transfer(const HttpRequest& request) {
  // libcurl ends a wait sooner where it has a timer.
  constexpr std::chrono::milliseconds kLongestWait(1000);
  const int stop = request.stop != nullptr ? request.stop->descriptor() : stop_;
  curl_waitfd stop_socket = {.fd = stop, .events = CURL_WAIT_POLLIN, .revents = 0};
  bool is_late = false;
  code_ = CURLE_OK;
  is_stopped_ = request.stop != nullptr && request.stop->is_requested();
  if (is_stopped_) return;
  errno = 0;
  int running = 1;
  wait_code_ = curl_multi_add_handle(multi_.get(), curl_.get());
  while (wait_code_ == CURLM_OK && running > 0 && !is_stopped_ && !is_late) {
    const auto left = std::min<Duration>(end() - std::chrono::steady_clock::now(), kLongestWait);
    is_late = left <= Duration::zero();
    if (is_late) break;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    wait_code_ = curl_multi_poll(multi_.get(), &stop_socket, stop >= 0 ? 1 : 0,
                                 static_cast<int>(wait), nullptr);
    if (wait_code_ == CURLM_OK) wait_code_ = curl_multi_perform(multi_.get(), &running);
    is_stopped_ = running > 0 && stop_socket.revents != 0;
  }
  last_errno_ = errno;
  int left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left);
  const bool has_result = wait_code_ == CURLM_OK && !is_stopped_;
  if (has_result) code_ = message != nullptr ? message->data.result : CURLE_FAILED_INIT;
  if (is_late) code_ = CURLE_OPERATION_TIMEDOUT;
  curl_multi_remove_handle(multi_.get(), curl_.get());
}

// Whether the reply was cut in a way that libcurl accepts: an end within the headers, or an end
// without close_notify although the end of the connection is the end of the body. An attacker on
// the network could cause these.
bool CurlClient::is_cut(const HttpRequest& request, const HttpReply& reply) const {
  if (!reply.has_head()) return true;
  return uses_tls_ && reply.ends_with_connection(request.method) &&
         !tls_->events().has_close_notify;
}

Error CurlClient::failure(const HttpRequest& request, const Url& url, HttpReply& reply) {
  // libcurl may keep the connection of a request that it could not send, without reading from it.
  // When it closes the connection, it reads the alert of TLS that says why the peer has closed.
  if (uses_tls_) multi_.reset();
  long system_error = 0;
  long connect_status = 0;
  long socks_failure = CURLPX_OK;
  long request_size = 0;  // a CONNECT counts too
  long new_connections = 0;
  curl_easy_getinfo(curl_.get(), CURLINFO_OS_ERRNO, &system_error);
  curl_easy_getinfo(curl_.get(), CURLINFO_HTTP_CONNECTCODE, &connect_status);
  curl_easy_getinfo(curl_.get(), CURLINFO_PROXY_ERROR, &socks_failure);
  curl_easy_getinfo(curl_.get(), CURLINFO_REQUEST_SIZE, &request_size);
  curl_easy_getinfo(curl_.get(), CURLINFO_NUM_CONNECTS, &new_connections);
  const bool is_connected = !uses_tls_ || new_connections == 0 || tls_->events().is_connected;
  const std::string detail = detail_.data();
  return explain({.code = code_,
                  .wait_code = wait_code_,
                  .detail = detail,
                  .url = url,
                  .verified_host = server_name_ ? *server_name_ : url.host,
                  .proxy = uses_proxy_ ? &*proxy_ : nullptr,
                  .tls = uses_tls_ ? tls_.get() : nullptr,
                  .refusal = reply.refusal(),
                  .has_reply = reply.has_begun(),
                  .was_sent = request_size > 0 && is_connected,
                  .is_safe_to_repeat = is_safe_to_repeat(request),
                  .is_spent_by_sending = request.is_spent_by_sending,
                  .system_error = static_cast<int>(system_error),
                  .last_errno = last_errno_,
                  .connect_status = static_cast<int>(connect_status),
                  .socks_failure = static_cast<CURLproxycode>(socks_failure),
                  .max_reply_bytes = request.max_reply_bytes,
                  .timeout = limit_});
}

// With other statuses, the header does not say that the same request may succeed later.
std::chrono::seconds CurlClient::retry_after(int status) const {
  constexpr auto kLongest = std::chrono::duration_cast<std::chrono::seconds>(kLongestRetryAfter);
  if (status != 429 && status != 503) return {};
  curl_off_t seconds = 0;  // less for a date that is past
  curl_easy_getinfo(curl_.get(), CURLINFO_RETRY_AFTER, &seconds);
  return std::clamp(std::chrono::seconds(seconds), std::chrono::seconds(0), kLongest);
}

Result<HttpResponse> CurlClient::send(const HttpRequest& request) {
  const Url url = TRY(parse_target(request));
  TRY(check_request(request));
  TRY(start());
  uses_tls_ = url.scheme == "https";
  if (uses_tls_) TRY(start_tls());

  curl_easy_reset(curl_.get());
  detail_.fill('\0');
  HttpReply reply(request.max_reply_bytes);
  HeaderLines lines;
  CurlOptions options(curl_.get());
  set_transfer(options, request, reply);
  StreamedReply stream{.reply = reply, .receive = request.receive};
  if (request.receive) set_stream(options, stream);
  set_route(options, url);
  if (uses_tls_) {
    set_tls(options);
    std::vector<Host> peers;
    if (uses_proxy_ && proxy_->url.scheme == "https") peers.push_back(proxy_->url.host);
    peers.push_back(server_name_ ? *server_name_ : url.host);
    tls_->expect(std::move(peers));
    if (server_name_) lines.add("Host", host_header(url));
  }
  const std::string connect_to = "::" + authority_of(url.host, url.port);
  curl_slist target = {.data = const_cast<char*>(connect_to.c_str()), .next = nullptr};
  if (uses_tls_ && server_name_) options.set(CURLOPT_CONNECT_TO, &target);
  set_message(options, request, lines);
  options.set(CURLOPT_HTTPHEADER, lines.list());
  if (request.only_connects) options.set(CURLOPT_CONNECT_ONLY, 1);
  adjust(options);
  TRY(options.status());

  transfer(request);
  if (is_stopped_) {
    curl_easy_reset(curl_.get());
    return stopped();
  }
  if (uses_tls_) TRY(tls_->load_roots());
  if (stream.is_ended) code_ = CURLE_OK;
  const bool has_ended = code_ == CURLE_OK && wait_code_ == CURLM_OK;
  const bool has_reply = !stream.is_ended && !request.only_connects;
  if (has_ended && has_reply && is_cut(request, reply)) code_ = CURLE_PARTIAL_FILE;
  const bool is_good = has_ended && code_ == CURLE_OK;
  reply.response().retry_after = retry_after(reply.response().status);
  Result<HttpResponse> result = is_good ? Result<HttpResponse>(std::move(reply.response()))
                                        : Result<HttpResponse>(failure(request, url, reply));
  curl_easy_reset(curl_.get());  // nothing may refer to this call any more
  return result;
}

std::unique_ptr<HttpClient> make_http_client(HttpSettings settings) {
  return std::make_unique<CurlClient>(std::move(settings));
}

std::unique_ptr<HttpClient> make_http_client(HttpSettings settings, const CallContext& call) {
  settings.deadline = call.deadline;
  return make_http_client(std::move(settings));
}

}  // namespace execcred
