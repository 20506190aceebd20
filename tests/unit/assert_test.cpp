// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/assert.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

TEST_CASE("EXECCRED_ASSERT: what does not hold ends the process with one error and exit code 70") {
  std::array<int, 2> pipe = {};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(pipe[1], STDERR_FILENO);
    EXECCRED_ASSERT(child == 0);
    EXECCRED_ASSERT(child > 0);
    _exit(0);
  }
  close(pipe[1]);
  std::array<char, 512> text = {};
  const ssize_t size = read(pipe[0], text.data(), text.size());
  close(pipe[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 70);
  REQUIRE(size > 0);
  CHECK(std::string(text.data(), static_cast<std::size_t>(size))
            .starts_with("execcred: error: internal error: 'child > 0' does not hold in "
                         "assert_test.cpp, line "));
}
