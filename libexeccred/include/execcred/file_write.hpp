// SPDX-License-Identifier: Apache-2.0
// Replaces a file whole: readers see the old content or the new, never a part, whatever happens
// in between (a full disk, a signal, a power failure).
#pragma once

#include <execcred/result.hpp>

#include <filesystem>
#include <string_view>

namespace execcred {

enum class Written { replaced, unchanged };

// Writes a new file beside `path`, readable by this user alone, and renames it over. A file that
// has this content already is left untouched, its time of change too. Fails (configuration): the
// directory is missing or not writable, the disk is full, or `path` is something other than a
// regular file that its owner may write; nothing is left behind then.
Result<Written> replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace execcred
