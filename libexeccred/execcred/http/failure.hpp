// SPDX-License-Identifier: Apache-2.0
// Translates libcurl's and OpenSSL's errors of a request into messages with a remedy.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/error.hpp>
#include <execcred/http/reply.hpp>
#include <execcred/http/route.hpp>
#include <execcred/http/tls.hpp>

#include <curl/curl.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace execcred {

struct HttpFailure {
  CURLcode code = CURLE_OK;
  CURLMcode wait_code = CURLM_OK;
  std::string detail = {};  // CURLOPT_ERRORBUFFER
  const Url& url;
  const Host& verified_host;  // the URL's, or TlsSettings::server_name
  const Proxy* proxy = nullptr;
  const Tls* tls = nullptr;  // where TLS was spoken
  HttpReply::Refusal refusal = HttpReply::Refusal::none;
  bool has_reply = false;          // some of it
  bool was_sent = false;           // perhaps only a part
  bool is_safe_to_repeat = false;  // GET and HEAD
  bool is_spent_by_sending = false;
  int system_error = 0;    // CURLINFO_OS_ERRNO: of the last call on a socket that failed
  int last_errno = 0;      // as libcurl left it
  int connect_status = 0;  // the proxy's answer to CONNECT
  CURLproxycode socks_failure = CURLPX_OK;
  std::size_t max_reply_bytes = 0;
  Duration timeout = {};
};

Error describe(const HttpFailure& failure);

// The part of describe() for failures of TLS. `failure.tls` must not be null.
Error describe_tls(const HttpFailure& failure);

// The code in libcurl's text of an OpenSSL error, "error:0A00010B:SSL routines::…"; 0 if there is
// none. libcurl has removed the error from OpenSSL's queue, and OpenSSL's error texts are not
// loaded.
unsigned long openssl_code(std::string_view detail);

// Whether OpenSSL failed because it lacked memory or random bytes, or with an internal error.
bool is_local_tls_failure(const HttpFailure& failure);

// Whether OpenSSL's callbacks or libcurl reported a failure of TLS.
bool is_tls_failure(const HttpFailure& failure);

}  // namespace execcred
