// SPDX-License-Identifier: Apache-2.0
// execcred cache with unsafe directories, and with invalid files in its directory.
#include "filled_cache.hpp"
#include "plugin_under_test.hpp"
#include "rights.hpp"
#include "unit/temp_dir.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

using namespace blackbox;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 54321;

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("cache: every action reports an unsafe directory, and leaves its entries as they are") {
  struct Hostile {
    const char* name;
    const char* reason;
    std::function<void(const std::string&)> make;
    bool needs_root = false;
  };
  const std::vector<Hostile> cases = {
      {"of another user", "belongs to user 54321",
       [](const std::string& path) { execcred::test::give_to(path, kStranger); }, true},
      {"writable by others", "is open to other users",
       [](const std::string& path) { chmod(path.c_str(), 0777); }},
      {"readable by the group", "is open to other users",
       [](const std::string& path) { chmod(path.c_str(), 0750); }},
      {"a symbolic link", "is no directory",
       [](const std::string& path) {
         fs::rename(path, path + "-real");
         fs::create_symlink(path + "-real", path);
       }},
      {"a file", "is no directory",
       [](const std::string& path) {
         fs::rename(path, path + "-real");
         execcred::test::write_file(path, "x");
       }},
      {"below one that others may write", "is writable by other users",
       [](const std::string& path) { chmod(fs::path(path).parent_path().c_str(), 0777); }}};
  for (const Hostile& hostile : cases) {
    CAPTURE(hostile.name);
    if (hostile.needs_root && !execcred::test::is_root_or_counted("a cache of another user")) {
      continue;
    }
    const FilledCache cache;
    cache.add_credential("https://a.example.com", now(), now() + 1h);
    hostile.make(cache.path());
    for (const std::string action : {"list", "clear", "path"}) {
      const Outcome outcome = cache.run({action});
      CHECK_FAILURE(outcome, 2, "the cache directory");
      check_no_secret(outcome);
      CHECK_MESSAGE(says(outcome, hostile.reason), describe(outcome));
      CHECK_MESSAGE(says(outcome, "\n  hint: "), describe(outcome));
    }
    const std::string real =
        fs::is_directory(fs::symlink_status(cache.path())) ? cache.path() : cache.path() + "-real";
    CHECK(count_files(real, ".credential") == 1);
  }
}

TEST_CASE("cache list: invalid files are skipped, and nothing of their content is shown") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now(), now() + 1h);
  const std::string key(31, '0');  // without its last digit
  const auto put = [&cache](std::string_view name, std::string_view content, mode_t mode = 0600) {
    return cache.sandbox().write("cache/" + std::string(name), content, mode);
  };
  const std::string secret(kCachedSecret);
  put(key + "1.credential", secret);
  put(key + "2.failure", "execcred failure 1\n" + secret);
  put(key + "3.credential", R"({"token":")" + secret + R"("})");
  put(key + "4.credential", "", 0600);
  fs::resize_file(put(key + "5.credential", secret), 10'000'000);
  put(key + "6.credential", secret, 0644);
  put(secret, secret);
  fs::create_directory(cache.path() + "/" + key + "7.credential");
  fs::create_symlink("/etc/passwd", cache.path() + "/" + key + "8.credential");
  REQUIRE(mkfifo((cache.path() + "/" + key + "9.credential").c_str(), 0600) == 0);
  for (const auto& entry : fs::directory_iterator(cache.path())) {
    // A valid entry that the group may read is skipped, too.
    const bool is_entry = entry.is_regular_file() && !entry.is_symlink() &&
                          read_text(entry.path()).starts_with("execcred credential");
    if (!is_entry) continue;
    fs::copy_file(entry.path(), cache.path() + "/" + key + "a.credential");
    chmod((cache.path() + "/" + key + "a.credential").c_str(), 0640);
    break;
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, {"list", "-o", "json"}}) {
    const Outcome outcome = cache.run(arguments);
    check_succeeds(outcome);
    CHECK(outcome.output.find("root:") == std::string::npos);
    CHECK(outcome.output.find("controller") == outcome.output.rfind("controller"));
    CHECK(outcome.output.find("controller") != std::string::npos);
  }
}

TEST_CASE("cache clear: symbolic links are removed, their targets are not") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now(), now() + 1h);
  const std::string target = cache.sandbox().write("precious", "keep");
  fs::create_symlink(target, cache.path() + "/" + std::string(32, '1') + ".credential");
  check_succeeds(cache.run({"clear"}));
  CHECK(read_text(target) == "keep");
  CHECK(count_files(cache.path(), ".credential") == 0);
}

TEST_CASE("cache clear: the number of entries that cannot be removed is reported") {
  const FilledCache cache;
  cache.add_credential("https://a.example.com", now() - 1s, now() + 1h);
  const std::optional<Outcome> outcome = run_if_allowed(
      {.arguments = {kCli, "cache", "clear", "--cache-dir=" + cache.path()}}, "mounts of its own",
      [path = cache.path()] {
        return make_mounts_private() && mount(path.c_str(), path.c_str(), "", MS_BIND, "") == 0 &&
               mount("", path.c_str(), "", MS_BIND | MS_REMOUNT | MS_RDONLY, "") == 0;
      });
  if (!outcome) return;
  CHECK_FAILURE(*outcome, 3, "1 entry of the cache");
  CHECK(says(*outcome, "1 entry of the cache '" + cache.path() + "' could not be removed"));
  CHECK(count_files(cache.path(), ".credential") == 1);
}

TEST_SUITE_END();
