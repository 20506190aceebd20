// SPDX-License-Identifier: Apache-2.0
// What the program printed, as a credential.
#pragma once

#include "options.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/secret.hpp>

namespace execcred::wrap {

// The credential's expires_at is the earliest of the ends that the document, the token and the
// certificate have. Fails (no_credential) for other output, for a credential that has ended or is
// not valid yet, and for a certificate and key that are no pair.
Result<Credential> read_output(const Options& options, const SecretString& output, TimePoint now);

}  // namespace execcred::wrap
