// SPDX-License-Identifier: Apache-2.0
// A bearer token as it may stand in an Authorization header (RFC 6750): one word of visible ASCII.
//
// A file that is mounted in a token's place by mistake (a key, a kubeconfig, a certificate) must
// never be sent to a server, so it is recognised here. Messages never show the content.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

namespace execcred {

// The content without the white space around it. Fails (no_credential): empty, several words, a
// byte that is no visible ASCII, or a text that is clearly not a token.
Result<SecretString> bearer_token(const SecretString& content);

}  // namespace execcred
