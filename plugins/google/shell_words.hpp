// SPDX-License-Identifier: Apache-2.0
// A command line as credentials files have it, taken apart into its words without a shell: by the
// rules of quoting of the POSIX shell (and of Python's shlex), and nothing of its expansions.
#pragma once

#include <execcred/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::google {

// Fails (configuration) for a quote without its end, a final backslash, or a NUL byte.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace execcred::google
