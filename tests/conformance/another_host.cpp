// SPDX-License-Identifier: Apache-2.0
#include "another_host.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace blackbox {

std::optional<Outcome> run_on_another_host(Command command) {
  constexpr int kNoOtherName = 99;
  if (geteuid() != 0) {
    MESSAGE("skipped: only root may give a process another host name");
    return std::nullopt;
  }
  command.before_exec = [] {
    constexpr std::string_view kName = "another-pod";
    const bool is_there =
        unshare(CLONE_NEWUTS) == 0 && sethostname(kName.data(), kName.size()) == 0;
    if (!is_there) _exit(kNoOtherName);
  };
  Outcome outcome = run(command);
  if (outcome.exit_code != kNoOtherName) return outcome;
  MESSAGE("skipped: this system gives no process another host name");
  return std::nullopt;
}

}  // namespace blackbox
