// SPDX-License-Identifier: Apache-2.0
#include "rights.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace blackbox {

std::optional<Outcome> run_if_allowed(Command command, const std::string& what,
                                      std::function<bool()> prepare) {
  constexpr int kNotAllowed = 125;  // no program under test ends with it
  command.before_exec = [prepare = std::move(prepare), before = command.before_exec] {
    if (before) before();
    if (!prepare()) _exit(kNotAllowed);
  };
  Outcome outcome = run(command);
  if (outcome.exit_code != kNotAllowed) return outcome;
  MESSAGE("skipped: needs " << what << ", which this user or system does not allow");
  return std::nullopt;
}

bool make_mounts_private() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

std::optional<Outcome> run_on_another_host(Command command) {
  return run_if_allowed(std::move(command), "another host name", [] {
    constexpr std::string_view kName = "another-pod";
    return unshare(CLONE_NEWUTS) == 0 && sethostname(kName.data(), kName.size()) == 0;
  });
}

}  // namespace blackbox
