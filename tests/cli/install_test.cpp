// SPDX-License-Identifier: Apache-2.0
// execcred install: what it copies, and what it leaves alone.
#include "build_kind.hpp"
#include "installation.hpp"

#include <doctest/doctest.h>
#include <execcred/base/digest.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <memory>

using namespace blackbox;

namespace {

namespace fs = std::filesystem;

std::string digest_of(const std::string& path) {
  return execcred::to_hex(execcred::sha256(read_text(path)));
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("install: all plugins, with mode 0555 under any umask, and an output line for each") {
  for (const mode_t mask : {mode_t{0}, mode_t{077}, mode_t{0777}}) {
    CAPTURE(mask);
    const Installation release;
    Command command = release.command();
    command.before_exec = [mask] { umask(mask); };
    const Outcome outcome = run(command);
    check_installs(outcome);
    CHECK(outcome.error_output.empty());
    CHECK(outcome.output ==
          "DONE       PLUGIN      BYTES  SHA256\n"
          "installed  execcred-a  17     " +
              digest_of(release.installed("execcred-a")) +
              "\n"
              "installed  execcred-b  30000  " +
              digest_of(release.installed("execcred-b")) + "\n");
    CHECK(release.has("execcred-a"));
    CHECK(release.has("execcred-b"));
    CHECK(release.listing() == "execcred-a execcred-b ");
    CHECK(blackbox::run({.arguments = {release.installed("execcred-a")}}).output == "a\n");
  }
}

TEST_CASE("install: a plugin that is the same already is not written again") {
  const Installation release;
  check_installs(release.run());
  const struct stat before = status_of(release.installed("execcred-a"));
  const Outcome same = release.run();
  check_installs(same);
  CHECK(has_text(same, "\nunchanged  execcred-a  "));
  CHECK(has_text(same, "\nunchanged  execcred-b  "));
  const struct stat after = status_of(release.installed("execcred-a"));
  CHECK(before.st_ino == after.st_ino);
  CHECK(before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);

  release.put("execcred-a", "#!/bin/sh\necho A\n");
  chmod(release.installed("execcred-b").c_str(), 0755);
  const Outcome changed = release.run();
  check_installs(changed);
  CHECK(has_text(changed, "\nreplaced  execcred-a  "));
  CHECK(has_text(changed, "\nreplaced  execcred-b  "));
  CHECK(release.has("execcred-a"));
  CHECK(release.has("execcred-b"));
}

TEST_CASE("install: copies only executables that have the name of a plugin") {
  const Installation release;
  for (const char* name : {"execcred-a.bak", "execcred-a.1", "execcred-", "execcred-A",
                           "execcredible", "other", ".execcred-c"}) {
    release.put(name, "x");
  }
  release.put("execcred-manual", "x", 0644);
  fs::create_directory(release.sandbox().at("release/execcred-folder"));
  const std::string other = release.sandbox().write("plugins/other", "theirs", 0640);
  check_installs(release.run());
  CHECK(release.listing() == "execcred-a execcred-b other ");
  CHECK(read_text(other) == "theirs");
  CHECK((status_of(other).st_mode & 07777U) == 0640U);
}

TEST_CASE("install --plugin: copies only the named plugins") {
  const Installation release;
  check_installs(
      release.run({"--plugin=execcred-b", "--plugin", "execcred-b", release.directory()}));
  CHECK(release.listing() == "execcred-b ");
  for (const char* name : {"execcred-c", "execcred", "b", "../release/execcred-a"}) {
    const Outcome outcome = release.run({std::string("--plugin=") + name, release.directory()});
    CHECK(outcome.exit_code == 2);
    CHECK(has_text(outcome, "error: there is no plugin '"));
    CHECK(has_text(outcome, "\n  hint: there are execcred-a, execcred-b\n"));
  }
  CHECK(release.listing() == "execcred-b ");
}

TEST_CASE("install --plugin=kubectl-execcred: a copy of execcred itself, and only on demand") {
  if (kWithTsan) {
    MESSAGE("skipped: the program is larger than a plugin may be");
    return;
  }
  const Installation release;
  check_installs(release.run());
  CHECK(release.listing() == "execcred-a execcred-b ");
  check_installs(release.run({"--plugin=kubectl-execcred", release.directory()}));
  CHECK(release.listing() == "execcred-a execcred-b kubectl-execcred ");
  CHECK(read_text(release.installed("kubectl-execcred")) == read_text(release.program()));
}

TEST_CASE("install: finds the plugins, however execcred is started") {
  const Installation release;
  const std::string link = release.sandbox().at("link");
  fs::create_symlink(release.program(), link);
  const auto check = [&](std::vector<std::string> arguments, bool has_proc) {
    fs::remove_all(release.directory());
    fs::create_directory(release.directory());
    Command command{.arguments = std::move(arguments)};
    command.before_exec = [&release] {
      if (chdir(release.sandbox().at("release").c_str()) != 0) _exit(1);
    };
    const std::optional<Outcome> outcome =
        has_proc ? run(command) : run_behind_tmpfs(command, "/proc", "size=4k");
    if (!outcome) return;
    check_installs(*outcome);
    CHECK(release.has("execcred-a"));
    CHECK(release.has("execcred-b"));
  };
  for (const bool has_proc : {true, false}) {
    if (!has_proc && kIsSanitized) continue;  // a sanitizer reads it
    for (const std::string& program : {release.program(), std::string("./execcred"), link}) {
      CAPTURE(program);
      CAPTURE(has_proc);
      check({program, "install", release.directory()}, has_proc);
      check({program, "install", "../plugins"}, has_proc);
    }
  }
}

TEST_CASE("install: replaces a program that is running, which keeps running") {
  const Installation release;
  release.put("execcred-a", read_text("/bin/sleep"));
  check_installs(release.run());
  Child running({.arguments = {release.installed("execcred-a"), "60"}});
  REQUIRE(wait_until([&] {
    std::error_code failed;
    const fs::path program = "/proc/" + std::to_string(running.pid()) + "/exe";
    return fs::read_symlink(program, failed) == release.installed("execcred-a");
  }));
  release.put("execcred-a", "#!/bin/sh\necho new\n");
  const Outcome outcome = release.run();
  check_installs(outcome);
  CHECK(has_text(outcome, "\nreplaced   execcred-a  "));
  CHECK(release.has("execcred-a"));
  CHECK(is_running(running.pid()));
  CHECK(blackbox::run({.arguments = {release.installed("execcred-a")}}).output == "new\n");
  running.send(SIGKILL);
}

TEST_CASE("install: a symbolic link is replaced, and its target stays as it was") {
  const Installation release;
  const std::string precious = release.sandbox().write("precious", "precious");
  fs::create_symlink(precious, release.installed("execcred-a"));
  fs::create_symlink(release.sandbox().at("nowhere"), release.installed("execcred-b"));
  check_installs(release.run());
  CHECK(release.has("execcred-a"));
  CHECK(release.has("execcred-b"));
  CHECK(read_text(precious) == "precious");
  CHECK_FALSE(fs::exists(release.sandbox().at("nowhere")));
  // Also a link to the plugin itself: its folder may be gone when the controller starts.
  fs::remove(release.installed("execcred-a"));
  fs::create_symlink(release.sandbox().at("release/execcred-a"), release.installed("execcred-a"));
  check_installs(release.run());
  CHECK(release.has("execcred-a"));
}

TEST_CASE("install: the directory may be named by a symbolic link") {
  const Installation release;
  const std::string link = release.sandbox().at("to");
  fs::create_directory_symlink(release.directory(), link);
  check_installs(release.run({link}));
  check_installs(release.run({link + "/"}));
  CHECK(release.has("execcred-a"));
  CHECK(fs::is_symlink(link));
}

TEST_CASE("install: leftovers of a killed run are removed, files with similar names are kept") {
  const Installation release;
  const std::string kept =
      ".execcred-a.AbC123 .execcred-a.execcred-1234567 .execcred-a.execcred-AbC12- "
      ".execcred.execcred-AbC123 .other.AbC123 ";
  for (const char* name : {".execcred-a.execcred-AbC123", ".execcred-gone.execcred-000000",
                           ".execcred-a.execcred-1234567", ".execcred-a.execcred-AbC12-",
                           ".execcred.execcred-AbC123", ".execcred-a.AbC123", ".other.AbC123"}) {
    release.sandbox().write("plugins/" + std::string(name), "half");
  }
  check_installs(release.run());
  CHECK(release.listing() == kept + "execcred-a execcred-b ");
}

TEST_CASE("install: several runs at once, on one directory") {
  const Installation release;
  for (int round = 0; round < 3; ++round) {
    release.put("execcred-b", std::string(200'000, static_cast<char>('0' + round)));
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < 8; ++i) children.push_back(std::make_unique<Child>(release.command()));
    for (const auto& child : children) check_installs(child->wait());
    CHECK(release.has("execcred-a"));
    CHECK(release.has("execcred-b"));
    CHECK(release.listing() == "execcred-a execcred-b ");
  }
}

TEST_CASE("install: waits while another run has locked the directory") {
  const Installation release;
  const std::string half = release.sandbox().write("plugins/.execcred-a.execcred-AbC123", "half");
  const int directory = open(release.directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(flock(directory, LOCK_EX) == 0);
  Child waiting(release.command());
  const std::string waits = "-> FLOCK  ADVISORY  WRITE " + std::to_string(waiting.pid()) + " ";
  REQUIRE(wait_until([&] { return read_text("/proc/locks").find(waits) != std::string::npos; }));
  CHECK(fs::exists(half));
  CHECK_FALSE(fs::exists(release.installed("execcred-a")));
  REQUIRE(flock(directory, LOCK_UN) == 0);
  check_installs(waiting.wait());
  CHECK(release.listing() == "execcred-a execcred-b ");
  close(directory);
}

TEST_SUITE_END();
