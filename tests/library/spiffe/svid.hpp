// SPDX-License-Identifier: Apache-2.0
// X.509-SVIDs as an agent sends them, for tests that make one part invalid.
#pragma once

#include "support/issuer.hpp"

#include <execcred/spiffe/x509_svid.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

inline constexpr std::string_view kId = "spiffe://example.org/controller";

using Extensions = std::vector<std::pair<std::string, std::string>>;

// As SPIRE's server makes them.
Extensions leaf_extensions();
Extensions authority_extensions();
// With another value for one extension, or without the extension if the value is empty.
Extensions with(Extensions extensions, const std::string& name, const std::string& value);

// DER.
std::string make_leaf(EVP_PKEY& key, const Extensions& extensions = leaf_extensions());
std::string make_authority(const std::string& name,
                           const Extensions& extensions = authority_extensions());

// One key and one authority for all tests, because making them takes most of the time.
EVP_PKEY& a_key();
const std::string& an_authority();

// A valid message with these certificates.
X509SvidMessage message_with(const std::string& certificates);

}  // namespace execcred::test
