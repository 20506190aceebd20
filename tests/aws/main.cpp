// SPDX-License-Identifier: Apache-2.0
// execcred-aws, in front of an STS, an instance and a container's agent that do as a case tells
// them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <csignal>

int main(int argc, char** argv) {
  // Inputs that others may write are refused, so what the tests write must not be.
  umask(022);
  std::signal(SIGPIPE, SIG_IGN);
  doctest::Context context;
  context.applyCommandLine(argc, argv);
  return context.run();
}
