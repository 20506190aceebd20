// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "settings_program.hpp"

#include <doctest/doctest.h>
#include <execcred/exec/option_set.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {
namespace {

using test::contains;
using test::Program;

TEST_CASE("help: every option is shown with all its names") {
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

TEST_CASE("help: options are listed by group, the common group last") {
  std::string text;
  OptionSet options;
  options.group(kCommonGroup);
  options.add("common", text, "X", "Common");
  options.group("Request");
  options.add("first", text, "X", "First");
  options.group("Cache");
  options.add("cache", text, "X", "Cached");
  options.group("Request");
  options.add("second", text, "X", "Second");
  const std::vector<std::string_view> groups = {"Request", "Cache", "Common"};
  CHECK(options.groups() == groups);
  CHECK(options.help("prog", "S.") ==
        "Usage: prog\n\nS.\n"
        "\nRequest:\n"
        "  --first=X                       First (EXECCRED_FIRST)\n"
        "  --second=X                      Second (EXECCRED_SECOND)\n"
        "\nCache:\n"
        "  --cache=X                       Cached (EXECCRED_CACHE)\n"
        "\nCommon:\n"
        "  --common=X                      Common (EXECCRED_COMMON)\n");
}

TEST_CASE("help: a long entry continues on the next line") {
  static constexpr std::array<std::string_view, 2> kChoices = {"one", "two"};
  static constexpr std::array<std::string_view, 8> kMany = {
      "alternative-1", "alternative-2", "alternative-3", "alternative-4",
      "alternative-5", "alternative-6", "alternative-7", "alternative-8"};
  std::string text;
  OptionSet options;
  options.add("short", text, "one|two", "Listed by its name").choices(kChoices);
  options.add("a-name-that-fills-the-column", text, "V", "Below").required();
  options.add("many", text, "V", "A text that leaves no room for the notes on the same line")
      .choices(kMany);
  CHECK(
      options.help("prog", "S.") ==
      "Usage: prog\n\nS.\n\nOptions:\n"
      "  --short=one|two                 Listed by its name (EXECCRED_SHORT)\n"
      "  --a-name-that-fills-the-column=V\n"
      "                                  Below (required; EXECCRED_A_NAME_THAT_FILLS_THE_COLUMN)\n"
      "  --many=V                        A text that leaves no room for the notes on the same "
      "line\n"
      "                                  (one of alternative-1, alternative-2, alternative-3,\n"
      "                                  alternative-4, alternative-5, alternative-6, "
      "alternative-7,\n"
      "                                  alternative-8; EXECCRED_MANY)\n");
}

TEST_CASE("options: found by exact name, or by short name") {
  const Program program;
  REQUIRE(program.options.find("token-file") != nullptr);
  CHECK(program.options.find("token-file") == program.options.find_short('t'));
  CHECK(program.options.find("token") == nullptr);
  CHECK(program.options.find("") == nullptr);
  CHECK(program.options.find_short('x') == nullptr);
}

TEST_CASE("options: a ClusterProfile may set an option only if the option allows it") {
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
