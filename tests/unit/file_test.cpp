// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <functional>
#include <vector>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using test::check_fails;
using test::give_to;
using test::is_root_or_counted;
using test::make_directory;
using test::set_mode;
using test::TempDir;
using test::write_file;

constexpr auto kConfiguration = Error::Kind::configuration;
constexpr uid_t kStranger = 54321;

std::string read(const fs::path& path) {
  Result<SecretString> content = read_secret_file(path);
  CAPTURE(path.native());
  if (!content) FAIL(test::full_text(content.error()));
  return std::string(content->reveal());
}

// Runs `check` as another user, in a new process.
bool holds_as_user(uid_t user, const std::function<bool()>& check) {
  const pid_t pid = fork();
  if (pid == 0) {
    const bool is_user = setgid(static_cast<gid_t>(user)) == 0 && setuid(user) == 0;
    _exit(is_user && check() ? 0 : 1);
  }
  int status = -1;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("read_secret_file: returns every byte of a regular file") {
  const TempDir dir;
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  for (const std::string& content : {std::string(), std::string("t"), bytes}) {
    CHECK(read(write_file(dir / "file", content)) == content);
  }
  for (const mode_t mode : {0400U, 0600U, 0644U, 0755U}) {
    CAPTURE(mode);
    CHECK(read(write_file(dir / "mode", "x", mode)) == "x");
  }
}

TEST_CASE("read_secret_file: the path may be relative, or contain dots and double slashes") {
  const TempDir dir;
  make_directory(dir / "sub");
  write_file(dir / "token", "t");
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  const std::array<std::string, 4> contents = {read("token"), read("./token"), read("sub/../token"),
                                               read(dir.path().native() + "//sub//..//./token")};
  fs::current_path(before);
  for (const std::string& content : contents) CHECK(content == "t");
}

TEST_CASE("read_secret_file: a size limit is exact") {
  const TempDir dir;
  struct Case {
    std::size_t size, limit;
  };
  for (const Case& c : std::array<Case, 5>{{{0, 0},
                                            {1024, 1024},
                                            {kMaxSecretFile - 1, kMaxSecretFile},
                                            {kMaxSecretFile, kMaxSecretFile},
                                            {kMaxKubeconfig, kMaxKubeconfig}}}) {
    CAPTURE(c.size);
    write_file(dir / "fits", std::string(c.size, 'x'));
    const Result<SecretString> content = read_secret_file(dir / "fits", c.limit);
    REQUIRE(content);
    CHECK(content->size() == c.size);
    write_file(dir / "large", std::string(c.limit + 1, 'x'));
    check_fails(read_secret_file(dir / "large", c.limit), kConfiguration, "larger than");
    check_fails(read_file(dir / "large", c.limit), kConfiguration, "larger than");
    check_fails(read_untrusted_file(dir / "large", c.limit), kConfiguration, "larger than");
  }
}

TEST_CASE("read_untrusted_file: a file that ends before its reported size is an error") {
  // A file of /sys reports the size of a page, but contains less.
  const fs::path file = "/sys/devices/system/cpu/online";
  std::error_code failed;
  if (fs::file_size(file, failed) == 0 || failed) {
    MESSAGE("skipped: there is no '" << file.native() << "' with a size here");
    return;
  }
  check_fails(read_untrusted_file(file, kMaxSecretFile), Error::Kind::unavailable,
              "it ended after ");
}

TEST_CASE("read_secret_file: a file that reports no size is read up to the limit") {
  const Result<SecretString> content = read_secret_file("/proc/self/status");
  REQUIRE(content);
  CHECK(test::contains(content->reveal(), "Name:"));
  check_fails(read_secret_file("/proc/self/status", 16), kConfiguration, "larger than");
}

TEST_CASE("a path that is not a regular file is refused with its type, and without waiting") {
  const TempDir dir;
  make_directory(dir / "directory");
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (dir / "socket").c_str(), sizeof address.sun_path - 1);
  const FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  write_file(dir / "file", "x");
  struct Case {
    fs::path path;
    std::string_view message;
    bool is_opened_untrusted;
  };
  for (const Case& c : std::vector<Case>{{dir / "directory", "directory", true},
                                         {dir / "directory/", "directory", true},
                                         {dir / "directory/.", "directory", true},
                                         {dir / "directory/..", "directory", true},
                                         {"/", "directory", true},
                                         {dir / "pipe", "a named pipe", true},
                                         {dir / "socket", "a socket", false},
                                         {"/dev/null", "a device", true},
                                         {"/dev/zero", "a device", true},
                                         {dir / "nope", "No such file", false},
                                         {dir / "nope/file", "No such file", false},
                                         {dir / "file/below", "Not a directory", false},
                                         {"", "cannot read ''", false}}) {
    CAPTURE(c.path.native());
    // All users may write to these devices, so this error may be reported first.
    const std::string_view message = c.message == "a device" ? "cannot read" : c.message;
    check_fails(read_secret_file(c.path), kConfiguration, message);
    check_fails(read_file(c.path, 100), kConfiguration, message);
    check_fails(read_untrusted_file(c.path, 100), kConfiguration,
                c.is_opened_untrusted ? c.message : "cannot read");
  }
  check_fails(read_secret_file((dir / "file").native() + "/"), kConfiguration, "Not a directory");
}

TEST_CASE("read_secret_file: a file or a directory that other users may write is refused") {
  const TempDir dir;
  const fs::path above = make_directory(dir / "above");
  const fs::path folder = make_directory(above / "folder");
  const fs::path file = write_file(folder / "token", "t");
  for (const fs::path& at : {file, folder, above}) {
    const mode_t good = at == file ? 0600 : 0755;
    for (const mode_t extra : {0020U, 0002U, 0022U}) {
      CAPTURE(at.native());
      CAPTURE(extra);
      set_mode(at, good | extra);
      const Result<SecretString> content = read_secret_file(file);
      check_fails(content, kConfiguration, "is writable by other users");
      if (at != file) check_fails(content, kConfiguration, "'" + at.native() + "'");
      CHECK(read_untrusted_file(file, 100));
    }
    set_mode(at, good);
  }
  CHECK(read(file) == "t");
}

TEST_CASE("read_secret_file: a world-writable directory must be sticky and owned by root") {
  const TempDir dir;
  const fs::path volume = make_directory(dir / "volume");
  const fs::path file = write_file(volume / "token", "t");
  for (const mode_t mode : {01777U, 01775U, 03777U}) {
    CAPTURE(mode);
    set_mode(volume, mode);
    if (geteuid() == 0) CHECK(read(file) == "t");
    if (geteuid() != 0) check_fails(read_secret_file(file), kConfiguration, "writable");
  }
  set_mode(volume, 0777);
  check_fails(read_secret_file(file), kConfiguration, "is writable by other users");
  if (!is_root_or_counted("a sticky directory of another user")) return;
  set_mode(volume, 01777);
  give_to(volume, kStranger);
  check_fails(read_secret_file(file), kConfiguration, "belongs to user 54321");
}

TEST_CASE("read_secret_file: a sticky bit on the file itself makes no difference") {
  const TempDir dir;
  write_file(dir / "token", "t", 01666);
  check_fails(read_secret_file(dir / "token"), kConfiguration, "is writable by other users");
}

TEST_CASE("read_secret_file: a file, directory or link of another user is refused") {
  if (!is_root_or_counted("files of another user")) return;
  const TempDir dir;
  const fs::path folder = make_directory(dir / "folder");
  const fs::path file = write_file(folder / "token", "t");
  const fs::path link = folder / "link";
  fs::create_symlink("token", link);
  const fs::path jump = dir / "jump";
  fs::create_symlink("folder", jump);
  CHECK(read(jump / "link") == "t");
  for (const fs::path& at : {file, folder, link, jump}) {
    CAPTURE(at.native());
    give_to(at, kStranger);
    check_fails(read_secret_file(jump / "link"), kConfiguration, "belongs to user 54321");
    give_to(at, 0);
  }
  CHECK(read(jump / "link") == "t");
  give_to(file, kStranger);
  CHECK(read_untrusted_file(file, 100));
}

TEST_CASE("read_secret_file: in a sticky directory, another user's file or link is refused") {
  if (!is_root_or_counted("a stranger's file in a sticky directory")) return;
  const TempDir dir;
  const fs::path volume = make_directory(dir / "volume", 01777);
  const fs::path secret = write_file(dir / "secret", "s");
  give_to(write_file(volume / "token", "evil", 0644), kStranger);
  fs::create_symlink(secret, volume / "link");
  give_to(volume / "link", kStranger);
  check_fails(read_secret_file(volume / "token"), kConfiguration, "belongs to user 54321");
  check_fails(read_secret_file(volume / "link"), kConfiguration, "belongs to user 54321");
}

TEST_CASE("read_secret_file: an ordinary user can read only their own files and root's") {
  if (!is_root_or_counted("reading as another user")) return;
  const TempDir dir;
  set_mode(dir.path(), 0755);
  const fs::path of_root = write_file(dir / "root", "t", 0644);
  const fs::path own = write_file(dir / "own", "t", 0600);
  const fs::path others = write_file(dir / "others", "t", 0644);
  const fs::path secret = write_file(dir / "secret", "t", 0600);
  give_to(own, kStranger);
  give_to(others, kStranger + 1);
  CHECK(holds_as_user(kStranger, [&] { return read_secret_file(of_root).has_value(); }));
  CHECK(holds_as_user(kStranger, [&] { return read_secret_file(own).has_value(); }));
  CHECK(holds_as_user(kStranger, [&] {
    const Result<SecretString> content = read_secret_file(others);
    return !content && test::contains(content.error().message, "belongs to user 54322");
  }));
  CHECK(holds_as_user(kStranger, [&] {
    const Result<SecretString> content = read_secret_file(secret);
    return !content && content.error().kind == kConfiguration &&
           test::contains(content.error().message, "Permission denied");
  }));
  const fs::path sticky = make_directory(dir / "sticky", 01777);
  write_file(sticky / "token", "t", 0644);
  CHECK(holds_as_user(kStranger, [&] { return read_secret_file(sticky / "token").has_value(); }));
  give_to(sticky, kStranger);
  CHECK(holds_as_user(kStranger, [&] {
    const Result<SecretString> content = read_secret_file(sticky / "token");
    return !content && test::contains(content.error().message, "is writable by other users");
  }));
}

TEST_CASE(
    "read_secret_file: a temporary lack of descriptors is not reported as a configuration error") {
  const TempDir dir;
  const fs::path secret = write_file(dir / "token", "t");
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const Result<SecretString> content = read_secret_file(secret);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  check_fails(content, Error::Kind::unavailable, "Too many open files");
  CHECK(content.error().is_local);
  CHECK(read_secret_file(secret));
}

TEST_CASE("read_stream: reads to the end, up to the limit") {
  const auto from_pipe = [](std::string_view text, std::size_t limit) {
    std::array<int, 2> ends = {};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    const FileDescriptor read_end(ends[0]);
    FileDescriptor write_end(ends[1]);
    REQUIRE(write(write_end.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    write_end.reset();
    return read_stream(read_end.get(), limit, "standard input");
  };
  CHECK(*from_pipe("", 10) == "");
  CHECK(*from_pipe("0123456789", 10) == "0123456789");
  CHECK(from_pipe(std::string(40'000, 'x'), 40'000)->size() == 40'000);
  check_fails(from_pipe("0123456789a", 10), kConfiguration, "standard input");
  check_fails(read_stream(-1, 10, "standard input"), kConfiguration, "standard input");
}

}  // namespace
}  // namespace execcred
