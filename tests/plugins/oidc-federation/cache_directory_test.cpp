// SPDX-License-Identifier: Apache-2.0
// A run gives a credential even if its cache directory cannot be used.
#include "build_kind.hpp"
#include "entry_file.hpp"
#include "federation.hpp"
#include "support/texts.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 54321;

Ask with_directory(const std::string& path) {
  return {.arguments = {"--cache-dir=" + path}, .has_cache = false, .is_traced = true};
}

// Checks that two runs give a credential by two calls, and say why there is no cache.
void check_uncached(Federation& fed, const Ask& ask) {
  fed.idp.forget();
  for (int run = 0; run < 2; ++run) {
    const Outcome outcome = fed.run(ask);
    CHECK(outcome.exit_code == 0);
    CHECK(token_of(outcome) != "");
    CHECK(blackbox::says(outcome, "no cache: "));
    CHECK(blackbox::secret_in(outcome.error_output) == "");
  }
  CHECK(fed.idp.calls() == 2);
}

}  // namespace

TEST_CASE("an unsafe or impossible cache directory is not used, and a credential is given") {
  Federation fed;
  const std::string file = fed.sandbox.write("file", "");
  const std::string open_to_all = make_directory(fed.sandbox.at("open"), 0777);
  const std::string readable = make_directory(fed.sandbox.at("readable"), 0755);
  const std::string target = make_directory(fed.sandbox.at("target"), 0700);
  fs::create_symlink(target, fed.sandbox.at("link"));
  for (const std::string& path :
       {file, file + "/below", open_to_all, open_to_all + "/below", readable,
        fed.sandbox.at("link"), std::string("/proc/nope/cache"), std::string("/dev/null/cache")}) {
    CAPTURE(path);
    check_uncached(fed, with_directory(path));
  }
  if (!is_root_or_counted("a cache directory of another user")) return;
  const std::string foreign = make_directory(fed.sandbox.at("foreign"), 0700);
  give_to(foreign, kStranger);
  check_uncached(fed, with_directory(foreign));
}

TEST_CASE("an unsafe cache directory is told in one line without --debug, a missing one is not") {
  Federation fed;
  const std::string open = make_directory(fed.sandbox.at("open"), 0777);
  const auto run_with = [&](const std::string& path, const Texts& more = {}) {
    return fed.run({.arguments = Texts{"--cache-dir=" + path} + more, .has_cache = false});
  };
  const std::string warning =
      "execcred-oidc-federation: warning: no credential is cached, so each run asks the provider: "
      "the cache directory '" +
      open +
      "' is not safe: it is open to other users; correct that, or "
      "pass --cache-dir=PATH\n";
  const Outcome outcome = run_with(open);
  CHECK(token_of(outcome) != "");
  CHECK(outcome.error_output == warning);
  if (is_root_or_counted("a cache directory of another user")) {
    const std::string foreign = make_directory(fed.sandbox.at("foreign"), 0700);
    give_to(foreign, kStranger);
    const Outcome hindered = run_with(foreign);
    CHECK(token_of(hindered) != "");
    CHECK(blackbox::says(hindered, "is not safe: it belongs to user 54321"));
    CHECK(lines_of(hindered.error_output).size() == 1);
  }
  CHECK_SUCCESS(run_with("/proc/nope/cache"));
  CHECK_SUCCESS(run_with(open, {"--no-cache"}));
  // Some clients read both outputs as one document.
  blackbox::Command command =
      fed.command({.arguments = {"--cache-dir=" + open}, .has_cache = false});
  command.before_exec = [] { dup2(STDOUT_FILENO, STDERR_FILENO); };
  CHECK_SUCCESS(blackbox::run(command));
  // An error stands alone.
  fed.idp.answer("{}", 500);
  CHECK_FAILURE(run_with(open), 3, "answered 500");
}

TEST_CASE("a missing directory is made with mode 0700, and variables can name it") {
  Federation fed;
  CHECK_SUCCESS(
      fed.run({.arguments = {"--cache-dir=" + fed.sandbox.at("a/b/c")}, .has_cache = false}));
  struct Case {
    std::string variable, path;
  };
  for (const Case& c :
       {Case{"EXECCRED_CACHE_DIR", "by-variable"}, Case{"XDG_RUNTIME_DIR", "runtime"},
        Case{"XDG_CACHE_HOME", "xdg"}, Case{"HOME", "home"}}) {
    CAPTURE(c.variable);
    const std::string folder = make_directory(fed.sandbox.at(c.path), 0700);
    const Ask ask = {.variables = {c.variable + "=" + folder}, .has_cache = false};
    const std::string token = token_of(fed.run(ask));
    CHECK(token_of(fed.run(ask)) == token);
    const std::string cache = c.path == "by-variable" ? folder
                              : c.path == "home"      ? folder + "/.cache/execcred"
                                                      : folder + "/execcred";
    CHECK(cache_files(cache, ".credential").size() == 1);
    struct stat status = {};
    REQUIRE(stat(cache.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
    for (const fs::path& path : cache_files(cache, ".credential")) {
      REQUIRE(stat(path.c_str(), &status) == 0);
      CHECK((status.st_mode & 07777) == 0600);
    }
  }
}

TEST_CASE("a full or read-only directory, or one without inodes, does not prevent a credential") {
  if (!is_root_or_counted("full and read-only file systems")) return;
  struct Case {
    const char* options;
    unsigned long flags;
  };
  for (const Case& c : {Case{"size=4k,mode=700", 0}, Case{"nr_inodes=1,mode=700", 0},
                        Case{"nr_inodes=2,mode=700", 0}, Case{"nr_inodes=3,mode=700", 0},
                        Case{"size=8k,nr_inodes=4,mode=700", 0}, Case{"mode=700", MS_RDONLY}}) {
    CAPTURE(c.options);
    Federation fed;
    const std::string path = make_directory(fed.sandbox.at("small"), 0700);
    const SmallFileSystem mounted(path, c.options, c.flags);
    if (!mounted.is_mounted()) {
      MESSAGE("skipped: no file system can be mounted here");
      return;
    }
    for (int run = 0; run < 2; ++run) {
      CHECK_SUCCESS(fed.run({.arguments = {"--cache-dir=" + path}, .has_cache = false}));
    }
  }
}

TEST_CASE("a limit on the size of files does not prevent a credential") {
  if (!blackbox::kWritesNoFiles) {
    MESSAGE("skipped: the program's runtime writes files too");
    return;
  }
  Federation fed;
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{10}, rlim_t{200}}) {
    CAPTURE(bytes);
    blackbox::Command command = fed.command({});
    command.before_exec = [bytes] {
      const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
    };
    // The limit does not apply to standard output, which is a pipe.
    CHECK_SUCCESS(blackbox::run(command));
    CHECK(cache_files(fed.cache_path, ".credential").empty());
    CHECK(cache_files(fed.cache_path, ".new").empty());
  }
}

TEST_CASE("cache: a run with an odd umask leaves files that the next run can use") {
  for (const mode_t mask : {mode_t{0777}, mode_t{0377}, mode_t{0}}) {
    CAPTURE(mask);
    Federation fed;
    blackbox::Command command = fed.command({});
    command.before_exec = [mask] { umask(mask); };
    CHECK_SUCCESS(blackbox::run(command));
    for (const std::string ending : {".credential", ".lock"}) {
      REQUIRE(cache_files(fed.cache_path, ending).size() == 1);
      const fs::perms mode = fs::status(cache_files(fed.cache_path, ending).front()).permissions();
      CHECK((mode & fs::perms::all) == (fs::perms::owner_read | fs::perms::owner_write));
    }
  }
}

TEST_CASE("a corrupt or unsafe entry is a miss, and is repaired") {
  struct Case {
    std::string what;
    std::function<void(const fs::path&)> put;
  };
  const auto write = [](const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  };
  for (const Case& c :
       {Case{"empty", [&](const fs::path& path) { write(path, ""); }},
        Case{"cut", [&](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }},
        Case{"one bit",
             [&](const fs::path& path) {
               std::string content = blackbox::read_text(path);
               content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
               write(path, content);
             }},
        Case{"more", [&](const fs::path& path) { write(path, blackbox::read_text(path) + "\n"); }},
        Case{"JSON", [&](const fs::path& path) { write(path, R"({"token":"evil"})"); }},
        Case{"10 MB", [](const fs::path& path) { fs::resize_file(path, 10'000'000); }},
        Case{"readable", [](const fs::path& path) { set_mode(path, 0644); }},
        Case{"two names",
             [](const fs::path& path) { fs::create_hard_link(path, path.native() + "-2"); }},
        Case{"a link",
             [](const fs::path& path) {
               fs::rename(path, path.native() + "-real");
               fs::create_symlink(path.native() + "-real", path);
             }},
        Case{"a pipe", [](const fs::path& path) {
               fs::remove(path);
               REQUIRE(mkfifo(path.c_str(), 0600) == 0);
             }}}) {
    CAPTURE(c.what);
    Federation fed;
    const std::string first = token_of(fed.run({}));
    c.put(cache_files(fed.cache_path, ".credential").at(0));
    const Outcome second = fed.run({});
    CHECK_SUCCESS(second);
    CHECK(token_of(second) != first);
    CHECK(token_of(fed.run({})) == token_of(second));
    CHECK(fed.idp.calls() == 2);
  }
}

TEST_CASE("an entry that is copied to another key's name is a miss") {
  Federation fed;
  const std::string one = token_of(fed.run({.arguments = {"--scope=one"}}));
  const fs::path entry = cache_files(fed.cache_path, ".credential").at(0);
  const std::string two = token_of(fed.run({.arguments = {"--scope=two"}}));
  for (const fs::path& path : cache_files(fed.cache_path, ".credential")) {
    if (path != entry) fs::copy_file(entry, path, fs::copy_options::overwrite_existing);
  }
  const std::string next = token_of(fed.run({.arguments = {"--scope=two"}}));
  CHECK(next != one);
  CHECK(next != two);
}

}  // namespace execcred::test
