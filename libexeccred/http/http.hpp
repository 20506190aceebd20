// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 requests (RFC 9110), one at a time, for credentials: without the convenience functions
// of a browser or a download tool.
//
// TLS 1.2 or newer, the server always verified, by its subject alternative names alone. No
// redirect is followed, no .netrc, cookie or configuration file read, no content decoded; proxies
// only where the settings name them. Replies are bounded while they arrive. Plain http only where
// a request says so (metadata servers).
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/copyable_secret.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

class StopEvent;

struct HttpHeader {
  std::string name = {};
  SecretString value = {};
};

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // checked and built with parse_url's parts; no user info
  std::vector<HttpHeader> headers = {};
  SecretString body = {};
  bool allow_plain_http = false;
  // Contains something that a server accepts only once, like a refresh token: never sent again,
  // whatever the answer is.
  bool is_spent_by_sending = false;
  std::size_t max_reply_bytes = 1024 * 1024;
  std::optional<Duration> timeout = std::nullopt;  // of this request; else HttpSettings::timeout
  // When it must have ended, whatever its timeout.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Gets the body of a 200 in parts as it arrives, without a size limit, instead of
  // HttpResponse::body: for a reply without an end, like a watch. The first part is empty, and
  // comes as soon as the headers are complete. Returning false ends the request without a failure.
  std::function<bool(std::string_view)> receive = {};
  // When requested, ends the request at once as a failure (unavailable, is_local, not transient).
  // Must outlive the request; null: nothing does.
  const StopEvent* stop = nullptr;

  // Appends a header. Neither part may hold control characters; send() refuses them.
  void add_header(std::string_view name, std::string_view value);
};

// For the failure of a spent request: no attempt follows, and the hint says so.
Error spent(Error error);

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case
  SecretString body = {};
  // The pause that the server asks for (Retry-After, RFC 9110 section 10.2.3), at most a day; 0 if
  // there is none, or libcurl does not understand it.
  std::chrono::seconds retry_after = {};

  // The first header of that name (lower case).
  std::optional<std::string_view> header(std::string_view name) const;
};

struct TlsSettings {
  std::string ca_certificates = {};     // PEM; empty: those of the system
  std::string server_name = {};         // to verify instead of the URL's host
  std::string client_certificate = {};  // PEM, leaf first
  CopyableSecret client_key = {};       // PEM
};

// The PEM of a file of CA certificates. Fails as read_file does, and (configuration) where no
// certificate is in it: an empty ca_certificates means the system's.
Result<std::string> read_ca_file(const std::filesystem::path& path);

// For https only: plain http is for metadata servers, and a proxy would answer instead of them.
struct ProxySettings {
  std::string url = {};         // http://, https:// or socks5://, with user info; empty: none
  std::string exceptions = {};  // as NO_PROXY has them: names, addresses, networks, "*"
};

// HTTPS_PROXY and NO_PROXY, or their lower-case spellings. As in Go, loopback is never proxied.
ProxySettings proxy_of(const Environment& environment);

struct HttpSettings {
  TlsSettings tls = {};
  ProxySettings proxy = {};
  Duration timeout = std::chrono::seconds(30);  // of one request
  // When the last of all requests ends.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // A reply of any status is a response. Fails with unavailable (no connection, TLS, cut reply,
  // time-out), with no_credential (a reply larger than asked for, or no HTTP), or with
  // configuration (a URL, header or PEM that cannot be used). Error::is_transient marks failures
  // after which the same request may be sent again: those that certainly happened before the server
  // acted on it, and for GET also a cut connection. The failure of a request that is spent by being
  // sent is transient only if nothing of it was sent. Error::is_local marks failures of this
  // machine. Messages name host and port, never a path, header or body.
  virtual Result<HttpResponse> send(const HttpRequest& request) = 0;
};

// By libcurl, which is started by the first request. Connections are kept for the next GET or HEAD
// to the same server; other methods get a new one, because libcurl would send the request twice if
// a kept connection is dead. The program must ignore SIGPIPE (set_up_process does).
std::unique_ptr<HttpClient> make_http_client(HttpSettings settings);
// The same, whose requests end with the call.
std::unique_ptr<HttpClient> make_http_client(HttpSettings settings, const CallContext& call);

}  // namespace execcred
