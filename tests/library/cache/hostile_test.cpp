// SPDX-License-Identifier: Apache-2.0
// A credential is given with any content of the cache directory, and if the system fails.
#include "fixture.hpp"
#include "hostile_files.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <functional>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::CacheFixture;
using test::give_to;
using test::hostile_files;
using test::HostileFile;
using test::is_root_or_counted;
using test::set_mode;

constexpr uid_t kStranger = 54321;

TEST_CASE("an entry that is not as we write it is a miss, and is repaired" *
          doctest::description("promise 18")) {
  for (const HostileFile& hostile : hostile_files()) {
    CAPTURE(hostile.name);
    if (hostile.needs_root && !is_root_or_counted("a cache file of another user")) continue;
    CacheFixture cache;
    REQUIRE(cache.token() == "token-1");
    hostile.put(cache.file(".credential"));
    CHECK(cache.token() == "token-2");
    CHECK(cache.token() == "token-2");
  }
  MESSAGE("files that are not as we write them: " << hostile_files().size() << " kinds");
}

TEST_CASE("a lock that is not as we make it is replaced" * doctest::description("promise 18")) {
  for (const HostileFile& hostile : hostile_files()) {
    CAPTURE(hostile.name);
    if (hostile.needs_root && !is_root_or_counted("a lock of another user")) continue;
    CacheFixture cache;
    REQUIRE(cache.token() == "token-1");
    hostile.put(cache.file(".lock"));
    fs::remove(cache.file(".credential"));
    CHECK(cache.token() == "token-2");
    CHECK_FALSE(test::contains(cache.steps, "no lock"));
    CHECK(fs::is_regular_file(fs::symlink_status(cache.file(".lock"))));
  }
}

TEST_CASE("a failure that is not as we write it is ignored" * doctest::description("promise 18")) {
  for (const HostileFile& hostile : hostile_files()) {
    CAPTURE(hostile.name);
    if (hostile.needs_root && !is_root_or_counted("a failure of another user")) continue;
    CacheFixture cache;
    cache.provider.error = test::refused();
    REQUIRE(cache.token() == "invalid_grant");
    cache.provider.error.reset();
    hostile.put(cache.file(".failure"));
    CHECK(cache.token() == "token-2");
  }
}

// Runs `body` in a process of its own; true if it returned true.
bool holds_in_child(const std::function<bool()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Whether a credential is given, with or without the cache: first, again, and after its expiry.
bool is_served(CacheFixture& cache) {
  const bool is_first = cache.is_served_newest();
  cache.client = "client-2";
  const bool is_second = cache.is_served_newest();
  cache.clock.time += 2h;
  return is_first && is_second && cache.is_served_newest() && cache.provider.calls >= 2;
}

bool is_served_within(__rlimit_resource resource, rlim_t limit) {
  CacheFixture cache;
  return holds_in_child([&] {
    const rlimit few = {.rlim_cur = limit, .rlim_max = limit};
    return setrlimit(resource, &few) == 0 && is_served(cache);
  });
}

TEST_CASE("no file may grow: a credential is given" * doctest::description("promise 7")) {
  for (const rlim_t size : {0U, 10U, 200U}) {
    CAPTURE(size);
    CHECK(is_served_within(RLIMIT_FSIZE, size));
  }
}

TEST_CASE("each number of free descriptors: a credential is given") {
  for (rlim_t limit = 3; limit < 16; ++limit) {
    CAPTURE(limit);
    CHECK(is_served_within(RLIMIT_NOFILE, limit));
  }
}

// Runs as another user, whose cache directory has this mode from the second run on.
bool is_served_by_directory_of(mode_t mode) {
  CacheFixture cache;
  set_mode(cache.directory.path(), 0755);
  return holds_in_child([&] {
    test::make_directory(cache.path(), 0700);
    give_to(cache.path(), kStranger);
    if (setgid(kStranger) != 0 || setuid(kStranger) != 0) return false;
    if (cache.token() != "token-1") return false;
    set_mode(cache.path(), mode);
    cache.client = "client-2";
    const bool is_hit = cache.token() == "token-1";
    const bool may_hit = (mode & 0500U) == 0500U;
    return is_hit == may_hit && is_served(cache);
  });
}

TEST_CASE("a directory that cannot be written to: what is in it is used" *
          doctest::description("promise 7")) {
  if (!is_root_or_counted("a cache directory without write permission")) return;
  for (const mode_t mode : {0500U, 0100U, 0000U, 0300U, 0600U}) {
    CAPTURE(mode);
    CHECK(is_served_by_directory_of(mode));
  }
}

TEST_CASE("a full disk, no free inode, a read-only disk: a credential is given" *
          doctest::description("promise 7")) {
  if (!is_root_or_counted("full and read-only file systems")) return;
  struct Case {
    const char* options;
    unsigned long flags;
  };
  for (const Case& c : std::vector<Case>{{"size=4k,nr_inodes=100,mode=0700", 0},
                                         {"size=64k,nr_inodes=1,mode=0700", 0},
                                         {"size=64k,nr_inodes=2,mode=0700", 0},
                                         {"size=64k,nr_inodes=3,mode=0700", 0},
                                         {"size=64k,mode=0700", MS_RDONLY}}) {
    CAPTURE(c.options);
    CacheFixture cache;
    test::make_directory(cache.path(), 0700);
    const test::SmallFileSystem mounted(cache.path(), c.options, c.flags);
    if (!mounted.is_mounted()) {
      MESSAGE("skipped: no file system can be mounted here");
      return;
    }
    if (std::string_view(c.options).starts_with("size=4k")) {
      test::write_file(cache.path() / "ballast", std::string(4096, 'x'));
    }
    const bool is_given = is_served(cache);
    CHECK(is_given);
    MESSAGE("on a file system with " << std::string(c.options)
                                     << std::string(c.flags == 0 ? "" : ", read-only") << ": "
                                     << (is_given ? 100 : 0) << " % served");
  }
}

}  // namespace
}  // namespace execcred
