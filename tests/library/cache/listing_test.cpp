// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <execcred/cache/listing.hpp>
#include <execcred/cache/tidy.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::CacheFixture;
using test::sample_key;

Result<CacheDirectory> open_directory(const CacheFixture& cache) {
  return CacheDirectory::open(cache.path().native(), cache.environment,
                              CacheDirectory::IfMissing::leave);
}

std::size_t count_of(const CacheFixture& cache, std::string_view ending) {
  std::size_t count = 0;
  for (const auto& file : fs::directory_iterator(cache.path())) {
    count += file.path().native().ends_with(ending) ? 1U : 0U;
  }
  return count;
}

TEST_CASE("list_cache: keys, identity, target and times, and no secret") {
  CacheFixture cache;
  CHECK(cache.token(sample_key("https://b.example.com")) == "token-1");
  CHECK(cache.token(sample_key("https://a.example.com")) == "token-2");
  cache.clock.time += 56min;
  cache.provider.error = test::down();
  CHECK(cache.token(sample_key("https://a.example.com")) == "token-2");
  test::write_file(cache.path() / "stray.credential", "no entry");
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  const std::vector<CacheItem> items = list_cache(*directory);
  REQUIRE(items.size() == 3);
  CHECK(items[0].key == sample_key("https://a.example.com").text());
  CHECK(items[0].identity == "controller");
  CHECK(items[0].target == "https://spoke-1.example.com");
  CHECK(items[0].created == cache.clock.time - 56min);
  CHECK(items[0].ends == cache.clock.time + 4min);
  CHECK_FALSE(items[0].failure);
  CHECK(items[1].key == items[0].key);
  REQUIRE(items[1].failure);
  CHECK(items[1].failure->message == "the provider is down");
  CHECK(items[1].ends == cache.clock.time + 2s);
  CHECK(items[2].key == sample_key("https://b.example.com").text());
  for (const CacheItem& item : items) {
    CHECK_FALSE(test::contains(item.key + item.identity + item.target, "token-"));
  }
}

TEST_CASE("clear_cache: everything is removed except the locks") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  cache.provider.error = test::refused();
  CHECK(cache.token(sample_key("https://b.example.com")) == "invalid_grant");
  cache.provider.error.reset();
  test::write_file(cache.path() / "abc.0123.new", "left behind");
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  CHECK(clear_cache(*directory) == 2);
  CHECK(count_of(cache, "") == count_of(cache, ".lock"));
  CHECK(cache.token() == "token-3");
  CHECK(clear_cache(*directory) == 1);
  CHECK(clear_cache(*directory) == 0);
}

TEST_CASE("a run that writes removes files that are no longer needed") {
  CacheFixture cache;
  cache.provider.lifetime = 5min;
  constexpr int kKeys = 100;
  for (int i = 0; i < kKeys; ++i) CHECK(cache.token(sample_key(std::to_string(i))) != "");
  CHECK(count_of(cache, ".credential") == kKeys);
  // A mark's age is that of its file, so the clock moves to 26 hours after the real time.
  cache.clock.time =
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now()) +
      26h;
  for (int i = 0; i < 1000 && count_of(cache, ".credential") > 1; ++i) {
    cache.clock.time += 5min;
    REQUIRE(cache.is_served_newest());
  }
  CHECK(count_of(cache, ".credential") == 1);
  for (int i = 0; i < 1000 && count_of(cache, ".seen") > 1; ++i) {
    cache.clock.time += 5min;
    REQUIRE(cache.is_served_newest());
  }
  CHECK(count_of(cache, ".seen") == 1);
  CHECK(count_of(cache, ".lock") == 1);
  CHECK(count_of(cache, "") == 3);
}

TEST_CASE("keys that are used only once leave a bounded number of files") {
  CacheFixture cache;
  cache.provider.lifetime = 5min;
  constexpr int kRuns = 1'000;
  std::size_t most = 0;
  for (int i = 0; i < kRuns; ++i) {
    cache.clock.time += 1min;
    REQUIRE(cache.token(sample_key(std::to_string(i))) == "token-" + std::to_string(i + 1));
    most = std::max(most, count_of(cache, ""));
  }
  // Five are valid at a time, each with its lock and a mark.
  CHECK(most <= 30);

  // A failure is kept for an hour after its window.
  cache.provider.error = test::refused();
  most = 0;
  for (int i = kRuns; i < 2 * kRuns; ++i) {
    cache.clock.time += 1min;
    REQUIRE(cache.token(sample_key(std::to_string(i))) == "invalid_grant");
    most = std::max(most, count_of(cache, ""));
  }
  CHECK(most <= 300);

  // A failure of this machine is not remembered.
  cache.provider.error->is_local = true;
  cache.clock.time += 2h;
  for (int i = 2 * kRuns; i < 3 * kRuns; ++i) {
    REQUIRE(cache.token(sample_key(std::to_string(i))) == "invalid_grant");
  }
  CHECK(count_of(cache, "") <= 5);

  // The provider's credentials have expired already, so none is cached.
  cache.provider = {.lifetime = -1min};
  for (int i = 3 * kRuns; i < 4 * kRuns; ++i) {
    REQUIRE(cache.token(sample_key(std::to_string(i))) != "");
  }
  CHECK(count_of(cache, "") <= 5);
}

TEST_CASE("a large directory is tidied in parts, one part in each run") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  // More files that must stay than one run reads.
  const TimePoint end = cache.clock.time + 1h;
  constexpr int kNeeded = 25'000;
  constexpr int kNeedless = 2'000;
  const auto put = [&](const std::string& name, TimePoint ends) {
    REQUIRE(directory->mark(name) == CacheDirectory::Marked::now);
    const timespec time = {
        .tv_sec = std::chrono::floor<std::chrono::seconds>(ends).time_since_epoch().count(),
        .tv_nsec = 0};
    const std::array<timespec, 2> times = {time, time};
    REQUIRE(utimensat(directory->descriptor(), name.c_str(), times.data(), 0) == 0);
  };
  for (int i = 0; i < kNeeded; ++i) put(std::to_string(i) + ".discovery", end);
  for (int i = 0; i < kNeedless / 2; ++i) {
    put("old" + std::to_string(i) + ".credential", cache.clock.time);
    put("lost" + std::to_string(i) + ".lock", cache.clock.time - 10min);
  }
  constexpr int kMostRuns = 1'000;
  const auto count_needless = [&] {
    return count_of(cache, ".credential") + count_of(cache, ".lock") - 2;
  };
  std::uint64_t runs = 0;
  for (; runs < kMostRuns && (runs % 50 != 0 || count_needless() > 0); ++runs) {
    tidy_cache(*directory, "89ab", runs * 7'919, cache.clock.time);
  }
  CHECK(count_needless() == 0);
  CHECK(count_of(cache, ".discovery") == kNeeded);
  CHECK(cache.token() == "token-1");

  // An invalid position does not stop the tidying.
  for (const std::string_view position : {"9223372036854775807", "-1", "x", ""}) {
    CAPTURE(position);
    put("lost.lock", cache.clock.time - 10min);
    test::write_file(cache.path() / "tidy.position", position, 0600);
    for (int i = 0; i < kMostRuns && fs::exists(cache.path() / "lost.lock"); ++i) {
      tidy_cache(*directory, "89ab", static_cast<std::uint64_t>(i) * 7'919, cache.clock.time);
    }
    CHECK_FALSE(fs::exists(cache.path() / "lost.lock"));
  }
  for (int i = 10; i < kNeeded; ++i) directory->remove(std::to_string(i) + ".discovery");
  tidy_cache(*directory, "89ab", 0, cache.clock.time);
  CHECK_FALSE(fs::exists(cache.path() / "tidy.position"));
}

TEST_CASE("all marks of an entry are removed with it") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  for (int i = 0; i < 500; ++i) {
    cache.client = "client-" + std::to_string(i);
    CHECK(cache.token() == "token-1");
  }
  // The first client of the fixture, "client-1", is among them.
  CHECK(count_of(cache, ".seen") == 500);
  cache.clock.time += 1h;
  CHECK(cache.token() == "token-2");
  CHECK(count_of(cache, ".seen") == 1);
}

TEST_CASE("a discovery document is removed after its expiry, and by clear_cache") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  const fs::path document = cache.path() / "0123.discovery";
  REQUIRE(directory->write("0123.discovery", "a document", cache.clock.time + 1h));
  CHECK(list_cache(*directory).size() == 1);
  tidy_cache(*directory, "89ab", 0, cache.clock.time + 59min);
  CHECK(fs::exists(document));
  tidy_cache(*directory, "89ab", 0, cache.clock.time + 1h);
  CHECK_FALSE(fs::exists(document));
  CHECK_FALSE(fs::exists(cache.path() / "0123.lock"));
  REQUIRE(directory->write("0123.discovery", "a document", cache.clock.time + 1h));
  clear_cache(*directory);
  CHECK_FALSE(fs::exists(document));
}

TEST_CASE("a file of a killed writer is removed after ten minutes, not before") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  const fs::path left = test::write_file(cache.path() / "0123.4567.new", "left behind");
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  const TimePoint now =
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  tidy_cache(*directory, "89ab", 0, now + 9min);
  CHECK(fs::exists(left));
  tidy_cache(*directory, "89ab", 0, now + 11min);
  CHECK_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace execcred
