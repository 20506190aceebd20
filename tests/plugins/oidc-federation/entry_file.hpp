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

// The files of the cache that end so: ".credential", ".failure", ".lock".
std::vector<std::filesystem::path> cache_files(const std::string& directory,
                                               std::string_view ending);
// The one entry; throws where there is another number of them.
CachedCredential only_entry(const std::string& directory);
// As if it had been made so much earlier; a negative time is later.
void age_entry(const std::string& directory, Duration by);
// The same for a failure that is remembered.
void age_failure(const std::string& directory, Duration by);

}  // namespace execcred::test
