// SPDX-License-Identifier: Apache-2.0
// A mounted Secret, as the kubelet's AtomicWriter keeps it: names that link into ..data, which is
// swapped by rename.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace execcred::test {

class Volume {
 public:
  explicit Volume(std::filesystem::path root);

  // A new state of the volume, in place of the former one, which goes.
  void set(const std::map<std::string, std::string>& files);

  const std::string& path() const { return root_.native(); }

 private:
  std::filesystem::path root_;
  std::string former_;
  int generation_ = 0;
};

// By rename, so that no reader sees a part of it.
void write_atomically(const std::filesystem::path& path, const std::string& content);

}  // namespace execcred::test
