// SPDX-License-Identifier: Apache-2.0
// Where a request goes: the server, and the proxy on the way to it.
#pragma once

#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>

#include <string>
#include <string_view>

namespace execcred {

// Whether `exceptions`, read as Go reads NO_PROXY, contains the URL's host. Entries are separated
// by commas or white space. An entry is "*" for all hosts, a network in CIDR notation, or an
// address or name with an optional port. A name includes its subdomains; with a leading dot it
// means only the subdomains.
bool is_proxy_exception(std::string_view exceptions, const Url& url);

// The text of the URL, rebuilt from its parts, with `host` instead of its own host.
std::string text_of_url(const Url& url, const Host& host);

}  // namespace execcred
