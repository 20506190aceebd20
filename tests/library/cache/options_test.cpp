// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <execcred/base/try.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/exec/settings.hpp>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::check_fails;
using test::make_directory;

struct Program {
  Program() { add_cache_options(options, cache); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Status read(const std::vector<std::string>& arguments,
              const std::vector<std::string>& variables = {}) {
    TRY(settings.read_arguments(arguments));
    TRY(settings.store());
    TRY(settings.read_environment(Environment(variables)));
    return settings.store();
  }

  OptionSet options;
  CacheOptions cache;
  Settings settings{options};
};

TEST_CASE("cache options: set by flags and by variables") {
  Program flags;
  REQUIRE(flags.read({"--cache-dir=/run/x", "--refresh-before=90s", "--no-cache"}));
  CHECK(flags.cache.directory == "/run/x");
  CHECK(flags.cache.refresh_before == 90s);
  CHECK(flags.cache.no_cache);

  Program variables;
  REQUIRE(variables.read(
      {}, {"EXECCRED_CACHE_DIR=/run/y", "EXECCRED_REFRESH_BEFORE=0s", "EXECCRED_NO_CACHE=1"}));
  CHECK(variables.cache.directory == "/run/y");
  CHECK(variables.cache.refresh_before == 0s);
  CHECK(variables.cache.no_cache);

  Program none;
  REQUIRE(none.read({}));
  CHECK(none.cache.directory.empty());
  CHECK_FALSE(none.cache.refresh_before);
  CHECK_FALSE(none.cache.no_cache);
}

TEST_CASE("cache options: --refresh-before is a duration that is not negative") {
  check_fails(Program().read({"--refresh-before=-1s"}), Error::Kind::configuration,
              "'-1s' is negative");
  check_fails(Program().read({"--refresh-before=5"}), Error::Kind::configuration,
              "--refresh-before");
}

TEST_CASE("cache options: a ClusterProfile cannot set any of them") {
  const Program program;
  for (const Option& option : program.options.all()) {
    CAPTURE(option.name);
    CHECK(option.profile == Option::Profile::never);
  }
  CHECK(program.options.all().size() == 3);
}

TEST_CASE("open_cache: the given directory, or none with --no-cache or an unsafe directory") {
  const test::TempDir dir;
  std::string steps;
  CacheOptions options{.directory = (dir / "cache").native()};
  const CallContext run = {.debug = [&steps](std::string_view step) { steps += step; }};
  const std::optional<CacheDirectory> directory = open_cache(options, run);
  REQUIRE(directory);
  CHECK(directory->path() == (dir / "cache").native());
  CHECK(steps.empty());

  options.no_cache = true;
  CHECK_FALSE(open_cache(options, run));
  CHECK(steps.empty());

  options.no_cache = false;
  options.directory = make_directory(dir / "open", 0755).native();
  CHECK_FALSE(open_cache(options, run));
  CHECK(test::contains(steps, "no cache: the cache directory"));
}

}  // namespace
}  // namespace execcred
