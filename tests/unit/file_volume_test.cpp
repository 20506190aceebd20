// SPDX-License-Identifier: Apache-2.0
// Files that change while they are read: kubelet's volumes, replaced and growing files.
#include "expect.hpp"
#include "support/meanwhile.hpp"
#include "temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>

#include <fcntl.h>

#include <chrono>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::check_fails;
using test::make_directory;
using test::Meanwhile;
using test::TempDir;
using test::write_file;

constexpr auto kConfiguration = Error::Kind::configuration;
constexpr std::size_t kRecord = 8;

// A projected volume as kubelet's AtomicWriter keeps it: the names are links into ..data, which
// is itself a link, swapped by rename.
class Volume {
 public:
  explicit Volume(fs::path root) : root_(std::move(root)) {
    fs::create_directory(root_);
    test::set_mode(root_, 01777);
    replace();
    fs::create_symlink("..data/token", root_ / "token");
    fs::create_symlink("..data/nested", root_ / "nested");
  }

  void replace() {
    const std::string name = "..generation_" + std::to_string(++generation_);
    const std::string number = std::to_string(10'000'000 + generation_);
    std::string content;
    while (content.size() < 512 * kRecord) content += number;
    make_directory(root_ / name);
    write_file(root_ / name / "token", content, 0644);
    make_directory(root_ / name / "nested");
    write_file(root_ / name / "nested/token", content, 0644);
    fs::create_symlink(name, root_ / "..data_tmp");
    fs::rename(root_ / "..data_tmp", root_ / "..data");
    if (!former_.empty()) fs::remove_all(root_ / former_);
    former_ = name;
  }

 private:
  fs::path root_;
  std::string former_;
  int generation_ = 0;
};

bool is_one_generation(std::string_view content) {
  if (content.size() != 512 * kRecord) return false;
  for (std::size_t i = 0; i < content.size(); i += kRecord) {
    if (content.substr(i, kRecord) != content.substr(0, kRecord)) return false;
  }
  return true;
}

struct Reads {
  int failed = 0;
  int torn = 0;
  std::string text = {};
};

Reads read_often(const fs::path& path, int times) {
  Reads reads;
  for (int i = 0; i < times; ++i) {
    const Result<SecretString> content = read_secret_file(path);
    if (!content) {
      ++reads.failed;
      reads.text = test::full_text(content.error());
    } else if (!is_one_generation(content->reveal())) {
      ++reads.torn;
    }
  }
  return reads;
}

TEST_CASE("a projected volume is read through its links, in a sticky root of mode 1777") {
  if (!test::is_root_or_counted("a projected volume, whose root is root's")) return;
  const TempDir dir;
  Volume volume(dir / "volume");
  for (int i = 0; i < 3; ++i) {
    for (const std::string_view name : {"token", "..data/token", "nested/token"}) {
      CAPTURE(name);
      const Result<SecretString> content = read_secret_file(dir / "volume" / name);
      REQUIRE(content);
      CHECK(is_one_generation(content->reveal()));
    }
    volume.replace();
  }
}

TEST_CASE("while kubelet swaps ..data, every read gives one generation, and none fails") {
  if (!test::is_root_or_counted("reads of a volume that is swapped")) return;
  const TempDir dir;
  Volume volume(dir / "volume");
  for (const std::string_view name : {"token", "nested/token"}) {
    CAPTURE(name);
    const Meanwhile swapping([&volume] { volume.replace(); });
    const Reads reads = read_often(dir / "volume" / name, 3000);
    CAPTURE(reads.text);
    CHECK(reads.failed == 0);
    CHECK(reads.torn == 0);
    CHECK(swapping.count() > 0);
  }
}

TEST_CASE("while a file is replaced by rename, every read gives one content, and none fails") {
  const TempDir dir;
  int generation = 0;
  const auto replace = [&dir, &generation] {
    const std::string number = std::to_string(10'000'000 + ++generation);
    std::string content;
    while (content.size() < 512 * kRecord) content += number;
    write_file(dir / "new", content);
    fs::rename(dir / "new", dir / "token");
  };
  replace();
  const Meanwhile replacing(replace);
  const Reads reads = read_often(dir / "token", 3000);
  CAPTURE(reads.text);
  CHECK(reads.failed == 0);
  CHECK(reads.torn == 0);
}

TEST_CASE("a file that keeps changing is reported as unavailable, not as a configuration error") {
  // Large, so that a read lasts longer than the file stays the same.
  constexpr std::size_t kSize = 32 * 1024 * 1024;
  const TempDir dir;
  const FileDescriptor file(open((dir / "token").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  REQUIRE(ftruncate(file.get(), kSize) == 0);
  const Meanwhile changing([&file] {
    if (pwrite(file.get(), "x", 1, 0) != 1) std::abort();
  });
  bool was_told = false;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!was_told && std::chrono::steady_clock::now() < end) {
    const Result<SecretString> content = read_secret_file(dir / "token", kSize);
    if (content) continue;
    check_fails(content, Error::Kind::unavailable, "keeps changing");
    was_told = true;
  }
  CHECK(was_told);
}

TEST_CASE("the last name may be a link to a place inside its own directory") {
  const TempDir dir;
  make_directory(dir / "a");
  make_directory(dir / "a/b");
  write_file(dir / "token", "t");
  write_file(dir / "a/b/deep", "t");
  struct Case {
    std::string_view link, target;
  };
  for (const Case& c : {Case{"l1", "token"}, Case{"l2", "./token"}, Case{"l3", "a/b/deep"},
                        Case{"l4", "a/../token"}, Case{"l5", "a/b/../../token"}, Case{"l6", "l5"},
                        Case{"a/l7", "b/deep"}}) {
    CAPTURE(c.link);
    CAPTURE(c.target);
    fs::create_symlink(c.target, dir / c.link);
    const Result<SecretString> content = read_secret_file(dir / c.link);
    REQUIRE(content);
    CHECK(content->reveal() == "t");
  }
}

TEST_CASE("a last name that links out of its directory, directly or indirectly, is refused") {
  const TempDir dir;
  write_file(dir / "secret", "s");
  make_directory(dir / "volume");
  make_directory(dir / "volume/a");
  fs::create_symlink("..", dir / "volume/up");
  fs::create_symlink(dir.path(), dir / "volume/away");
  fs::create_symlink("../..", dir / "volume/a/up");
  for (const std::string& target :
       {(dir / "secret").native(), std::string("../secret"), std::string("a/../../secret"),
        std::string("up/secret"), std::string("away/secret"), std::string("a/up/secret"),
        std::string("../volume/../secret"), std::string("/proc/self/environ")}) {
    CAPTURE(target);
    const fs::path link = dir / "volume/link";
    fs::create_symlink(target, link);
    check_fails(read_secret_file(link), kConfiguration, "leaves its directory");
    fs::remove(link);
  }
}

TEST_CASE("a link in the middle of the path may lead anywhere") {
  const TempDir dir;
  make_directory(dir / "real");
  write_file(dir / "real/token", "t");
  make_directory(dir / "folder");
  fs::create_symlink(dir / "real", dir / "folder/absolute");
  fs::create_symlink("../real", dir / "folder/relative");
  for (const std::string_view name : {"absolute", "relative"}) {
    CAPTURE(name);
    const Result<SecretString> content = read_secret_file(dir / "folder" / name / "token");
    REQUIRE(content);
    CHECK(content->reveal() == "t");
  }
  test::set_mode(dir / "real", 0777);
  check_fails(read_secret_file(dir / "folder/absolute/token"), kConfiguration,
              "is writable by other users");
}

TEST_CASE("links in a loop, dangling links and links to directories are refused") {
  const TempDir dir;
  fs::create_symlink("circle", dir / "circle");
  fs::create_symlink("b", dir / "a");
  fs::create_symlink("a", dir / "b");
  fs::create_symlink("nothing", dir / "dangling");
  fs::create_symlink(".", dir / "here");
  make_directory(dir / "folder");
  fs::create_symlink("folder", dir / "to-folder");
  struct Case {
    std::string_view link, message;
  };
  for (const Case& c : {Case{"circle", "symbolic links"}, Case{"a", "symbolic links"},
                        Case{"circle/x", "symbolic links"}, Case{"dangling", "No such file"},
                        Case{"dangling/x", "No such file"}, Case{"here", "directory"},
                        Case{"to-folder", "directory"}}) {
    CAPTURE(c.link);
    check_fails(read_secret_file(dir / c.link), kConfiguration, c.message);
  }
}

TEST_CASE("read_untrusted_file: follows links to any place") {
  const TempDir dir;
  write_file(dir / "profile", "p", 0666);
  make_directory(dir / "folder", 0777);
  fs::create_symlink("../profile", dir / "folder/link");
  CHECK(*read_untrusted_file(dir / "folder/link", 100) == "p");
}

}  // namespace
}  // namespace execcred
