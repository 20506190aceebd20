// SPDX-License-Identifier: Apache-2.0
// execcred install: refused directories, writes that fail, and runs that end at any moment.
#include "installation.hpp"
#include "support/syscall_stops.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

using namespace blackbox;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 54321;

void become_stranger() {
  if (setgroups(0, nullptr) != 0 || setgid(kStranger) != 0 || setuid(kStranger) != 0) _exit(1);
}

// Exit code 2, the error message, the start of the hint, and nothing on standard output.
void check_refused(const Outcome& outcome, const std::string& message,
                   const std::string& hint = "") {
  CHECK_MESSAGE(outcome.exit_code == 2, describe(outcome));
  CHECK(outcome.output.empty());
  CHECK_MESSAGE(outcome.error_output.starts_with("execcred: error: " + message + "\n"),
                describe(outcome));
  CHECK_MESSAGE(has_text(outcome, "\n  hint: " + hint), describe(outcome));
}

// Runs the command with a small file system mounted on the directory, then lists the files there.
// The last line of the output is the exit code.
std::optional<Outcome> run_on_tmpfs(const Installation& release, const char* options,
                                    unsigned long flags) {
  const std::string script = "cd / && '" + release.program() + "' install '" + release.directory() +
                             "'; code=$?; ls -A '" + release.directory() + "'; echo \"exit $code\"";
  return run_behind_tmpfs(
      {.arguments = {"/bin/sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}},
      release.directory(), options, flags);
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("install: a missing directory, a file, no directory and two directories are refused") {
  const Installation release;
  const std::string missing = release.sandbox().at("missing");
  check_refused(release.run({missing}),
                "cannot open the directory '" + missing + "': No such file or directory",
                "create it first (mkdir), or mount an emptyDir volume there\n");
  const std::string file = release.sandbox().write("file", "x");
  for (const std::string& path : {file, file + "/below"}) {
    check_refused(release.run({path}), "cannot open the directory '" + path + "': Not a directory",
                  "name a directory\n");
  }
  check_refused(release.run({""}), "cannot open the directory '': No such file or directory");
  check_refused(run({.arguments = {release.program(), "install"}}), "no directory is given");
  check_refused(release.run({release.directory(), missing}), "2 directories are given");
  CHECK_FALSE(fs::exists(missing));
  CHECK(read_text(file) == "x");
}

TEST_CASE("install: a directory that this user may not write to is refused") {
  const Installation release;
  chmod(release.directory().c_str(), 0555);
  Command command = release.command();
  if (geteuid() == 0) command.before_exec = become_stranger;
  const std::string path = release.installed("execcred-a");
  check_refused(run(command), "cannot write '" + path + "': Permission denied", "let user ");
  CHECK(release.listing().empty());
}

TEST_CASE("install: an unreadable plugin is an error, and nothing is installed") {
  const Installation release;
  release.put("execcred-b", "x", 0111);
  Command command = release.command();
  chmod(release.directory().c_str(), 0777);
  if (geteuid() == 0) command.before_exec = become_stranger;
  check_refused(
      run(command),
      "cannot read '" + release.sandbox().at("release/execcred-b") + "': Permission denied",
      "let user ");
  CHECK(release.listing().empty());
}

TEST_CASE("install: on a full file system, no part of a plugin is left") {
  struct Case {
    const char* options;
    std::string plugin, why;
  };
  for (const Case& c : {Case{"size=8k", "execcred-b", "No space left on device"},
                        Case{"size=24k", "execcred-b", "No space left on device"},
                        Case{"nr_inodes=1", "execcred-a", "No space left on device"},
                        Case{"nr_inodes=2", "execcred-b", "No space left on device"}}) {
    CAPTURE(c.options);
    const Installation release;
    const std::optional<Outcome> outcome = run_on_tmpfs(release, c.options, 0);
    if (!outcome) return;
    CHECK_MESSAGE(outcome->output == "exit 2\n", describe(*outcome));
    CHECK_MESSAGE(has_text(*outcome, "execcred: error: cannot write '" +
                                         release.installed(c.plugin) + "': " + c.why + "\n"),
                  describe(*outcome));
    CHECK(has_text(*outcome, "\n  hint: "));
  }
  const Installation release;
  const std::optional<Outcome> large = run_on_tmpfs(release, "size=1m", 0);
  REQUIRE(large);
  CHECK_MESSAGE(has_text(*large, "\nexeccred-a\nexeccred-b\nexit 0\n"), describe(*large));
}

TEST_CASE("install: a read-only file system is an error") {
  const Installation release;
  const std::optional<Outcome> outcome = run_on_tmpfs(release, "size=1m", MS_RDONLY);
  if (!outcome) return;
  CHECK_MESSAGE(outcome->output == "exit 2\n", describe(*outcome));
  CHECK_MESSAGE(has_text(*outcome, "': Read-only file system\n  hint: let user "),
                describe(*outcome));
}

TEST_CASE("install: a file size limit that is too small is an error, not a crash") {
  const Installation release;
  Command command = release.command();
  command.before_exec = [] {
    const rlimit limit = {.rlim_cur = 10'000, .rlim_max = 10'000};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  check_refused(run(command),
                "cannot write '" + release.installed("execcred-b") + "': File too large");
  CHECK(release.listing().empty());
}

TEST_CASE("install: a directory or a FIFO at a plugin's path is an error, nothing is installed") {
  const Installation release;
  const std::string path = release.installed("execcred-b");
  fs::create_directory(path);
  check_refused(release.run(), "cannot write '" + path + "': it is a directory",
                "remove it, or name another directory\n");
  CHECK(release.listing() == "execcred-b ");
  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0644) == 0);
  check_refused(release.run(), "cannot write '" + path + "': it is no regular file");
  CHECK(release.listing() == "execcred-b ");
}

TEST_CASE("install: the directory that the plugins are copied from is refused") {
  const Installation release;
  const std::string source = release.sandbox().at("release");
  const std::string link = release.sandbox().at("link");
  fs::create_directory_symlink(source, link);
  for (const std::string& path : {source, link, source + "/../release/"}) {
    check_refused(release.run({path}),
                  "'" + path + "' is the directory that the plugins are copied from",
                  "name another directory");
  }
  CHECK((status_of(source + "/execcred-a").st_mode & 07777U) == 0755U);
}

TEST_CASE("install: it is an error if there is no plugin beside execcred") {
  const Installation release;
  fs::remove(release.sandbox().at("release/execcred-a"));
  fs::remove(release.sandbox().at("release/execcred-b"));
  check_refused(release.run(),
                "there is no plugin beside execcred, in '" + release.sandbox().at("release") + "'");
  check_refused(release.run({"--plugin=execcred-a", release.directory()}),
                "there is no plugin 'execcred-a' in '" + release.sandbox().at("release") + "'");
}

// The state at each system call is the one that a kill at that moment would leave.
TEST_CASE("install: at any moment, a plugin's file is the complete old program or the new one") {
  const Installation release;
  check_installs(release.run());
  const std::string before = read_text(release.installed("execcred-b"));
  release.put("execcred-a", "#!/bin/sh\necho A\n");
  release.put("execcred-b", std::string(40'000, 'B'));
  int stops = 0;
  int torn = 0;
  int mixed = 0;
  const Outcome outcome = run_with_stops(release.command(), [&] {
    ++stops;
    const std::string content = read_text(release.installed("execcred-b"));
    const bool is_new = release.has("execcred-b");
    if (content != before && !is_new) ++torn;
    // The first plugin is renamed into place first, after both are written.
    if (is_new && !release.has("execcred-a")) ++mixed;
  });
  check_installs(outcome);
  CHECK(stops > 100);
  CHECK(torn == 0);
  CHECK(mixed == 0);
  CHECK(release.has("execcred-b"));
}

TEST_CASE("install: after a kill, the next run removes the partial files") {
  const Installation release;
  release.put("execcred-b", std::string(4'000'000, 'b'));
  {
    Child killed(release.command());
    REQUIRE(wait_until([&] { return release.listing().find(".execcred-") != std::string::npos; }));
    killed.send(SIGKILL);
    killed.wait();
  }
  CHECK_FALSE(fs::exists(release.installed("execcred-b")));
  check_installs(release.run());
  CHECK(release.listing() == "execcred-a execcred-b ");
  CHECK(release.has("execcred-b"));
}

TEST_SUITE_END();
