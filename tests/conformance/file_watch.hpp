// SPDX-License-Identifier: Apache-2.0
// Detects programs that open, read, create or change something in a folder of baits.
#pragma once

#include "sandbox.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

class FileWatch {
 public:
  FileWatch();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // The path of an existing file, or of a file that a program would create.
  std::string bait(std::string_view name, std::string_view content);
  std::string bait_to_create(std::string_view name);
  const std::string& folder() const { return folder_; }

  // Begins to watch.
  void start();
  // Names that were touched since the start; "." is the folder itself.
  std::set<std::string> touched();

 private:
  Sandbox sandbox_;
  std::string folder_;
  int inotify_ = -1;
};

// Whether a process has a file open now. A descriptor that only names it (O_PATH) does not count.
class OpenWatch {
 public:
  explicit OpenWatch(const std::string& path);
  ~OpenWatch();
  OpenWatch(const OpenWatch&) = delete;
  OpenWatch& operator=(const OpenWatch&) = delete;

  bool is_open();

 private:
  int inotify_ = -1;
  int count_ = 0;
};

}  // namespace blackbox
