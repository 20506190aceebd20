// SPDX-License-Identifier: Apache-2.0
// The destinations to which the secrets of a credentials file may be sent: the matching service of
// Google, and the servers of --allow-endpoint. A credentials file is often written by another tool,
// and without this check its URLs would decide which server gets the tokens.
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
  // `allowed` must outlive this.
  explicit Endpoints(const std::vector<UrlPattern>& allowed) : allowed_(allowed) {}

  // `field` is the member that contains the URL. The URL must be https; a subject token may also
  // come by http from this machine and from metadata servers. Fails (configuration) if the URL is
  // malformed or must be https; (no_credential) if its host is not allowed.
  Status check(Service service, const std::string& url, std::string_view field) const;

 private:
  const std::vector<UrlPattern>& allowed_;
};

}  // namespace execcred::google
