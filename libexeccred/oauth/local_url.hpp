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

// Hosts to which plain http is as safe as https, because there is no network between: this machine,
// its link, the metadata servers of the clouds. Decided by the parsed host, never by the beginning
// of a text.
bool is_local_host(const Host& host);

// Fails (configuration): no URL, neither https nor http, or http to a host that is not local.
Status check_local_url(const std::string& text);

// Asks a URL that check_local_url() passes. A reply other than 200 fails: no_credential, or
// unavailable for what may pass.
Result<HttpResponse> ask_local_url(HttpRequest request, TlsSettings tls, CallContext& call);

// The one bearer token that a reply holds: the whole body, or where `field` is not empty, that
// member of its JSON object. Fails with no_credential.
Result<SecretString> token_of_reply(const HttpResponse& reply, const std::string& server,
                                    const std::string& field);

}  // namespace execcred
