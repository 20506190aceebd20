// SPDX-License-Identifier: Apache-2.0
// Prints the facts (facts.hpp) for scripts/generate.
#include "commands.hpp"
#include "facts.hpp"

#include <cstdio>
#include <exception>
#include <string>

int main() {
  try {
    execcred::cli::CommandLine commands;
    execcred::cli::add_commands(commands);
    const std::string text = execcred::json::to_indented_text(execcred::cli::facts(commands));
    const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return is_written && std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "plugin-facts: error: %s\n", exception.what());
    return 1;
  }
}
