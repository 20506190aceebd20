// SPDX-License-Identifier: Apache-2.0
// A log to which many processes append, one line in each write.
//
// It is opened early, because the handler of a deadline can only write. At 1 MiB it is renamed to
// PATH.1, whose previous content is lost.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/os/file.hpp>

#include <cstddef>
#include <filesystem>

namespace execcred {

inline constexpr std::size_t kMaxLogFile = 1024 * 1024;
inline constexpr std::size_t kMaxLogLine = 4096;

// For appending, readable by this user alone where it is made. Refused (configuration): a folder on
// the way that others may change and that is not root's and sticky, a symbolic link, what is no
// regular file, has a second name, is another user's or may be written by others.
Result<FileDescriptor> open_log_file(const std::filesystem::path& path);

}  // namespace execcred
