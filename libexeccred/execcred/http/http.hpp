// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 requests (RFC 9110), one at a time, for credentials: without the convenience functions
// of a browser or a download tool.
//
// TLS is 1.2 or newer. The server is always verified, by its subject alternative names only. No
// redirect is followed; no .netrc, cookie or configuration file is read; no content is decoded. A
// proxy is used only if the settings name one. The size of a reply is limited while it arrives.
// Plain http is used only if a request allows it (metadata servers).
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

class Form;
class StopEvent;

struct HttpHeader {
  std::string name = {};
  SecretString value = {};
  bool is_secret = true;  // whether no message may show the value
};

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // checked and built with parse_url's parts; no user info
  std::vector<HttpHeader> headers = {};
  SecretString body = {};
  // What no message may show, beside the secret headers: the secrets of the body. A server may
  // repeat them (CallOutcome::secrets).
  SecretTexts secrets = {};
  bool allow_plain_http = false;
  // Opens the connection and sends nothing. The response is empty, with the status 0.
  bool only_connects = false;
  // True if the request contains a value that a server accepts only once, such as a refresh token.
  // Once any part of such a request was sent, it is never sent again, whatever the answer is.
  bool is_spent_by_sending = false;
  // True if the request is idempotent (RFC 9110, section 9.2.2), as GET and HEAD are without this.
  // It may use a kept connection: if the server has closed that in the meantime, it is sent again
  // on a new one. All other requests open a connection.
  bool is_idempotent = false;
  std::size_t max_reply_bytes = 1024 * 1024;
  std::optional<Duration> timeout = std::nullopt;  // of this request; else HttpSettings::timeout
  // The time by which the request must have ended, in addition to its timeout.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Receives the body of a 200 in parts as it arrives, without a size limit, instead of
  // HttpResponse::body: for a reply without an end, such as a watch. The first part is empty, and
  // arrives as soon as the headers are complete. If this returns false, the request ends without a
  // failure.
  std::function<bool(std::string_view)> receive = {};
  // An event that ends the request at once as a failure (unavailable, is_local, not transient). It
  // must outlive the request. Null if nothing ends the request early.
  const StopEvent* stop = nullptr;

  // Appends a header that messages may show. Neither part may contain control characters; send()
  // refuses them.
  void add_header(std::string_view name, std::string_view value);
  // Sets the body, and its secrets.
  void set_form(const Form& form);
};

// Marks `error` as the failure of a request that is spent by being sent: it is not transient, so no
// attempt follows. If it is unavailable and has no hint, its hint explains that.
Error spent(Error error);

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case
  SecretString body = {};
  // The pause that the server asks for with 429 or 503 (Retry-After, RFC 9110 section 10.2.3), at
  // most kLongestRetryAfter; 0 if there is none or libcurl does not understand it.
  std::chrono::seconds retry_after = {};

  // The value of the first header with that name, which must be in lower case; nullopt if there is
  // none. The view refers to this response.
  std::optional<std::string_view> header(std::string_view name) const;
};

struct TlsSettings {
  std::string ca_certificates = {};     // PEM; empty: those of the system
  std::string server_name = {};         // to verify instead of the URL's host
  std::string client_certificate = {};  // PEM, leaf first
  CopyableSecret client_key = {};       // PEM
};

// Reads a PEM file of CA certificates. Fails as read_file does, and (configuration) if the file
// contains no certificate: an empty ca_certificates would mean the system's.
Result<std::string> read_ca_file(const std::filesystem::path& path);

// The proxy is used for https only. Plain http is for metadata servers, and a proxy would answer in
// their place.
struct ProxySettings {
  std::string url = {};         // http://, https:// or socks5://, with user info; empty: none
  std::string exceptions = {};  // as NO_PROXY has them: names, addresses, networks, "*"
};

// Reads HTTPS_PROXY and NO_PROXY, or their lower-case spellings. As in Go, a loopback address never
// goes through the proxy.
ProxySettings proxy_of(const Environment& environment);

struct HttpSettings {
  TlsSettings tls = {};
  ProxySettings proxy = {};
  Duration timeout = std::chrono::seconds(30);  // of one request
  // The time by which all requests of the client must have ended.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // A reply with any status is a success. Fails (configuration) if the URL, a header or a PEM text
  // cannot be used; (unavailable) if there is no connection, TLS fails, the reply is cut, or time
  // runs out; (no_credential) if the reply is larger than the request allows or is not HTTP;
  // (internal) if libcurl cannot be set up. Error::is_transient marks failures after which the same
  // request may be sent again: failures that certainly happened before the server acted on it, and
  // for GET and HEAD also a cut connection. The failure of a request that is spent by being sent is
  // transient only if nothing of it was sent. Error::is_local marks failures of this machine.
  // Messages name the host and port, never a path, a header's value or a body.
  virtual Result<HttpResponse> send(const HttpRequest& request) = 0;
};

// Makes a client that uses libcurl; its first request initialises libcurl. A connection is kept for
// the next idempotent request to the same server. Other requests get a new connection, because
// libcurl would send the request twice if a kept connection is dead. The program must ignore
// SIGPIPE (set_up_process does).
std::unique_ptr<HttpClient> make_http_client(HttpSettings settings);
// The same, with the call's deadline as HttpSettings::deadline.
std::unique_ptr<HttpClient> make_http_client(HttpSettings settings, const CallContext& call);

}  // namespace execcred
