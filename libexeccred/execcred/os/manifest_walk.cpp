// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/manifest_walk.hpp>

#include <algorithm>
#include <system_error>
#include <vector>

namespace execcred {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 8;

bool is_manifest(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

struct Entries {
  std::vector<fs::path> files = {};
  std::vector<fs::path> folders = {};
  std::error_code problem = {};
};

Entries entries_of(const fs::path& folder) {
  Entries entries;
  for (fs::directory_iterator entry(folder, entries.problem), end; !entries.problem && entry != end;
       entry.increment(entries.problem)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) {
      if (is_manifest(entry->path())) entries.files.push_back(entry->path());
    } else if (!entry->is_symlink(ignored) && !is_hidden(entry->path())) {
      entries.folders.push_back(entry->path());
    }
  }
  std::sort(entries.files.begin(), entries.files.end());
  std::sort(entries.folders.begin(), entries.folders.end());
  return entries;
}

void walk(const fs::path& folder, const std::string& inside, int levels,
          const ManifestVisitor& visitor) {
  const Entries entries = entries_of(folder);
  if (entries.problem) visitor.unreadable(folder, inside, entries.problem.message());
  for (const fs::path& file : entries.files) visitor.file(file, inside);
  if (levels == 0) {
    if (!entries.folders.empty()) visitor.too_deep(folder, inside);
    return;
  }
  for (const fs::path& inner : entries.folders) walk(inner, inner.native(), levels - 1, visitor);
}

}  // namespace

void walk_manifests(const fs::path& folder, const ManifestVisitor& visitor) {
  walk(folder, {}, kLevels, visitor);
}

}  // namespace execcred
