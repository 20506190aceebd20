// SPDX-License-Identifier: Apache-2.0
// A log to which many processes append, one line in each write.
//
// The log is opened early, because the handler of a deadline can only write. At 1 MiB it is renamed
// to PATH.1, whose previous content is lost.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>

#include <cstddef>
#include <filesystem>

namespace execcred {

inline constexpr std::size_t kMaxLogFile = 1024 * 1024;
inline constexpr std::size_t kMaxLogLine = 4096;

// Opens the log for appending. A new log is readable by this user alone. Fails (configuration) if a
// folder on the way belongs to a user other than root and this one, or if others may change it,
// unless it is root's and sticky. Fails (configuration) also if the log is a symbolic link, is not
// a regular file, has a second name, belongs to another user, or may be written by others.
Result<FileDescriptor> open_log_file(const std::filesystem::path& path);

}  // namespace execcred
