// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "settings_program.hpp"

#include <doctest/doctest.h>
#include <execcred/exec/option_set.hpp>

namespace execcred {
namespace {

using test::contains;
using test::Program;

TEST_CASE("help: every option stands there once, with all its names") {
  const Program program;
  const std::string help = program.options.help("prog [OPTION]...", "Does a thing.");
  CAPTURE(help);
  CHECK(help.starts_with("Usage: prog [OPTION]...\n\nDoes a thing.\n"));
  for (const Option& option : program.options.all()) {
    CAPTURE(option.name);
    const std::size_t first = help.find(" " + option.flag());
    REQUIRE(first != std::string::npos);
    CHECK(contains(help, option.help));
  }
  CHECK(contains(help, "-t, --token-file=PATH"));
  CHECK(contains(help, "(EXECCRED_TOKEN_FILE; TOKEN_FILE)"));
  CHECK(contains(help, "profile: clusterName"));
  CHECK(contains(help, "default 8s"));
  CHECK_FALSE(contains(help, "EXECCRED_CA_FILE"));
  CHECK_FALSE(contains(help, "EXECCRED_FROM_PROFILE"));
}

TEST_CASE("options: found by exact name, or by short name") {
  const Program program;
  REQUIRE(program.options.find("token-file") != nullptr);
  CHECK(program.options.find("token-file") == program.options.find_short('t'));
  CHECK(program.options.find("token") == nullptr);
  CHECK(program.options.find("") == nullptr);
  CHECK(program.options.find_short('x') == nullptr);
}

TEST_CASE("options: nothing may come from a ClusterProfile unless that is said") {
  std::string plain;
  std::string in_config;
  std::string anywhere;
  OptionSet options;
  options.add("some-plain", plain, "X", "x");
  options.add("some-config", in_config, "X", "x").from_profile(Option::Profile::config);
  options.add("some-any", anywhere, "X", "x").from_profile();
  CHECK(options.find("some-plain")->profile == Option::Profile::never);
  CHECK(options.find("some-plain")->config_fields.empty());
  CHECK(options.find("some-config")->profile == Option::Profile::config);
  CHECK(options.find("some-config")->config_fields == std::vector<std::string>{"someConfig"});
  CHECK(options.find("some-any")->profile == Option::Profile::config_and_arguments);
}

}  // namespace
}  // namespace execcred
