// SPDX-License-Identifier: Apache-2.0
// Google's endpoints on loopback, under their own names: a proxy connects every name to one
// server, whose certificate is valid for them. The server gives tokens until a case sets other
// answers.
#pragma once

#include "support/scripted_server.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace execcred::test {

inline constexpr const char* kSts = "/v1/token";
inline constexpr const char* kOauth = "/token";
inline constexpr const char* kAccount = "robot@project-1.iam.gserviceaccount.com";
inline constexpr const char* kOtherAccount = "other@project-1.iam.gserviceaccount.com";

// "/v1/projects/-/serviceAccounts/EMAIL:generateAccessToken", as it is sent.
std::string impersonation_path(const std::string& account = kAccount);
// The URL for the same in a credentials file.
std::string impersonation_url(const std::string& account = kAccount,
                              const std::string& host = "iamcredentials.googleapis.com");

class Cloud {
 public:
  Cloud();

  // The value of HTTPS_PROXY.
  std::string proxy() const { return tunnel_.url(""); }
  const std::string& ca_pem() const { return ca_.pem; }
  // The names of the servers that were called, like "sts.googleapis.com:443".
  std::vector<std::string> hosts() const;
  std::size_t connections() const { return tunnel_.connections(); }
  // The server behind all names; a case can set the answers of its paths.
  ScriptedServer& api() { return api_; }
  const ScriptedServer& api() const { return api_; }
  std::size_t calls() const { return api_.requests().size(); }

 private:
  void lead(Stream& stream);

  mutable std::mutex mutex_;
  std::vector<std::string> hosts_;  // under mutex_
  std::atomic<int> tokens_ = 0;
  ScriptedServer api_{ScriptedServer::Transport::plain};
  Identity ca_;
  Identity identity_;
  StreamServer front_;
  StreamServer tunnel_;
};

// A token of Google, which no message may show. Each number gives another one.
std::string google_token(const std::string& kind, int number);

// The reply of a token endpoint, and the one of generateAccessToken.
std::string token_body(const std::string& token, const std::string& expires_in = "3600");
std::string account_body(const std::string& token, const std::string& expire_time);
// The time in so many seconds, in RFC 3339 form.
std::string time_from_now(std::int64_t seconds);

}  // namespace execcred::test
