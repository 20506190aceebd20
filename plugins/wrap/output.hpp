// SPDX-License-Identifier: Apache-2.0
// What the program printed, as a credential.
#pragma once

#include "options.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/base/text.hpp>

namespace execcred::wrap {

// The credential's expires_at is the earliest of the ends that the document, the token and the
// certificate have. Fails (no_credential) for other output, for a credential that has ended or is
// not valid yet, and for a certificate and key that are no pair.
Result<Credential> read_output(const Options& options, const SecretString& output, TimePoint now);

// What may be a token or a key in an output that is no credential, or in that of a program that
// failed.
SecretTexts secrets_of(const Options& options, const SecretString& output);

}  // namespace execcred::wrap
