// SPDX-License-Identifier: Apache-2.0
// Tokens that the platform around a plugin has for it: behind a URL, or from a program.
#pragma once

#include <execcred/credential_cache.hpp>
#include <execcred/environment.hpp>
#include <execcred/http.hpp>
#include <execcred/provider.hpp>
#include <execcred/result.hpp>
#include <execcred/secret.hpp>
#include <execcred/url.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// Where plain http is as good as https, because no network lies between: this machine, its link,
// the metadata servers of the clouds. Decided by the parsed host, never by how a text begins.
bool is_local_host(const Host& host);

// Fails (configuration): no URL, neither https nor http, or http to a host that is not local.
Status check_local_url(const std::string& text);

// One component of a query, percent-encoded (a space is %20).
std::string query_encode(std::string_view text);

// Asks a URL that check_local_url() passes. A reply other than 200 fails: no_credential, or
// unavailable for what may pass.
Result<HttpResponse> ask_local_url(HttpRequest request, TlsSettings tls, const Services& services,
                                   ProviderCall& call);

// The one bearer token that a reply holds: the whole body, or where `field` is not empty, that
// member of its JSON object. Fails with no_credential.
Result<SecretString> token_of_reply(const HttpResponse& reply, const std::string& server,
                                    const std::string& field);

struct TokenCommand {
  std::string program = {};  // absolute
  std::vector<std::string> arguments = {};
};

// A JSON array of strings, the first an absolute path. Fails (configuration).
Result<TokenCommand> parse_token_command(const std::string& text);

// What a program gets of our environment: all but KUBERNETES_EXEC_INFO, which a ClusterProfile's
// writer fills, and EXECCRED_*.
std::vector<std::string> environment_of_command(const Environment& environment);

// Stands for that environment in a cache key, as it may well decide who the program is.
std::string environment_fingerprint(const Environment& environment);

// What the program prints, at most 128 KiB. Fails: no_credential (it fails, or prints more),
// unavailable (still running at the end of the call, when its descendants end too), configuration
// (it cannot be started). Messages never show what it printed.
Result<SecretString> run_token_command(const TokenCommand& command,
                                       std::vector<std::string> environment,
                                       const Services& services, const ProviderCall& call);

}  // namespace execcred
