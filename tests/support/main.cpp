// SPDX-License-Identifier: Apache-2.0
// Of the test programs that need no main of their own.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <csignal>

int main(int argc, char** argv) {
  // Inputs that others may write are refused, so what the tests write must not be.
  umask(022);
  // As in every program of ours, a peer that closes early is an error of a write and no signal.
  std::signal(SIGPIPE, SIG_IGN);
  return doctest::Context(argc, argv).run();
}
