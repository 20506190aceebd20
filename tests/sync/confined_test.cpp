// SPDX-License-Identifier: Apache-2.0
// `execcred sync` as config/sync runs it: as the user 65532, with a root file system that is
// read-only, except for the folder that is mounted for it. Needs the rights of root.
#include "hub_run.hpp"

#include "cli/inventory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using execcred::test::LiveApi;
using execcred::test::Process;
using execcred::test::profile_object;
using execcred::test::written;

constexpr uid_t kUser = 65532;
constexpr int kNoNamespace = 124;
constexpr int kNotConfined = 125;

// Runs in a child before exec.
void confine(const std::string& writable) {
  if (unshare(CLONE_NEWNS) != 0) _exit(kNoNamespace);
  mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  mount_attr read_write = {};
  read_write.attr_clr = MOUNT_ATTR_RDONLY;
  const bool is_read_only =
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      mount(writable.c_str(), writable.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
      mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) == 0 &&
      mount_setattr(AT_FDCWD, writable.c_str(), 0, &read_write, sizeof read_write) == 0;
  if (!is_read_only) _exit(kNotConfined);
  if (setgroups(0, nullptr) != 0 || setgid(kUser) != 0 || setuid(kUser) != 0) _exit(kNotConfined);
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: runs as another user with a read-only root file system") {
  LiveApi api;
  api.put("clusterprofiles", profile_object("a", "https://a.example"));
  const Process process(api);
  const fs::path& sandbox = process.sandbox().path();
  blackbox::Command command =
      process.command({"--once", "--log-format=json", "--to-dir=" + process.root().native()});
  // The build folder may be closed to other users.
  fs::copy_file(blackbox::kCli, sandbox / "execcred");
  command.arguments.front() = (sandbox / "execcred").native();
  fs::permissions(sandbox, fs::perms::owner_all | fs::perms::others_exec);
  fs::permissions(sandbox / "bin", fs::perms::others_exec, fs::perm_options::add);
  const std::string root = process.root().native();
  const bool is_owned = chown(root.c_str(), kUser, kUser) == 0 &&
                        chown((sandbox / "kubeconfig").c_str(), kUser, kUser) == 0;
  command.before_exec = [root] { confine(root); };
  blackbox::Outcome outcome;
  outcome.exit_code = kNoNamespace;
  if (is_owned) outcome = blackbox::run(command);
  if (outcome.exit_code == kNoNamespace) {
    MESSAGE("skipped: this user may not become another one on a file system of its own");
    return;
  }
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(written(api, "a").first == "for-https://a.example");
  CHECK(blackbox::read_text(process.root() / "fleet/a/token") == "for-https://a.example");
  for (const std::string level : {"error", "warning"}) {
    CHECK_MESSAGE(outcome.error_output.find("\"level\":\"" + level) == std::string::npos,
                  blackbox::describe(outcome));
  }
}
