// SPDX-License-Identifier: Apache-2.0
// PEM (RFC 7468) of any label, read tolerantly and written in one way. For certificates and keys
// that are given away anew; what others will read as it stands is for pem.hpp.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct PemBlock {
  std::string label = {};
  bool is_encrypted = false;  // by a header of RFC 1421
  SecretString der = {};
};

bool looks_like_pem(std::string_view text);

// Text may stand around the blocks, a byte order mark before them, and headers, white space and
// empty lines in them. Fails (no_credential) with "is PEM …".
Result<std::vector<PemBlock>> parse_pem_blocks(std::string_view text);

// Lines of 64 columns, a newline at the end.
void append_pem(std::string_view label, std::string_view der, SecretString& out);

}  // namespace execcred
