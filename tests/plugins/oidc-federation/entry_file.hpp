// SPDX-License-Identifier: Apache-2.0
// Reads and changes the cache's entries from outside.
#pragma once

#include <execcred/cache/entry.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

// The files of the cache with this ending, like ".credential", ".failure" or ".lock".
std::vector<std::filesystem::path> cache_files(const std::string& directory,
                                               std::string_view ending);
// The only entry; throws if there is none, or more than one.
CachedCredential only_entry(const std::string& directory);
// Makes the entry so much older; a negative time makes it younger.
void age_entry(const std::string& directory, Duration by);
// The same for a failure that is remembered.
void age_failure(const std::string& directory, Duration by);

}  // namespace execcred::test
