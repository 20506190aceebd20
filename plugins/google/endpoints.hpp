// SPDX-License-Identifier: Apache-2.0
// Where what a credentials file holds may be sent: to the service of Google's that it is meant for,
// and to what --allow-endpoint names. A credentials file is often written by somebody else's tool,
// and its URLs would otherwise decide who gets the tokens.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url_pattern.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::google {

inline constexpr std::string_view kDefaultUniverse = "googleapis.com";

enum class Service {
  sts,              // exchanges tokens
  iam_credentials,  // impersonates
  oauth,            // takes keys' assertions and refresh tokens
  subject,          // gives subject tokens
};

class Endpoints {
 public:
  // `allowed` must outlive them.
  explicit Endpoints(const std::vector<UrlPattern>& allowed) : allowed_(allowed) {}

  // `field` is where the URL stands. https only, but that a subject token may come by http from
  // this machine and metadata servers. Fails with configuration (no such URL), or with
  // no_credential (a host of somebody else's).
  Status check(Service service, const std::string& url, std::string_view field) const;

 private:
  const std::vector<UrlPattern>& allowed_;
};

}  // namespace execcred::google
