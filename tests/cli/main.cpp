// SPDX-License-Identifier: Apache-2.0
// Tests that run the programs of execcred as processes.
#include <doctest/doctest.h>

#include <sys/prctl.h>
#include <sys/stat.h>

#include <csignal>

int main(int argc, char** argv) {
  // The programs refuse files that others may write, so the tests must not create such files.
  umask(022);
  std::signal(SIGPIPE, SIG_IGN);
  // Orphans become children of this process, so that tests can see whether they end.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  doctest::Context context;
  context.applyCommandLine(argc, argv);
  return context.run();
}
