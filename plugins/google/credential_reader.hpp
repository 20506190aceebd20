// SPDX-License-Identifier: Apache-2.0
// Reads the members of a credentials file, for the parsers of its types.
#pragma once

#include "credentials.hpp"

#include <execcred/json/json_reader.hpp>

namespace execcred::google {

// A required string. Its content is never shown, and may have line breaks.
Result<SecretString> required_secret(const json::ObjectReader& reader, std::string_view name);
// A string without control characters, at this path. Its content is never shown.
Result<SecretString> read_secret_line(const json::Value& value, const std::string& path);
// The same for a member; empty if it is absent.
Result<SecretString> optional_secret(const json::ObjectReader& reader, std::string_view name);

// A whole number within these bounds, or nullopt if it is absent.
Result<std::optional<int>> optional_number(const json::ObjectReader& reader, std::string_view name,
                                           int least, int most);

// Parses external_account credentials, with their `credential_source`.
Result<ExternalAccount> parse_external_account(const json::ObjectReader& reader,
                                               const std::string& universe_domain,
                                               const Endpoints& endpoints);

}  // namespace execcred::google
