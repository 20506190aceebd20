// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <execcred/cache/directory.hpp>

#include <fcntl.h>
#include <sys/stat.h>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using test::check_fails;
using test::give_to;
using test::is_root_or_counted;
using test::make_directory;
using test::set_mode;
using test::TempDir;

constexpr uid_t kStranger = 54321;
constexpr auto kConfiguration = Error::Kind::configuration;

Result<CacheDirectory> open_directory(
    const fs::path& asked, const std::vector<std::string>& environment = {},
    CacheDirectory::IfMissing if_missing = CacheDirectory::IfMissing::create) {
  return CacheDirectory::open(asked.native(), Environment(environment), if_missing);
}

std::string path_of(const Result<CacheDirectory>& directory) {
  return directory ? directory->path() : directory.error().message;
}

mode_t mode_of(const fs::path& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

TEST_CASE("the directory: the flag, then the variables in order, then shared memory") {
  const TempDir dir;
  make_directory(dir / "run", 0700);
  make_directory(dir / "xdg", 0700);
  make_directory(dir / "home", 0700);
  const auto in = [&](const char* name) { return (dir / name).native(); };
  std::vector<std::string> environment = {"EXECCRED_CACHE_DIR=" + in("own"),
                                          "XDG_RUNTIME_DIR=" + in("run"),
                                          "XDG_CACHE_HOME=" + in("xdg"), "HOME=" + in("home")};
  CHECK(path_of(open_directory(dir / "flag", environment)) == in("flag"));
  const std::string shared = "/dev/shm/execcred-" + std::to_string(geteuid());
  const bool was_there = fs::exists(shared);
  for (const std::string& expected :
       {in("own"), in("run/execcred"), in("xdg/execcred"), in("home/.cache/execcred"), shared}) {
    CHECK(path_of(open_directory({}, environment)) == expected);
    CHECK(mode_of(expected) == 0700);
    if (!environment.empty()) environment.erase(environment.begin());
  }
  if (!was_there) fs::remove(shared);
}

TEST_CASE("the directory: one that is relative or cannot be created is skipped") {
  const TempDir dir;
  make_directory(dir / "home", 0700);
  const std::string home = "HOME=" + (dir / "home").native();
  for (const std::string& runtime :
       {(dir / "none").native(), std::string("relative"), std::string("/proc/self")}) {
    CAPTURE(runtime);
    CHECK(path_of(open_directory({}, {"XDG_RUNTIME_DIR=" + runtime, home})) ==
          (dir / "home/.cache/execcred").native());
  }
}

TEST_CASE("the directory: IfMissing::leave does not create it") {
  const TempDir dir;
  check_fails(open_directory(dir / "cache", {}, CacheDirectory::IfMissing::leave), kConfiguration,
              "there is no cache directory");
  CHECK_FALSE(fs::exists(dir / "cache"));
}

TEST_CASE("the directory: it must be private, owned by this user, and not a link") {
  const TempDir dir;
  for (const mode_t mode : {0701U, 0710U, 0755U, 0777U, 01777U, 0740U}) {
    make_directory(dir / "open", mode);
    check_fails(open_directory(dir / "open"), kConfiguration, "is open to other users");
  }
  make_directory(dir / "good", 0700);
  fs::create_symlink(dir / "good", dir / "link");
  check_fails(open_directory(dir / "link"), kConfiguration, "is no directory");
  test::write_file(dir / "file", "");
  check_fails(open_directory(dir / "file"), kConfiguration, "is no directory");
  check_fails(open_directory("cache"), kConfiguration, "no absolute path");
  check_fails(open_directory(dir.path() / "good/../good"), kConfiguration, "'..'");
  CHECK(path_of(open_directory((dir / "good").native() + "//")) == (dir / "good").native());
  if (!is_root_or_counted("a cache directory of another user")) return;
  give_to(dir / "good", kStranger);
  check_fails(open_directory(dir / "good"), kConfiguration, "belongs to user 54321");
}

TEST_CASE("the directory: a parent that other users can write to is refused") {
  const TempDir dir;
  make_directory(dir / "above", 0777);
  check_fails(open_directory(dir / "above/cache"), kConfiguration, "is writable by other users");
  set_mode(dir / "above", 01777);
  if (!is_root_or_counted("sticky directories of root and of others")) return;
  CHECK(open_directory(dir / "above/cache"));
  give_to(dir / "above", kStranger);
  check_fails(open_directory(dir / "above/cache"), kConfiguration, "belongs to user 54321");
}

TEST_CASE("the directory: a symbolic link in its path is followed, and its target is checked") {
  const TempDir dir;
  make_directory(dir / "real", 0700);
  fs::create_symlink(dir / "real", dir / "way");
  CHECK(path_of(open_directory(dir / "way/cache")) == (dir / "real/cache").native());
  make_directory(dir / "shared", 0777);
  make_directory(dir / "shared/below", 0700);
  fs::create_symlink(dir / "shared/below", dir / "bad");
  check_fails(open_directory(dir / "bad/cache"), kConfiguration, "is writable by other users");
}

TEST_CASE("an unsafe directory means no cache, never an error") {
  test::CacheFixture cache;
  make_directory(cache.path(), 0755);
  CHECK(cache.token() == "token-1");
  CHECK(cache.token() == "token-2");
  CHECK(test::contains(cache.steps, "no cache: the cache directory"));
  CHECK(fs::is_empty(cache.path()));
}

TEST_CASE("write: the file is private, and its time is the entry's expiry") {
  const TempDir dir;
  const Result<CacheDirectory> directory = open_directory(dir / "cache");
  REQUIRE(directory);
  const std::string name = hash_key("a").hex() + ".credential";
  const TimePoint end = TimePoint(std::chrono::seconds(1'782'907'200));
  REQUIRE(directory->write(name, "first", end));
  REQUIRE(directory->write(name, "second", end));
  struct stat status = {};
  REQUIRE(stat((dir / ("cache/" + name)).c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600);
  CHECK(status.st_mtime == 1'782'907'200);
  const auto content = directory->read(name, 100);
  REQUIRE(content);
  CHECK(content->reveal() == "second");
  long position = 0;
  CHECK(directory->names(100, position) == std::vector<std::string>{name});
  CHECK(position == 0);
  CHECK_FALSE(directory->read(name, 5));
  CHECK_FALSE(directory->read("b.credential", 5));
}

TEST_CASE("mark: only the first call returns now") {
  const TempDir dir;
  const Result<CacheDirectory> directory = open_directory(dir / "cache");
  REQUIRE(directory);
  CHECK(directory->mark("m") == CacheDirectory::Marked::now);
  CHECK(directory->mark("m") == CacheDirectory::Marked::before);
  CHECK(directory->mark("no/m") == CacheDirectory::Marked::failed);
}

}  // namespace
}  // namespace execcred
