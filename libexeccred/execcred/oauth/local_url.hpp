// SPDX-License-Identifier: Apache-2.0
// Requests to servers of the platform that a plugin runs on: metadata servers, sidecars.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>

#include <string>
#include <string_view>

namespace execcred {

// Whether plain http to the host is as safe as https, because there is no network in between: this
// machine, a link-local address, or a metadata server of a cloud. The parsed host decides, never
// the beginning of a text.
bool is_local_host(const Host& host);

// Fails (configuration) if the text is not a URL, is neither https nor http, or is http to a host
// that is not local.
Status check_local_url(const std::string& text);

// Sends a request, by the retry policy, to a URL that check_local_url() accepts. Fails as
// check_local_url() and send_with_retries() do. A status other than 200 is a failure: unavailable
// for 429 and 5xx, else no_credential.
Result<HttpResponse> ask_local_url(HttpRequest request, TlsSettings tls, CallContext& call);

// The bearer token in a reply: the whole body, or, if `field` is not empty, that member of the
// body's JSON object. Fails (no_credential) if it is not there or is not one token.
Result<SecretString> token_of_reply(const HttpResponse& reply, const std::string& server,
                                    const std::string& field);

}  // namespace execcred
