// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/client.hpp>

#include <execcred/base/text.hpp>
#include <execcred/os/file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace execcred {

std::optional<std::string_view> start_time_of(std::string_view stat) {
  constexpr int kStartTime = 22;
  constexpr int kAfterName = 3;
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return std::nullopt;
  stat.remove_prefix(name_end + 2);
  for (int field = kAfterName; field < kStartTime; ++field) {
    const std::size_t end = stat.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(end + 1);
  }
  const std::string_view time = stat.substr(0, stat.find_first_of(" \n"));
  const bool is_number = !time.empty() && std::all_of(time.begin(), time.end(), is_digit);
  return is_number ? std::optional(time) : std::nullopt;
}

std::optional<std::string> parent_identity() {
  const std::string parent = std::to_string(getppid());
  const FileDescriptor file(open(("/proc/" + parent + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer = {};
  const ssize_t size = file ? read(file.get(), buffer.data(), buffer.size()) : -1;
  if (size <= 0) return std::nullopt;
  const auto start = start_time_of({buffer.data(), static_cast<std::size_t>(size)});
  std::array<char, 64> space = {};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  if (!start || length <= 0) return std::nullopt;
  return parent + " " + std::string(*start) + " " +
         std::string(space.data(), static_cast<std::size_t>(length));
}

}  // namespace execcred
