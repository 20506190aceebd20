// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, removed at its end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace blackbox {

class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The absolute path of `name`.
  std::string at(std::string_view name) const;
  // Writes the file and creates its folders. Returns its absolute path.
  std::string write(std::string_view name, std::string_view content, mode_t mode = 0644) const;
  // An executable shell script.
  std::string script(std::string_view name, std::string_view body) const;

 private:
  std::filesystem::path path_;
};

// The whole file; empty if it does not exist.
std::string read_text(const std::filesystem::path& path);

}  // namespace blackbox
