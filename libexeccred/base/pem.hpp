// SPDX-License-Identifier: Apache-2.0
// Certificates in PEM (RFC 7468), as bytes to compare. Nothing looks inside them.
//
// Strict, because clients' PEM readers differ: text may stand around the blocks, but any
// "-----" that is not the first or last line of a CERTIFICATE block is refused, so that no
// reader can find a certificate here that this one did not.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// The DER of each certificate, in order. Fails (configuration) where there is none.
Result<std::vector<std::string>> parse_pem_certificates(std::string_view text);

}  // namespace execcred
