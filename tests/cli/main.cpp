// SPDX-License-Identifier: Apache-2.0
// Our programs, seen only from outside.
#include <doctest/doctest.h>

#include <sys/prctl.h>
#include <sys/stat.h>

#include <csignal>

int main(int argc, char** argv) {
  // Inputs that others may write are refused, so what the tests write must not be.
  umask(022);
  std::signal(SIGPIPE, SIG_IGN);
  // Orphans become children of this process, so that tests can see whether they end.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  doctest::Context context;
  context.applyCommandLine(argc, argv);
  return context.run();
}
