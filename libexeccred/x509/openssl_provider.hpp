// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace execcred {

// Makes OpenSSL's default provider known under another name, with only those of its algorithms that
// TLS 1.2, TLS 1.3, X.509 certificates and their keys need. OpenSSL prepares all that a provider
// offers when the first of a kind is asked for, which takes a fifth of the time of a request.
// Needs a libcrypto.a: no shared library exports the default provider's entry.
// Source: OpenSSL's provider(7), provider-base(7). False where the provider does not load.
bool load_narrow_provider();

}  // namespace execcred
