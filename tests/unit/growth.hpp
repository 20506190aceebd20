// SPDX-License-Identifier: Apache-2.0
// Checks that a function's time and memory are linear in the size of its input.
#pragma once

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

namespace execcred::test {

// CPU time of this thread, which other processes do not affect.
inline double cpu_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The shortest of three runs, because a cold cache only adds time.
template <class Input, class Run>
double least_time(const Input& input, Run run) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 3; ++i) {
    const double start = cpu_seconds();
    run(input);
    least = std::min(least, cpu_seconds() - start);
  }
  return least;
}

// Four times the input may take nine times as long. Sorting and caches add to the factor of four,
// and a quadratic function takes sixteen times as long.
template <class Make, class Run>
void check_linear(std::size_t size, Make make, Run run) {
  const double small = least_time(make(size), run);
  const double large = least_time(make(4 * size), run);
  CAPTURE(small);
  CAPTURE(large);
  CHECK(large < 9 * small + 0.01);
}

// The memory in MiB that `run` adds to a new process, 250 at most.
template <class Run>
int mebibytes_for(Run run) {
  const auto most = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  const pid_t pid = fork();
  if (pid == 0) {
    const long before = most();
    run();
    _exit(static_cast<int>(std::min(most() - before, 250L)));
  }
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// `text`, repeated `count` times.
inline std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace execcred::test
