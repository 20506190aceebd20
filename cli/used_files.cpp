// SPDX-License-Identifier: Apache-2.0
#include "used_files.hpp"

#include <filesystem>
#include <system_error>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code failed;
  if (fs::equivalent(one, other, failed)) return true;
  // A file that does not exist yet, or a link to nothing.
  const auto folder_of = [](const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
  };
  return one.filename() == other.filename() &&
         fs::equivalent(folder_of(one), folder_of(other), failed);
}

bool is_named(const UsedFile& file) { return !file.path.empty() && file.path != "-"; }

// A terminal may be both, and so may /dev/null.
bool is_replaced(const UsedFile& file) {
  std::error_code failed;
  return file.is_output && is_named(file) &&
         (!fs::exists(file.path, failed) || fs::is_regular_file(file.path, failed));
}

}  // namespace

Status check_outputs(const std::vector<UsedFile>& files) {
  for (auto at = files.rbegin(); at != files.rend(); ++at) {
    const UsedFile& output = *at;
    if (!is_replaced(output)) continue;
    for (const UsedFile& other : files) {
      if (&other == &output || !is_named(other)) continue;
      if (!is_same_file(output.path, other.path)) continue;
      return Error::configuration(output.source + " and " + other.source + " name the same file",
                                  "give " + output.source + " a file of its own: it is replaced");
    }
  }
  return {};
}

}  // namespace execcred::cli
