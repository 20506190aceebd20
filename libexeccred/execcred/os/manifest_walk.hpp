// SPDX-License-Identifier: Apache-2.0
// The manifests of a folder, for every command that takes one: its .yaml, .yml and .json files, and
// those of the folders inside, at most eight levels deep. Hidden folders and symbolic links to
// folders are skipped: a mounted ConfigMap has its files a second time in a hidden folder, and a
// link may lead anywhere, even back to this folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace execcred {

struct ManifestVisitor {
  // `inside` is the folder of the file; empty for a file at the top.
  std::function<void(const std::filesystem::path& file, const std::string& inside)> file;
  // Called for a folder that cannot be read, with the system's reason.
  std::function<void(const std::filesystem::path& folder, const std::string& inside,
                     const std::string& reason)>
      unreadable;
  // Called for a folder whose inner folders are too deep, and are skipped.
  std::function<void(const std::filesystem::path& folder, const std::string& inside)> too_deep;
};

// Visits in the order of names: first the files of a folder, then the folders inside.
void walk_manifests(const std::filesystem::path& folder, const ManifestVisitor& visitor);

}  // namespace execcred
