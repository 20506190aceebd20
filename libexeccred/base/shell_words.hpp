// SPDX-License-Identifier: Apache-2.0
// Splits a command line of a credentials file into words without a shell: by the quoting rules of
// POSIX (Shell Command Language, section 2.2), without expansions, operators or comments.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// Fails (configuration) for a quote without its end, a final backslash, or a NUL byte. The message
// continues the name of the field, and shows none of the text.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace execcred
