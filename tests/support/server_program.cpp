// SPDX-License-Identifier: Apache-2.0
#include "server_program.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <sys/prctl.h>
#include <unistd.h>

namespace execcred::test {

void write_file(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write '" + unfinished + "'");
  std::filesystem::rename(unfinished, path);
}

void die_with_parent() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) throw std::runtime_error("the parent has ended");
}

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

void StopSignals::await() const {
  int received = 0;
  sigwait(&signals_, &received);
}

}  // namespace execcred::test
