// SPDX-License-Identifier: Apache-2.0
// The exec protocol, as any plugin binary must keep it: conformance [OPTIONS] [-- PLUGIN
// ARGUMENT...]
#include <doctest/doctest.h>

#include "plugin_under_test.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

int main(int argc, char** argv) {
  // Inputs that others may write are refused, so what the tests write must not be.
  umask(022);
  std::signal(SIGPIPE, SIG_IGN);
  // Whoever loses its parent comes to us, so that tests can see whether it ends.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  char** const separator = std::find_if(
      argv, argv + argc, [](const char* text) { return std::string_view(text) == "--"; });
  if (argv + argc - separator > 1) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    blackbox::use_plugin({separator + 1, argv + argc}, std::move(environment));
  }
  doctest::Context context;
  context.applyCommandLine(static_cast<int>(separator - argv), argv);
  return context.run();
}
