// SPDX-License-Identifier: Apache-2.0
// Checks a request before any part of it is sent.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>

namespace execcred {

// Fails (configuration) if the method or a header could change the structure of the message, or if
// the header is one that only libcurl may set.
Status check_request(const HttpRequest& request);

// Parses the request's URL. Fails (configuration) unless it is https, or http and the request
// allows that.
Result<Url> parse_target(const HttpRequest& request);

}  // namespace execcred
