// SPDX-License-Identifier: Apache-2.0
// read_secret_directory: several files of one state of a mounted volume.
#include "expect.hpp"
#include "temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>

#include <atomic>
#include <thread>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using test::check_fails;
using test::make_directory;
using test::TempDir;
using test::write_file;

constexpr auto kConfiguration = Error::Kind::configuration;

// A volume as the kubelet writes it. Every file of a generation holds the generation's number.
class Volume {
 public:
  explicit Volume(fs::path root) : root_(make_directory(root)) { replace(); }

  void replace() {
    const std::string name = "..generation_" + std::to_string(++generation_);
    make_directory(root_ / name);
    for (const char* file : {"a", "b", "c"}) {
      write_file(root_ / name / file, std::to_string(generation_), 0644);
    }
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

TEST_CASE("read_secret_directory: files are in the requested order, and missing ones are nullopt") {
  const TempDir dir;
  write_file(dir / "a", "1");
  write_file(dir / "b", "2");
  const auto contents = read_secret_directory(dir.path(), {"b", "none", "a"});
  REQUIRE(contents);
  REQUIRE(contents->size() == 3);
  CHECK((*contents)[0]->reveal() == "2");
  CHECK_FALSE((*contents)[1].has_value());
  CHECK((*contents)[2]->reveal() == "1");
}

TEST_CASE("read_secret_directory: a missing key of a volume is nullopt, without waiting") {
  const TempDir dir;
  const Volume volume(dir / "v");
  const auto contents = read_secret_directory(dir / "v", {"a", "none"});
  REQUIRE(contents);
  CHECK((*contents)[0]->reveal() == "1");
  CHECK_FALSE((*contents)[1].has_value());
}

TEST_CASE("read_secret_directory: all files are of one state while the kubelet swaps ..data") {
  const TempDir dir;
  Volume volume(dir / "v");
  std::atomic<bool> is_over = false;
  std::atomic<int> swaps = 0;
  // A read that meets more swaps than it has attempts fails by design.
  constexpr int kMostSwapsOfOneRead = 4;
  std::atomic<int> swaps_of_this_read = 0;
  std::thread swapping([&] {
    while (!is_over) {
      if (swaps_of_this_read >= kMostSwapsOfOneRead) {
        std::this_thread::yield();
        continue;
      }
      volume.replace();
      ++swaps_of_this_read;
      ++swaps;
    }
  });
  int failed = 0;
  int torn = 0;
  std::string told;
  for (int i = 0; i < 2000; ++i) {
    swaps_of_this_read = 0;
    const auto contents = read_secret_directory(dir / "v", {"a", "b", "c"});
    if (!contents) {
      ++failed;
      told = test::full_text(contents.error());
    } else if (!(*contents)[0] || !(*contents)[1] || !(*contents)[2] ||
               (*contents)[0]->reveal() != (*contents)[1]->reveal() ||
               (*contents)[0]->reveal() != (*contents)[2]->reveal()) {
      ++torn;
    }
  }
  is_over = true;
  swapping.join();
  CAPTURE(told);
  CHECK(failed == 0);
  CHECK(torn == 0);
  CHECK(swaps > 10);
}

TEST_CASE("read_secret_directory: ..data may not point outside the folder") {
  const TempDir dir;
  write_file(dir / "token", "outside");
  make_directory(dir / "other");
  write_file(dir / "other/token", "outside");
  for (const std::string& target :
       {std::string(".."), std::string("../other"), std::string("../"), (dir / "other").native()}) {
    CAPTURE(target);
    make_directory(dir / "v");
    fs::create_symlink(target, dir / "v/..data");
    check_fails(read_secret_directory(dir / "v", {"token"}), kConfiguration,
                "leaves its directory");
    fs::remove_all(dir / "v");
  }
}

TEST_CASE("read_secret_directory: a missing or writable folder and a large file are errors") {
  const TempDir dir;
  write_file(dir / "file", std::string(100, 'x'));
  check_fails(read_secret_directory(dir / "none", {"a"}), kConfiguration, "No such file");
  check_fails(read_secret_directory(dir / "file", {"a"}), kConfiguration, "Not a directory");
  check_fails(read_secret_directory(dir.path(), {"file"}, 99), kConfiguration, "larger than");
  make_directory(dir / "open", 0777);
  write_file(dir / "open/a", "x");
  check_fails(read_secret_directory(dir / "open", {"a"}), kConfiguration,
              "is writable by other users");
}

}  // namespace
}  // namespace execcred
