// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/assert.hpp>

#include <execcred/base/error.hpp>

#include <unistd.h>

#include <cstdio>

namespace execcred {

void fail_assertion(const char* condition, const char* file, int line) {
  dprintf(STDERR_FILENO,
          "execcred: error: internal error: '%s' does not hold in %s, line %d\n"
          "  hint: please report it, with the output of --debug\n",
          condition, file, line);
  _exit(exit_code(Error::Kind::internal));
}

}  // namespace execcred
