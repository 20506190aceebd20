// SPDX-License-Identifier: Apache-2.0
// The client that make_http_client() returns.
#pragma once

#include <execcred/http/curl_options.hpp>
#include <execcred/http/failure.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/reply.hpp>
#include <execcred/http/route.hpp>
#include <execcred/http/tls.hpp>

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace execcred {

class CurlClient : public HttpClient {
 public:
  // Once the descriptor `stop` can be read, a request without HttpRequest::stop ends. -1: never.
  explicit CurlClient(HttpSettings settings, int stop = -1)
      : settings_(std::move(settings)), stop_(stop) {}

  Result<HttpResponse> send(const HttpRequest& request) override;

 protected:
  // Changes the options of a request before it is sent.
  virtual void adjust(CurlOptions& /*options*/) {}
  // The time by which the transfer must have ended, asked again after each event.
  virtual std::chrono::steady_clock::time_point end() const {
    return std::chrono::steady_clock::time_point::max();
  }
  virtual Error explain(const HttpFailure& failure) const { return describe(failure); }

  // Null until the first request is prepared.
  const Tls* tls() const { return tls_.get(); }
  Tls* tls() { return tls_.get(); }

 private:
  using CurlOwner = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
  using MultiOwner = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;

  Status start();
  Status start_multi();
  Status start_tls();
  void set_transfer(CurlOptions& options, const HttpRequest& request, HttpReply& reply);
  void set_route(CurlOptions& options, const Url& url);
  void set_tls(CurlOptions& options) const;
  void set_message(CurlOptions& options, const HttpRequest& request, HeaderLines& lines) const;
  void transfer(const HttpRequest& request);
  bool is_cut(const HttpRequest& request, const HttpReply& reply) const;
  Error failure(const HttpRequest& request, const Url& url, HttpReply& reply);
  std::chrono::seconds retry_after(int status) const;

  // Connections are closed before tls_ is destroyed, because their callbacks refer to it.
  HttpSettings settings_;
  int stop_;
  std::unique_ptr<Tls> tls_;
  std::optional<Proxy> proxy_;
  std::optional<Host> server_name_;
  // With the connections. Outlives the transfer in it.
  MultiOwner multi_{nullptr, curl_multi_cleanup};
  CurlOwner curl_{nullptr, curl_easy_cleanup};
  std::array<char, CURL_ERROR_SIZE> detail_ = {};

  // The state of the request that is being sent.
  Duration limit_ = {};
  bool uses_proxy_ = false;
  bool uses_tls_ = false;
  CURLcode code_ = CURLE_OK;
  CURLMcode wait_code_ = CURLM_OK;
  int last_errno_ = 0;
  bool is_stopped_ = false;
};

}  // namespace execcred
