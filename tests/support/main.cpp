// SPDX-License-Identifier: Apache-2.0
// main() for the test programs without their own.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <csignal>

int main(int argc, char** argv) {
  // Files that other users may write are refused, so the files of tests must not be writable.
  umask(022);
  // As in every execcred program, a peer that closes early causes a write error, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  return doctest::Context(argc, argv).run();
}
