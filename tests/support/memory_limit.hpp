// SPDX-License-Identifier: Apache-2.0
// A limit on the memory of a program under test.
#pragma once

#include "conformance/child_process.hpp"

#include <sys/resource.h>

#include <cstddef>

namespace execcred::test {

// Limits the memory for data; a run that needs more fails in another way. A program with sanitizers
// maps far more than it uses, so it is not limited.
inline blackbox::Command bounded(blackbox::Command command, std::size_t bytes) {
#ifndef EXECCRED_SANITIZED
  command.before_exec = [bytes] {
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_DATA, &limit);
  };
#else
  static_cast<void>(bytes);
#endif
  return command;
}

}  // namespace execcred::test
