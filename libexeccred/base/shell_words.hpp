// SPDX-License-Identifier: Apache-2.0
// A command line as files of credentials have it, taken apart into its words without a shell: by
// the rules of quoting of POSIX (Shell Command Language, section 2.2), and nothing of its
// expansions, operators or comments.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// Fails (configuration) for a quote without its end, a final backslash, or a NUL byte. The message
// goes on from the name of the field, and shows nothing of the text.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace execcred
