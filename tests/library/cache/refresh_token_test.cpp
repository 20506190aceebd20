// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"
#include "hostile_files.hpp"
#include "support/processes.hpp"

#include <execcred/cache/listing.hpp>
#include <execcred/cache/refresh_token_store.hpp>
#include <execcred/cache/tidy.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

namespace execcred {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::check_fails;
using test::contains;
using test::content_of;
using Source = RefreshTokenStore::Source;

Source source_of(std::string_view original) {
  return {.token_server = "https://idp.example.com/token",
          .client_id = "controller",
          .original = SecretString(original)};
}

CacheDirectory open_directory(const fs::path& path) {
  Result<CacheDirectory> directory =
      CacheDirectory::open(path.native(), Environment(), CacheDirectory::IfMissing::create);
  REQUIRE(directory);
  return std::move(directory).value();
}

// A cache directory, and what the processes of one user do with it.
struct Fixture {
  Result<RefreshTokenStore> open(const Source& source, Duration patience = 10s) const {
    return RefreshTokenStore::open(directory, source, steady_clock::now() + patience, clock);
  }
  Result<RefreshTokenStore> open(std::string_view original = "rt-1") const {
    return open(source_of(original));
  }
  std::string current(std::string_view original = "rt-1") const {
    const Result<RefreshTokenStore> store = open(original);
    return store ? std::string(store->current().reveal()) : store.error().message;
  }
  void keep(std::string_view token, std::string_view original = "rt-1") const {
    Result<RefreshTokenStore> store = open(original);
    REQUIRE(store);
    REQUIRE(store->keep(SecretString(token)));
  }
  // The only file of a refresh token.
  fs::path file() const {
    fs::path found;
    long position = 0;
    for (const std::string& name : directory.names(100, position)) {
      if (name.ends_with(kRefreshTokenEnding)) found = dir / ("cache/" + name);
    }
    REQUIRE_FALSE(found.empty());
    return found;
  }

  test::TempDir dir;
  CacheDirectory directory = open_directory(dir / "cache");
  test::SetClock clock;
};

TEST_CASE("refresh token: the original is used until the server replaces it") {
  const Fixture fixture;
  CHECK(fixture.current() == "rt-1");
  fixture.keep("rt-2");
  CHECK(fixture.current() == "rt-2");
  fixture.keep("rt-3");
  CHECK(fixture.current() == "rt-3");
  fixture.keep("");
  CHECK(fixture.current() == "rt-3");
}

TEST_CASE("refresh token: a replacement belongs to one original, one server and one client") {
  const Fixture fixture;
  fixture.keep("rt-2");
  CHECK(fixture.current("new-1") == "new-1");
  CHECK(fixture.current("rt-1") == "rt-2");
  Source elsewhere = source_of("rt-1");
  elsewhere.token_server = "https://other.example.com/token";
  CHECK(fixture.open(elsewhere)->current().reveal() == "rt-1");
  Source other_client = source_of("rt-1");
  other_client.client_id = "controller-2";
  CHECK(fixture.open(other_client)->current().reveal() == "rt-1");
}

TEST_CASE("refresh token: the file is private, and does not contain the original") {
  const Fixture fixture;
  CHECK(fixture.current("original-s3cret") == "original-s3cret");
  CHECK_FALSE(contains(content_of(fixture.file()), "original-s3cret"));
  fixture.keep("rt-2", "original-s3cret");
  const fs::path file = fixture.file();
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const std::string text = content_of(file);
  CHECK(contains(text, "rt-2"));
  CHECK_FALSE(contains(text, "original-s3cret"));
}

TEST_CASE("refresh token: a process reports that it waited too long for another one") {
  const Fixture fixture;
  const Result<RefreshTokenStore> store = fixture.open();
  REQUIRE(store);
  const auto start = steady_clock::now();
  const Result<RefreshTokenStore> second = fixture.open(source_of("rt-1"), 20ms);
  check_fails(second, Error::Kind::unavailable, "another process uses the refresh token");
  CHECK(steady_clock::now() - start >= 20ms);
  CHECK(steady_clock::now() - start < 5s);
  // Another refresh token has its own lock.
  CHECK(fixture.open(source_of("new-1"), 0s));
}

TEST_CASE("refresh token: without a writable file for a replacement, none is given out") {
  const Fixture fixture;
  fixture.keep("rt-2");
  const fs::path file = fixture.file();
  fs::remove(file);
  test::make_directory(file, 0700);
  test::write_file(file / "x", "");
  const Result<RefreshTokenStore> store = fixture.open();
  check_fails(store, Error::Kind::unavailable, "cannot write the cache's file");
  check_fails(store, Error::Kind::unavailable, "hint: a server may replace the refresh token");
  fs::remove_all(fixture.dir / "cache");
  check_fails(fixture.open(), Error::Kind::unavailable, "no lock can be made");
}

TEST_CASE("refresh token: a new one that cannot be stored is an error, and is not used") {
  const Fixture fixture;
  Result<RefreshTokenStore> store = fixture.open();
  REQUIRE(store);
  check_fails(store->keep(SecretString(std::string(600'000, 'x'))), Error::Kind::unavailable,
              "too long");
  const fs::path file = fixture.file();
  fs::remove(file);
  test::make_directory(file, 0700);
  test::write_file(file / "x", "");
  check_fails(store->keep(SecretString("rt-2")), Error::Kind::unavailable, "cannot write");
  CHECK(store->current().reveal() == "rt-1");
}

TEST_CASE("refresh token: a file that is not as we write it is ignored" *
          doctest::description("promise 18")) {
  for (const test::HostileFile& hostile : test::hostile_files()) {
    CAPTURE(hostile.name);
    if (hostile.needs_root && !test::is_root_or_counted("a refresh token of another user")) {
      continue;
    }
    const Fixture fixture;
    fixture.keep("rt-2");
    hostile.put(fixture.file());
    CHECK(fixture.current() == "rt-1");
    fixture.keep("rt-3");
    CHECK(fixture.current() == "rt-3");
  }
}

TEST_CASE("refresh token: the file of another token under its name is ignored") {
  const Fixture fixture;
  fixture.keep("rt-2");
  const fs::path ours = fixture.file();
  fs::rename(ours, fixture.dir / "aside");
  fixture.keep("new-2", "new-1");
  fs::rename(fixture.file(), ours);
  CHECK(fixture.current() == "rt-1");
}

TEST_CASE("refresh token: its file is removed 90 days after its last use, not while in use") {
  Fixture fixture;
  fixture.keep("rt-2");
  fixture.clock.time += 24h * 89;
  CHECK(fixture.current() == "rt-2");
  tidy_cache(fixture.directory, "89ab", 0, fixture.clock.time + 24h * 89);
  CHECK(fixture.current() == "rt-2");
  {
    const Result<RefreshTokenStore> store = fixture.open();
    REQUIRE(store);
    tidy_cache(fixture.directory, "89ab", 0, fixture.clock.time + 24h * 91);
    CHECK(fs::exists(fixture.file()));
  }
  tidy_cache(fixture.directory, "89ab", 0, fixture.clock.time + 24h * 91);
  CHECK(fixture.current() == "rt-1");
}

TEST_CASE("refresh token: clear_cache keeps it, and list_cache does not show it") {
  const Fixture fixture;
  fixture.keep("rt-2");
  CHECK(list_cache(fixture.directory).empty());
  CHECK(clear_cache(fixture.directory) == 0);
  CHECK(fixture.current() == "rt-2");
}

// A server that gives rt-(N+1) for rt-N, and ends a process that sends one twice.
std::string spend(const fs::path& spent, std::string_view token) {
  const int file = open((spent / token).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) _exit(2);
  close(file);
  return "rt-" + std::to_string(std::stoi(std::string(token.substr(3))) + 1);
}

TEST_CASE("refresh token: concurrent processes never spend one twice" *
          doctest::description("promise 31")) {
  constexpr int kProcesses = 12;
  constexpr int kRounds = 10;
  const Fixture fixture;
  const fs::path spent = test::make_directory(fixture.dir / "spent");
  const std::vector<int> codes = test::run_at_once(kProcesses, [&](int) {
    for (int round = 0; round < kRounds; ++round) {
      Result<RefreshTokenStore> store = fixture.open(source_of("rt-1"), 60s);
      if (!store) return 3;
      if (!store->keep(SecretString(spend(spent, store->current().reveal())))) return 4;
    }
    return 0;
  });
  CHECK(codes == std::vector<int>(kProcesses, 0));
  CHECK(fixture.current() == "rt-" + std::to_string(kProcesses * kRounds + 1));
}

TEST_CASE("refresh token: killed at any system call, the old or the new one is stored" *
          doctest::description("promises 8, 24")) {
  int points = 0;
  for (const bool has_kept : {false, true}) {
    bool was_new = false;
    int stop = 1;
    for (bool is_killed = true; is_killed; ++stop) {
      const Fixture fixture;
      if (has_kept) fixture.keep("rt-2");
      is_killed = test::is_killed_at(stop, [&] {
        Result<RefreshTokenStore> store = fixture.open();
        if (store) static_cast<void>(store->keep(SecretString("rt-3")));
      });
      CAPTURE(stop);
      // At once, because the kernel has released the lock.
      const Result<RefreshTokenStore> store = fixture.open(source_of("rt-1"), 0s);
      REQUIRE(store);
      const std::string current(store->current().reveal());
      CAPTURE(current);
      const bool is_new = current == "rt-3";
      CHECK((is_new || current == (has_kept ? "rt-2" : "rt-1")));
      CHECK((is_new || !was_new));
      was_new = is_new;
    }
    CHECK(was_new);
    points += stop - 2;
  }
  MESSAGE("killed at " << points << " points");
  CHECK(points > 40);
}

}  // namespace
}  // namespace execcred
