// SPDX-License-Identifier: Apache-2.0
// Runs a plugin in many processes at once.
#pragma once

#include "support/plugin_rig.hpp"
#include "support/processes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace execcred::test {

struct Storm {
  std::vector<int> codes;
  std::set<std::string> credentials;  // each different one, as token and certificate
  std::chrono::milliseconds elapsed{0};

  long count_of(int code) const { return std::count(codes.begin(), codes.end(), code); }
};

// Releases `count` processes at once; each writes to a file of its own.
inline Storm let_loose(int count, blackbox::Command command, const blackbox::Sandbox& sandbox) {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  for (std::string& text : command.arguments) arguments.push_back(text.data());
  for (std::string& text : command.environment) environment.push_back(text.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  Texts outputs;
  for (int i = 0; i < count; ++i) outputs.push_back(sandbox.at("out-" + std::to_string(i)));
  const auto start = std::chrono::steady_clock::now();
  Storm storm;
  storm.codes = run_at_once(count, [&](int number) {
    blackbox::open_descriptor(STDOUT_FILENO, outputs[static_cast<std::size_t>(number)].c_str(),
                              O_WRONLY | O_CREAT | O_TRUNC);
    blackbox::open_descriptor(STDERR_FILENO, "/dev/null", O_WRONLY);
    execve(arguments[0], arguments.data(), environment.data());
    return 126;
  });
  storm.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  for (const std::string& output : outputs) {
    const blackbox::Answer answer = blackbox::read_answer(blackbox::read_text(output));
    if (answer.problem.empty()) storm.credentials.insert(answer.token + answer.certificate);
  }
  return storm;
}

}  // namespace execcred::test
