// SPDX-License-Identifier: Apache-2.0
// One lock, whose file is created and removed.
#include <execcred/cache/lock.hpp>
#include "fixture.hpp"
#include "support/processes.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using Attempt = CacheLock::Attempt;

CacheDirectory open_directory(const test::TempDir& dir) {
  const Environment environment;
  Result<CacheDirectory> directory = CacheDirectory::open((dir / "cache").native(), environment,
                                                          CacheDirectory::IfMissing::create);
  REQUIRE(directory);
  return std::move(directory).value();
}

TEST_CASE("lock: one holder at a time, until it unlocks" * doctest::description("promise 24")) {
  const test::TempDir dir;
  const CacheDirectory directory = open_directory(dir);
  CacheLock first(directory, "key.lock");
  CacheLock second(directory, "key.lock");
  CacheLock other(directory, "other.lock");
  CHECK(first.try_lock() == Attempt::locked);
  CHECK(second.try_lock() == Attempt::busy);
  CHECK(other.try_lock() == Attempt::locked);
  first.unlock();
  CHECK(second.try_lock() == Attempt::locked);
  CHECK(first.try_lock() == Attempt::busy);
}

TEST_CASE("lock: after its file is removed, a waiting process locks the new file" *
          doctest::description("promise 24")) {
  const test::TempDir dir;
  const CacheDirectory directory = open_directory(dir);
  CacheLock holder(directory, "key.lock");
  CacheLock waiting(directory, "key.lock");
  CacheLock late(directory, "key.lock");
  REQUIRE(holder.try_lock() == Attempt::locked);
  holder.remove();
  CHECK_FALSE(fs::exists(dir / "cache/key.lock"));
  // While its holder has it, no other process gets a lock whose file was deleted.
  CHECK(waiting.try_lock() == Attempt::busy);
  holder.unlock();
  CHECK(waiting.try_lock() == Attempt::locked);
  CHECK(fs::exists(dir / "cache/key.lock"));
  CHECK(late.try_lock() == Attempt::busy);
  CHECK(holder.try_lock() == Attempt::busy);
  waiting.unlock();
  CHECK(late.try_lock() == Attempt::locked);
}

TEST_CASE("a storm on a lock whose holders remove its file: never two holders at once" *
          doctest::description("promise 24")) {
  const test::TempDir dir;
  constexpr int kProcesses = 12;
  constexpr int kRounds = 400;
  const test::Tally removed(dir / "removed");
  const CacheDirectory directory = open_directory(dir);
  const std::string inside = (dir / "inside").native();
  const std::vector<int> codes = test::run_at_once(kProcesses, [&](int number) {
    for (int round = 0; round < kRounds; ++round) {
      CacheLock lock(directory, "key.lock");
      while (lock.try_lock() != Attempt::locked) sched_yield();
      const FileDescriptor alone(open(inside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (!alone) return 97;
      if (round % 3 == 0) sched_yield();
      if (unlink(inside.c_str()) != 0) return 98;
      if ((number + round) % 2 == 0) {
        lock.remove();
        removed.add();
      }
      // Otherwise the destructor unlocks it.
      if (round % 5 == 0) lock.unlock();
    }
    return 0;
  });
  CHECK(std::count(codes.begin(), codes.end(), 0) == kProcesses);
  CHECK(removed.count() == kProcesses * kRounds / 2);
}

}  // namespace
}  // namespace execcred
