// SPDX-License-Identifier: Apache-2.0
//
// Figures that are the same on every machine: instructions, system calls, opened files, size. Each
// is measured in a separate run, which is not timed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "process.hpp"

namespace bench {

// User-space instructions of the program's own process, by callgrind.
std::optional<long> count_instructions(const Command& command);

struct Opened {
  std::string path;
  std::string remark;  // an errno, or that only the path was resolved (O_PATH); else empty
};

// From the exec to the exit, all threads and children, by strace.
struct SystemCalls {
  long count = 0;
  std::vector<Opened> opened;  // in order
};
std::optional<SystemCalls> trace_system_calls(const Command& command);

// The size in bytes of an ELF file after `strip`.
std::optional<long> stripped_size(const std::string& path);

}  // namespace bench
