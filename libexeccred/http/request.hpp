// SPDX-License-Identifier: Apache-2.0
// Requests, checked before anything of them is sent.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>

namespace execcred {

// Fails (configuration) for a method or header that could break out of its place in the message.
Status check_request(const HttpRequest& request);

// The URL's parts. Fails (configuration) unless it is https, or http that the request allows.
Result<Url> parse_target(const HttpRequest& request);

}  // namespace execcred
