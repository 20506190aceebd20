// SPDX-License-Identifier: Apache-2.0
// A bearer token as an Authorization header may contain it (RFC 6750): one word of visible ASCII.
//
// A file that is mounted in a token's place by mistake (a key, a kubeconfig, a certificate) must
// never be sent to a server, so it is recognised here. Messages never show the content.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

namespace execcred {

// The content without the white space at both ends. Fails (no_credential) if it is empty, has
// several words or a byte that is not visible ASCII, is clearly not a token, or is part of a JWT
// (check_whole).
Result<SecretString> bearer_token(const SecretString& content);

}  // namespace execcred
