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
  test::write_file(cache.file(".credential", sample_key("stray")), "no entry");
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
  test::write_file(cache.file(".0123456789abcdef.new"), "left behind");
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
  const auto name_of = [](std::string_view of, int number) {
    return hash_key(std::to_string(number)).hex() + std::string(of);
  };
  const auto put = [&](const std::string& name, TimePoint ends) {
    REQUIRE(directory->mark(name) == CacheDirectory::Marked::now);
    const timespec time = {
        .tv_sec = std::chrono::floor<std::chrono::seconds>(ends).time_since_epoch().count(),
        .tv_nsec = 0};
    const std::array<timespec, 2> times = {time, time};
    REQUIRE(utimensat(directory->descriptor(), name.c_str(), times.data(), 0) == 0);
  };
  for (int i = 0; i < kNeeded; ++i) put(name_of(".discovery", i), end);
  for (int i = 0; i < kNeedless / 2; ++i) {
    put(name_of(".credential", kNeeded + i), cache.clock.time);
    put(name_of(".lock", 2 * kNeeded + i), cache.clock.time - 10min);
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
  const std::string lost = name_of(".lock", -1);
  for (const std::string_view position : {"9223372036854775807", "-1", "x", ""}) {
    CAPTURE(position);
    put(lost, cache.clock.time - 10min);
    test::write_file(cache.path() / "tidy.position", position, 0600);
    for (int i = 0; i < kMostRuns && fs::exists(cache.path() / lost); ++i) {
      tidy_cache(*directory, "89ab", static_cast<std::uint64_t>(i) * 7'919, cache.clock.time);
    }
    CHECK_FALSE(fs::exists(cache.path() / lost));
  }
  for (int i = 10; i < kNeeded; ++i) directory->remove(name_of(".discovery", i));
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
  const fs::path document = cache.file(".discovery", sample_key("document"));
  const std::string name = document.filename();
  REQUIRE(directory->write(name, "a document", cache.clock.time + 1h));
  CHECK(list_cache(*directory).size() == 1);
  tidy_cache(*directory, "89ab", 0, cache.clock.time + 59min);
  CHECK(fs::exists(document));
  tidy_cache(*directory, "89ab", 0, cache.clock.time + 1h);
  CHECK_FALSE(fs::exists(document));
  CHECK_FALSE(fs::exists(cache.file(".lock", sample_key("document"))));
  REQUIRE(directory->write(name, "a document", cache.clock.time + 1h));
  clear_cache(*directory);
  CHECK_FALSE(fs::exists(document));
}

TEST_CASE("a file of a killed writer is removed after ten minutes, not before") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  const fs::path left =
      test::write_file(cache.file(".0123456789abcdef.new", sample_key("x")), "left behind");
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  const TimePoint now =
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  tidy_cache(*directory, "89ab", 0, now + 9min);
  CHECK(fs::exists(left));
  tidy_cache(*directory, "89ab", 0, now + 11min);
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("files of other programs in the directory are not listed and not removed") {
  CacheFixture cache;
  CHECK(cache.token() == "token-1");
  const std::string key = hash_key("x").hex();
  const std::string upper = "ABCDEF0123456789ABCDEF0123456789";
  const std::set<std::string> names = {"Cargo.lock",
                                       "db.credential",
                                       "login.refresh",
                                       "http.request",
                                       "last.failure",
                                       "mail.seen",
                                       "dns.discovery",
                                       "page.new",
                                       "tidy.lock",
                                       "tidy.positions",
                                       ".lock",
                                       key,
                                       key + ".",
                                       key + ".locks",
                                       key + "0.lock",
                                       key.substr(1) + ".lock",
                                       upper + ".lock",
                                       key + ".0123.new",
                                       key + ".0123456789abcdef.seen",
                                       "x" + key + ".credential"};
  for (const std::string& name : names) test::write_file(cache.path() / name, "mine", 0600);
  const auto others = [&] {
    std::set<std::string> found;
    for (const auto& file : fs::directory_iterator(cache.path())) {
      const std::string name = file.path().filename();
      if (names.contains(name)) found.insert(name);
    }
    return found;
  };
  const Result<CacheDirectory> directory = open_directory(cache);
  REQUIRE(directory);
  CHECK(list_cache(*directory).size() == 1);
  // A year later, every file of the cache is needless.
  const TimePoint later =
      std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now()) +
      24h * 365;
  for (int i = 0; i < 10; ++i) tidy_cache(*directory, "89ab", static_cast<std::uint64_t>(i), later);
  CHECK(others() == names);
  CHECK(count_of(cache, "") == names.size());
  CHECK(cache.token() == "token-2");
  CHECK(clear_cache(*directory) == 1);
  CHECK(others() == names);
}

}  // namespace
}  // namespace execcred
