// SPDX-License-Identifier: Apache-2.0
// Command lines by the quoting rules of POSIX (Shell Command Language, section 2.2), without a
// shell: splits one of a credentials file into words, without expansions, operators or comments,
// and quotes the words of one that a person pastes.
#pragma once

#include <execcred/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// Fails (configuration) for a quote without its end, a final backslash, or a NUL byte. The message
// continues the name of the field, and shows none of the text.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

// The word as a shell reads it back unchanged, in single quotes if it needs them. It must have no
// NUL byte.
std::string shell_word(std::string_view text);

}  // namespace execcred
