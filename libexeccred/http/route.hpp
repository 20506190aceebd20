// SPDX-License-Identifier: Apache-2.0
// Where a request goes: the server, and the proxy on the way to it.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct Proxy {
  Url url = {};
  std::string user = {};
  SecretString password = {};
};

// Fails (configuration) for a URL that is none or has another scheme. User info may stand in it,
// percent-encoded.
Result<Proxy> parse_proxy(std::string_view url);

// NO_PROXY as Go reads it: names separated by commas or white space, each with an optional port. A
// name means its subdomains too, with a leading dot only those; also addresses, networks in CIDR
// notation, and "*" for all.
bool is_proxy_exception(std::string_view exceptions, const Url& url);

// The URL, rebuilt from its parts, with `host` instead of its own host.
std::string text_of_url(const Url& url, const Host& host);

}  // namespace execcred
