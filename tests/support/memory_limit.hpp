// SPDX-License-Identifier: Apache-2.0
// A limit on the memory of a program under test.
#pragma once

#include "conformance/build_kind.hpp"
#include "conformance/child_process.hpp"

#include <sys/resource.h>

#include <cstddef>

namespace execcred::test {

// Limits the memory for data; a run that needs more fails in another way. A program with sanitizers
// maps far more than it uses, so it is not limited.
inline blackbox::Command bounded(blackbox::Command command, std::size_t bytes) {
  if (blackbox::kIsSanitized) return command;
  command.before_exec = [bytes] {
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_DATA, &limit);
  };
  return command;
}

}  // namespace execcred::test
