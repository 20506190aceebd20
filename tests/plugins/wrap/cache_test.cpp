// SPDX-License-Identifier: Apache-2.0
// The cache: what tells two credentials apart, and which failures are remembered.
#include "support/plugin_storm.hpp"
#include "wrap.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace execcred::test {
namespace {

const Texts kCache = {"--cache"};

// Runs twice, the second time changed, and returns how often the program ran.
std::size_t runs_of(const Wrap& rig, const Ask& one, const Ask& other) {
  rig.clear_cache();
  const std::size_t before = rig.runs();
  CHECK(rig.run(one).exit_code == 0);
  CHECK(rig.run(other).exit_code == 0);
  return rig.runs() - before;
}

}  // namespace

TEST_CASE("cache: without --cache the program runs each time, and with it once") {
  const Wrap rig;
  CHECK(runs_of(rig, {}, {}) == 2);
  CHECK_FALSE(std::filesystem::exists(rig.cache_path));
  CHECK(runs_of(rig, {.arguments = kCache}, {.arguments = kCache}) == 1);
}

TEST_CASE("cache: each input is another credential" * doctest::description("promise 4")) {
  const Wrap rig;
  const std::string file = rig.sandbox.write("credentials", "a", 0600);
  const std::string same = rig.sandbox.write("same", "a", 0600);
  const Texts with_file = {"--cache", "--identity-file=" + file};
  const auto with_argument = [&](const std::string& argument) {
    return Ask{.arguments = {"--cache", rig.command_with({argument})}, .has_command = false};
  };
  const Ask base = {.arguments = kCache};
  CHECK(runs_of(rig, with_argument("a"), with_argument("b")) == 2);
  CHECK(runs_of(rig, base, {.arguments = kCache, .variables = {"AWS_PROFILE=b"}}) == 2);
  CHECK(runs_of(rig, base,
                {.arguments = kCache,
                 .variables = {"PWD=/x", "OLDPWD=/y", "SHLVL=2", "_=/z", "COLUMNS=1",
                               "LINES=2"}}) == 1);
  CHECK(runs_of(rig, base, {.arguments = kCache, .variables = {"EXECCRED_DEBUG=0"}}) == 1);
  CHECK(runs_of(rig, base, {.arguments = {"--cache", "--pass-cluster=false"}}) == 2);
  CHECK(runs_of(rig, base, {.arguments = kCache, .server = "https://b.example.com"}) == 2);
  CHECK(runs_of(rig, base, {.arguments = kCache, .config = R"({"x":1})"}) == 2);
  CHECK(runs_of(rig, base, {.arguments = kCache, .version = blackbox::kV1Beta1}) == 2);
  CHECK(runs_of(rig, base, {.arguments = with_file}) == 2);
  const Texts alone = {"--cache", "--pass-cluster=false"};
  CHECK(runs_of(rig, {.arguments = alone},
                {.arguments = alone, .config = R"({"x":1})", .server = "https://b.example.com"}) ==
        1);
  const Texts both = {"--cache", "--identity-file=" + file, "--identity-file=" + same};
  CHECK(runs_of(rig, {.arguments = both}, {.arguments = both}) == 1);
  rig.run({.arguments = both});
  const std::size_t before = rig.runs();
  rig.sandbox.write("credentials", "b", 0600);
  CHECK_SUCCESS(rig.run({.arguments = both}));
  CHECK(rig.runs() == before + 1);
}

TEST_CASE("cache: another program at the same path is another credential" *
          doctest::description("promise 4")) {
  const Wrap rig;
  CHECK_SUCCESS(rig.run({.arguments = kCache}));
  rig.set_output(with_token("another-" + rig.token));
  CHECK(token_of(rig.run({.arguments = kCache})) == "another-" + rig.token);
}

TEST_CASE("cache: an identity file must be a regular file of at most 1 MiB") {
  const Wrap rig;
  const std::string large = rig.sandbox.write("large", std::string(1024 * 1024 + 1, 'x'), 0600);
  for (const std::string& path : {rig.sandbox.at("nope"), rig.sandbox.path().string(), large}) {
    CAPTURE(path);
    CHECK_FAILURE(rig.run({.arguments = {"--cache", "--identity-file=" + path}}), 2, path);
  }
  CHECK(rig.runs() == 0);
}

TEST_CASE("cache: 1 and 3 are remembered, unusable output too, and 2, 70 and signals are not") {
  const Wrap rig;
  const auto runs_of_two = [&](const std::string& name, const std::string& script) {
    const std::string path =
        rig.sandbox.script(name, "echo run >> '" + rig.sandbox.at("runs") + "'\n" + script);
    rig.clear_cache();
    const Ask ask = {.arguments = {"--cache", "--timeout=1s", "--command=" + command_json({path})},
                     .variables = {"PATH=/usr/bin:/bin"},
                     .has_command = false};
    const std::size_t before = rig.runs();
    rig.run(ask);
    rig.run(ask);
    return rig.runs() - before;
  };
  CHECK(runs_of_two("p", "exit 7") == 1);
  CHECK(runs_of_two("p", "exit 0") == 1);
  CHECK(runs_of_two("p", "exec sleep 1000") == 1);
  CHECK(runs_of_two("p", "kill -9 $$") == 2);
  CHECK(runs_of_two("execcred-p", "exit 1") == 1);
  CHECK(runs_of_two("execcred-p", "exit 3") == 1);
  CHECK(runs_of_two("execcred-p", "exit 2") == 2);
  CHECK(runs_of_two("execcred-p", "exit 70") == 2);
}

TEST_CASE("storm: processes at once run the program once, and ten keys ten times" *
          doctest::description("promise 2")) {
  const Wrap rig;
  constexpr int kCount = 100;
  const auto at_once = [&](const std::string& account) {
    const Storm storm = let_loose(kCount,
                                  rig.command({.arguments = {"--cache", "--timeout=30s"},
                                               .variables = {"ACCOUNT=" + account}}),
                                  rig.sandbox);
    CHECK(storm.count_of(0) == kCount);
    CHECK(storm.credentials.size() == 1);
  };
  for (int key = 0; key < 10; ++key) at_once(std::to_string(key));
  CHECK(rig.runs() == 10);
}

TEST_CASE("cache: --expect-audience is checked on each hit, and starts no program") {
  const Wrap rig;
  rig.set_output(with_token(new_jwt(R"("aud":"a")", 600)));
  CHECK_SUCCESS(rig.run({.arguments = kCache}));
  CHECK_REFUSAL(rig.run({.arguments = {"--cache", "--expect-audience=b"}}), 1, "not for 'b'");
  CHECK_SUCCESS(rig.run({.arguments = {"--cache", "--expect-audience=a"}}));
  CHECK(rig.runs() == 1);
}

TEST_CASE("cache: a rule is checked before a credential is taken from it" *
          doctest::description("promise 6")) {
  const Wrap rig;
  const Texts alone = {"--cache", "--pass-cluster=false"};
  CHECK_SUCCESS(rig.run({.arguments = alone}));
  CHECK_REFUSAL(rig.run({.arguments = alone + Texts{"--allow-server=https://b.example.com"}}), 1,
                "matches no --allow-server");
}

TEST_CASE("cache: a credential without an end is kept for --max-age") {
  const Wrap rig;
  const Ask ask = {.arguments = {"--cache", "--max-age=1s", "--refresh-before=0s"}};
  CHECK_SUCCESS(rig.run(ask));
  CHECK(blackbox::wait_until([&] { return rig.run(ask).exit_code == 0 && rig.runs() == 2; }));
}

}  // namespace execcred::test
