// SPDX-License-Identifier: Apache-2.0
// A parent process that ends at the moment at which a program requests the parent-death signal.
#include "build_kind.hpp"
#include "support/syscall_stops.hpp"
#include "support/token_file.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <string>

using namespace blackbox;

namespace {

constexpr int kInternal = 70;

bool skips_with_tsan() {
  if (kWithTsan) MESSAGE("skipped: the sanitizer makes system calls of its own");
  return kWithTsan;
}

bool starts_program(long call) {
#ifdef SYS_vfork
  if (call == SYS_vfork) return true;
#endif
  return call == SYS_clone;
}

}  // namespace

TEST_SUITE_BEGIN("parent_death");

TEST_CASE("a plugin whose parent ends before it requests the parent-death signal prints nothing" *
          doctest::description("promise 26")) {
  if (skips_with_tsan()) return;
  const TokenFile file;
  const Outcome outcome = run_and_lose_parent(file.command(), [](long call, long argument) {
    return call == SYS_prctl && argument == PR_SET_PDEATHSIG;
  });
  CHECK_MESSAGE(outcome.exit_code == kInternal, describe(outcome));
  CHECK(outcome.output == "");
}

TEST_CASE("a plugin whose parent ends while it starts a command ends at once" *
          doctest::description("promise 26")) {
  if (skips_with_tsan()) return;
  const std::string path = std::string(EXECCRED_BIN) + "/execcred-oidc-federation";
  const Command command = {.arguments = {path, "--flow=pass-through", "--timeout=20s",
                                         R"(--subject-token-command=["/bin/sleep","1000"])"}};
  const Outcome outcome =
      run_and_lose_parent(command, [](long call, long) { return starts_program(call); });
  CHECK_MESSAGE(outcome.exit_code == kInternal, describe(outcome));
  CHECK(outcome.output == "");
}

TEST_SUITE_END();
