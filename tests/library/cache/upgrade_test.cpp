// SPDX-License-Identifier: Apache-2.0
// Entries that an older version wrote are served, and not asked for again (tests/upgrade).
#include "fixture.hpp"

#include "test_paths.hpp"
#include "unit/temp_dir.hpp"

#include <sys/stat.h>

#include <sstream>

using namespace execcred;
using namespace execcred::test;

namespace {

namespace fs = std::filesystem;

// The value of a field "NAME LENGTH\nVALUE\n" of an entry.
std::string field(const std::string& entry, const std::string& name) {
  const std::size_t at = entry.find("\n" + name + " ");
  if (at == std::string::npos) return {};
  const std::size_t start = entry.find('\n', at + 1) + 1;
  return entry.substr(start, std::stoul(entry.substr(at + name.size() + 2)));
}

TimePoint time_of(const std::string& nanoseconds) {
  return TimePoint(std::chrono::duration_cast<TimePoint::duration>(
      std::chrono::nanoseconds(std::stoll(nanoseconds))));
}

// The key that an entry's text describes. Its first line is the format's version, which is not a
// field.
CacheKey key_of(const std::string& text) {
  CacheKey key;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t equal = line.find('=');
    key.add(line.substr(0, equal), line.substr(equal + 1));
  }
  return key;
}

}  // namespace

TEST_SUITE_BEGIN("cache");

TEST_CASE("upgrade: an entry that an older version wrote is served, under the same name") {
  int count = 0;
  for (const auto& version : fs::directory_iterator(EXECCRED_SOURCE "/tests/upgrade")) {
    if (!version.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(version.path() / "cache")) {
      CAPTURE(file.path().native());
      const std::string entry = content_of(file.path());
      CacheFixture fixture;
      fixture.clock.time = time_of(field(entry, "created")) + 1min;
      const CacheKey key = key_of(field(entry, "key"));
      CHECK(fixture.file(".credential", key).filename() == file.path().filename());
      REQUIRE(mkdir(fixture.path().c_str(), 0700) == 0);
      const fs::path copy = fixture.file(".credential", key);
      fs::copy_file(file.path(), copy);
      fs::permissions(copy, fs::perms(0600));
      CHECK(fixture.token(key) == field(entry, "token"));
      CHECK(fixture.provider.calls == 0);
      // It expires at the time that it contains.
      fixture.clock.time = time_of(field(entry, "expires")) + 1s;
      CHECK(fixture.token(key) == "token-1");
      ++count;
    }
  }
  CHECK(count >= 1);
}

TEST_SUITE_END();
