// SPDX-License-Identifier: Apache-2.0
// The allowed destinations of a credentials file's secrets: the matching service of Google, and the
// servers of --allow-endpoint. A credentials file is often written by another tool, and without
// this check its URLs would decide who gets the tokens.
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

  // `field` is where the URL stands. https only; a subject token may also come by http from this
  // machine and metadata servers. Fails with configuration (no such URL), or with no_credential (a
  // foreign host).
  Status check(Service service, const std::string& url, std::string_view field) const;

 private:
  const std::vector<UrlPattern>& allowed_;
};

}  // namespace execcred::google
