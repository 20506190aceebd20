// SPDX-License-Identifier: Apache-2.0
// A mounted Secret in the layout of the kubelet's AtomicWriter: its names link into ..data, which
// is replaced by a rename.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace execcred::test {

class Volume {
 public:
  explicit Volume(std::filesystem::path root);

  // Sets a new state of the volume, and removes the former one.
  void set(const std::map<std::string, std::string>& files);

  const std::string& path() const { return root_.native(); }

 private:
  std::filesystem::path root_;
  std::string former_;
  int generation_ = 0;
};

// Replaces the file by a rename, so that no reader sees a part of it.
void write_atomically(const std::filesystem::path& path, const std::string& content);

}  // namespace execcred::test
