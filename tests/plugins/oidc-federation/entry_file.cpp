// SPDX-License-Identifier: Apache-2.0
#include "entry_file.hpp"

#include "sandbox.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/cache/key.hpp>

#include <fstream>
#include <stdexcept>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

fs::path only(const std::string& directory, std::string_view ending) {
  const std::vector<fs::path> found = cache_files(directory, ending);
  if (found.size() == 1) return found.front();
  throw std::runtime_error(std::to_string(found.size()) + " files " + std::string(ending));
}

// Overwrites it in place, so that its mode stays.
void overwrite(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace

std::vector<fs::path> cache_files(const std::string& directory, std::string_view ending) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& file : fs::directory_iterator(directory, none)) {
    if (file.path().native().ends_with(ending)) found.push_back(file.path());
  }
  return found;
}

CachedCredential only_entry(const std::string& directory) {
  auto entry = parse_cached_credential(blackbox::read_text(only(directory, ".credential")));
  if (!entry) throw std::runtime_error("the entry cannot be read");
  return *std::move(entry);
}

void age_entry(const std::string& directory, Duration by) {
  CachedCredential entry = only_entry(directory);
  entry.created -= by;
  entry.expires -= by;
  if (entry.credential.expires_at) *entry.credential.expires_at -= by;
  overwrite(only(directory, ".credential"), write_cached_credential(entry).reveal());
  // A client's mark names the entry that it was given, by its checksum.
  const std::string id = hex_digits(only_entry(directory).id);
  for (const fs::path& mark : cache_files(directory, ".seen")) {
    const std::string name = mark.filename().native();
    const std::size_t first = name.find('.');
    const std::size_t second = name.find('.', first + 1);
    fs::rename(mark, mark.parent_path() / (name.substr(0, first + 1) + id + name.substr(second)));
  }
}

void age_failure(const std::string& directory, Duration by) {
  const fs::path path = only(directory, ".failure");
  auto failure = parse_cached_failure(blackbox::read_text(path));
  if (!failure) throw std::runtime_error("the failure cannot be read");
  failure->created -= by;
  failure->until -= by;
  overwrite(path, write_cached_failure(*failure));
}

}  // namespace execcred::test
