// SPDX-License-Identifier: Apache-2.0
// `execcred sync` as config/sync runs it: as the user 65532, with a root file system that is
// read-only, except for the folder that is mounted for it.
#include "hub_run.hpp"
#include "rights.hpp"

#include "cli/inventory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace {

namespace fs = std::filesystem;
using execcred::test::LiveApi;
using execcred::test::Process;
using execcred::test::profile_object;
using execcred::test::written;

constexpr uid_t kUser = 65532;

bool become_user() {
  return setgroups(0, nullptr) == 0 && setgid(kUser) == 0 && setuid(kUser) == 0;
}

bool make_read_only_except(const std::string& writable) {
  mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  mount_attr read_write = {};
  read_write.attr_clr = MOUNT_ATTR_RDONLY;
  return blackbox::make_mounts_private() &&
         mount(writable.c_str(), writable.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
         mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) == 0 &&
         mount_setattr(AT_FDCWD, writable.c_str(), 0, &read_write, sizeof read_write) == 0;
}

// `prepare` gets the folder that the other user may write to.
void check_runs(const std::string& needs, const std::function<bool(const std::string&)>& prepare) {
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
  const std::string kubeconfig = (sandbox / "kubeconfig").native();
  const std::optional<blackbox::Outcome> outcome = blackbox::run_if_allowed(command, needs, [&] {
    return chown(root.c_str(), kUser, kUser) == 0 && chown(kubeconfig.c_str(), kUser, kUser) == 0 &&
           prepare(root);
  });
  if (!outcome) return;
  CHECK_MESSAGE(outcome->exit_code == 0, blackbox::describe(*outcome));
  CHECK(written(api, "a").first == "for-https://a.example");
  CHECK(blackbox::read_text(process.root() / "fleet/a/token") == "for-https://a.example");
  for (const std::string level : {"error", "warning"}) {
    CHECK_MESSAGE(outcome->error_output.find("\"level\":\"" + level) == std::string::npos,
                  blackbox::describe(*outcome));
  }
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: runs as another user") {
  check_runs("root", [](const std::string&) { return become_user(); });
}

TEST_CASE("sync: runs as another user with a read-only root file system") {
  check_runs("mounts of its own, root and a root directory that is a mount point",
             [](const std::string& root) { return make_read_only_except(root) && become_user(); });
}
