// SPDX-License-Identifier: Apache-2.0
#include "cloud.hpp"

#include "documents.hpp"
#include "plugin_under_test.hpp"

#include <execcred/base/rfc3339.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace execcred::test {
namespace {

constexpr const char* kNames =
    "DNS:*.googleapis.com,DNS:accounts.google.com,DNS:*.actions.githubusercontent.com,"
    "DNS:*.s3nsapis.example,DNS:sts.broker.example";

}  // namespace

std::string impersonation_path(const std::string& account) {
  std::string path = "/v1/projects/-/serviceAccounts/" + account + ":generateAccessToken";
  const std::size_t at = path.find('@');
  if (at != std::string::npos) path.replace(at, 1, "%40");
  return path;
}

std::string impersonation_url(const std::string& account, const std::string& host) {
  return "https://" + host + "/v1/projects/-/serviceAccounts/" + account + ":generateAccessToken";
}

Cloud::Cloud()
    : ca_(make_ca("Google's CA")),
      identity_(make_identity({.alternative_names = kNames, .issuer = &ca_})),
      front_(
          [this](Stream& stream) {
            const std::string url = api_.url("");
            const int far =
                connect_to(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
            stream.join(far);
            close(far);
          },
          {.identity = &identity_}),
      tunnel_([this](Stream& stream) { lead(stream); }) {
  for (const std::string path : {kSts, kOauth}) {
    api_.on(path, [this, path](Stream& stream, const Received&) {
      stream.write(reply(200, token_body(google_token(path, ++tokens_))));
    });
  }
  for (const std::string account : {kAccount, kOtherAccount}) {
    api_.on(impersonation_path(account), [this, account](Stream& stream, const Received&) {
      stream.write(reply(200, account_body(google_token(account, ++tokens_), time_from_now(3600))));
    });
  }
}

void Cloud::lead(Stream& stream) {
  const std::string request = stream.read_request();
  constexpr std::string_view kMethod = "CONNECT ";
  if (!request.starts_with(kMethod)) return;
  {
    const std::scoped_lock lock(mutex_);
    hosts_.push_back(
        request.substr(kMethod.size(), request.find(' ', kMethod.size()) - kMethod.size()));
  }
  if (!stream.write("HTTP/1.1 200 Connected\r\n\r\n")) return;
  const int far = connect_to(front_.port());
  stream.join(far);
  close(far);
}

std::vector<std::string> Cloud::hosts() const {
  const std::scoped_lock lock(mutex_);
  return hosts_;
}

// All tokens begin with the same text, which is remembered as one secret for all of them.
std::string google_token(const std::string& kind, int number) {
  std::string tail;
  for (const char c : kind) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) tail.push_back(c);
  }
  const std::string head = "ya29.c0.aNeverShownAccessToken-" + tail.substr(0, 5) + "-";
  static const bool is_remembered = [&] {
    blackbox::remember_secret("ya29.c0.aNeverShownAccessToken-");
    return true;
  }();
  static_cast<void>(is_remembered);
  return head + std::to_string(number);
}

std::string token_body(const std::string& token, const std::string& expires_in) {
  return R"({"access_token":)" + blackbox::json_string(token) +
         R"(,"issued_token_type":"urn:ietf:params:oauth:token-type:access_token",)"
         R"("token_type":"Bearer","expires_in":)" +
         expires_in + "}";
}

std::string account_body(const std::string& token, const std::string& expire_time) {
  return R"({"accessToken":)" + blackbox::json_string(token) + R"(,"expireTime":")" + expire_time +
         "\"}";
}

std::string time_from_now(std::int64_t seconds) {
  return format_rfc3339(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
                        std::chrono::seconds(seconds));
}

}  // namespace execcred::test
