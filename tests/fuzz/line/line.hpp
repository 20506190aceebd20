// SPDX-License-Identifier: Apache-2.0
// Parsers of short texts. The file with the parser's name checks the parser.
#pragma once

#include <string_view>

namespace execcred::fuzz {

void check_base64(std::string_view input);
void check_duration(std::string_view input);
void check_rfc3339(std::string_view input);
void check_shell_words(std::string_view input);
void check_spiffe_id(std::string_view input);
void check_workload_endpoint(std::string_view input);
void check_www_authenticate(std::string_view input);

}  // namespace execcred::fuzz
