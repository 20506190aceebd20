// SPDX-License-Identifier: Apache-2.0
// The token file during a renewal: by the kubelet, which replaces ..data, and by other programs,
// which write into it. What is given is one whole token, or nothing.
#include "file_watch.hpp"
#include "support/syscall_stops.hpp"
#include "support/token_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

// A projected volume as the kubelet's atomic writer keeps it: token -> ..data/token, and ..data
// -> a directory per generation, replaced by rename.
class ProjectedVolume {
 public:
  ProjectedVolume() {
    fs::create_directory(root());
    renew();
    fs::create_symlink("..data/token", root() / "token");
  }

  fs::path root() const { return sandbox_.path() / "volume"; }
  std::string path() const { return (root() / "token").native(); }
  static std::string token_of(int generation) {
    return "generation-" + std::to_string(generation) + "-" +
           std::string(2000 + static_cast<std::size_t>(generation % 7) * 500, 'x') + "-end";
  }
  int generation() const { return generation_; }

  void renew() {
    const int next = generation_ + 1;
    const std::string folder = "..generation_" + std::to_string(next);
    sandbox_.write("volume/" + folder + "/token", token_of(next));
    fs::remove(root() / "..data_tmp");
    fs::create_directory_symlink(folder, root() / "..data_tmp");
    fs::rename(root() / "..data_tmp", root() / "..data");
    generation_ = next;
    if (next > 1) fs::remove_all(root() / ("..generation_" + std::to_string(next - 1)));
  }

 private:
  Sandbox sandbox_;
  std::atomic<int> generation_ = 0;
};

// Writes another token into the same file, which is never empty meanwhile.
void overwrite(const std::string& path, char fill, std::size_t size) {
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream << std::string(size, fill);
}

void age(const std::string& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

// The output must fit into a pipe, because it is not read while the program is stopped.
constexpr std::size_t kSize = 40'000;

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("renewal: under constant swaps of ..data every run gives one whole, current token") {
  ProjectedVolume volume;
  std::atomic<bool> is_over = false;
  std::thread kubelet([&] {
    while (!is_over) volume.renew();
  });
  int different = 0;
  int last = 0;
  for (int round = 0; round < 60; ++round) {
    const int before = volume.generation();
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < 4; ++i) {
      children.push_back(
          std::make_unique<Child>(token_file_command({"--token-file=" + volume.path()})));
    }
    for (const std::unique_ptr<Child>& child : children) {
      const Outcome outcome = child->wait();
      CHECK_SUCCESS(outcome);
      const std::string token = read_answer(outcome.output).token;
      REQUIRE(token.starts_with("generation-"));
      const int given = std::stoi(token.substr(std::string("generation-").size()));
      CHECK(token == ProjectedVolume::token_of(given));
      CHECK(given >= before);
      if (given != last) ++different;
      last = given;
    }
  }
  is_over = true;
  kubelet.join();
  CHECK(different > 1);
  MESSAGE("240 runs during " << volume.generation() << " swaps saw " << different << " changes");
}

TEST_CASE("renewal: the next run gives the next token") {
  ProjectedVolume volume;
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = run(token_file_command({"--token-file=" + volume.path()}));
    CHECK(read_answer(outcome.output).token == ProjectedVolume::token_of(volume.generation()));
    volume.renew();
  }
}

TEST_CASE("renewal: a file that changes while it is read is read again") {
  const TokenFile file(std::string(kSize, 'a'));
  age(file.path());
  OpenWatch watch(file.path());
  int changes = 0;
  const Outcome outcome = run_with_stops(file.command(), [&] {
    if (changes > 0 || !watch.is_open()) return;
    ++changes;
    overwrite(file.path(), 'b', kSize);
  });
  REQUIRE(changes == 1);
  CHECK_SUCCESS(outcome);
  CHECK((read_answer(outcome.output).token == std::string(kSize, 'b')));
}

TEST_CASE("renewal: a file that grows or is cut while it is read is read again") {
  for (const std::size_t size : {kSize / 2, kSize + 5000}) {
    CAPTURE(size);
    const TokenFile file(std::string(kSize, 'a'));
    age(file.path());
    OpenWatch watch(file.path());
    int changes = 0;
    const Outcome outcome = run_with_stops(file.command(), [&] {
      if (changes > 0 || !watch.is_open()) return;
      ++changes;
      overwrite(file.path(), 'b', size);
      fs::resize_file(file.path(), size);
    });
    REQUIRE(changes == 1);
    CHECK_SUCCESS(outcome);
    CHECK((read_answer(outcome.output).token == std::string(size, 'b')));
  }
}

TEST_CASE("renewal: a file that keeps changing is a temporary failure, not a torn token") {
  const TokenFile file(std::string(kSize, 'a'));
  age(file.path());
  OpenWatch watch(file.path());
  int changes = 0;
  const Outcome outcome = run_with_stops(file.command(), [&] {
    if (!watch.is_open()) return;
    ++changes;
    overwrite(file.path(), static_cast<char>('b' + changes % 20), kSize - 100);
  });
  CHECK(changes > 2);
  CHECK_REFUSAL(outcome, 3, "changing");
}

TEST_CASE("renewal: a file that is replaced while it is read gives the old token or the new one") {
  const TokenFile file(std::string(kSize, 'a'));
  age(file.path());
  OpenWatch watch(file.path());
  int changes = 0;
  const Outcome outcome = run_with_stops(file.command(), [&] {
    if (changes > 0 || !watch.is_open()) return;
    ++changes;
    fs::rename(file.sandbox().write("new", std::string(kSize, 'b')), file.path());
  });
  REQUIRE(changes == 1);
  CHECK_SUCCESS(outcome);
  const std::string token = read_answer(outcome.output).token;
  CHECK((token == std::string(kSize, 'a') || token == std::string(kSize, 'b')));
}

TEST_SUITE_END();
