// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "settings_program.hpp"

#include <doctest/doctest.h>

#include <array>
#include <tuple>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::check_fails;
using test::contains;
using test::Program;
using test::Texts;
using Origin = Setting::Origin;

constexpr auto kConfiguration = Error::Kind::configuration;

TEST_CASE("settings: flag beats environment beats spec.cluster.config beats default") {
  for (unsigned sources = 0; sources < 8; ++sources) {
    CAPTURE(sources);
    const bool has_flag = (sources & 4) != 0;
    const bool has_variable = (sources & 2) != 0;
    const bool has_config = (sources & 1) != 0;
    Program program;
    REQUIRE(program.read(
        has_flag ? Texts{"--region=flag", "--scope=flag"} : Texts{},
        has_variable ? Texts{"EXECCRED_REGION=env", "EXECCRED_SCOPE=env,env2"} : Texts{},
        has_config ? R"({"region":"config","scope":["config","config2"]})" : ""));
    if (has_flag) {
      CHECK(program.region == "flag");
      CHECK(program.scopes == Texts{"flag"});
      CHECK(program.settings.get("region").origin == Origin::flag);
    } else if (has_variable) {
      CHECK(program.region == "env");
      CHECK(program.scopes == Texts{"env", "env2"});
      CHECK(program.settings.get("region").origin == Origin::environment);
    } else if (has_config) {
      CHECK(program.region == "config");
      CHECK(program.scopes == Texts{"config", "config2"});
      CHECK(program.settings.get("region").origin == Origin::profile_config);
    } else {
      CHECK(program.region.empty());
      CHECK(program.scopes == Texts{"default-scope"});
      CHECK(program.settings.get("region").origin == Origin::unset);
    }
    CHECK(program.settings.get("region").is_from_profile() ==
          (has_config && !has_flag && !has_variable));
  }
}

struct Spelling {
  Texts arguments;
  std::string_view token_file;
};

TEST_CASE("settings: an option may be spelled with one dash or two, and its value joined or not") {
  for (const Spelling& c : std::vector<Spelling>{{{"--token-file=/a"}, "/a"},
                                                 {{"--token-file", "/a"}, "/a"},
                                                 {{"-token-file=/a"}, "/a"},
                                                 {{"-token-file", "/a"}, "/a"},
                                                 {{"-t", "/a"}, "/a"},
                                                 {{"-t=/a"}, "/a"},
                                                 {{"--token-file=a=b=c"}, "a=b=c"},
                                                 {{"--token-file=--a"}, "--a"},
                                                 {{"--token-file", "-"}, "-"},
                                                 {{"--token-file", "-a"}, "-a"},
                                                 {{"--debug", "--token-file=/a"}, "/a"}}) {
    CAPTURE(c.arguments.front());
    Program program;
    REQUIRE(program.read(c.arguments));
    CHECK(program.token_file == c.token_file);
  }
}

struct Refusal {
  Texts arguments;
  std::string_view message;
};

TEST_CASE("settings: the error of a malformed command line shows the option as it was typed") {
  for (const Refusal& c :
       std::vector<Refusal>{{{"--nope=x"}, "--nope"},
                            {{"-nope", "x"}, "-nope"},
                            {{"-x"}, "-x"},
                            {{"--t=/a"}, "--t"},
                            {{"--Token-File=/a"}, "--Token-File"},
                            {{"--token-file"}, "--token-file needs a value"},
                            {{"--token-file", "--debug"}, "--token-file needs a value"},
                            {{"--token-file", "--from-profile"}, "--token-file needs a value"},
                            {{"--token-file", "-from-profile"}, "--token-file needs a value"},
                            {{"--token-file="}, "--token-file has an empty value"},
                            {{"--token-file", ""}, "--token-file has an empty value"},
                            {{"--debug="}, "--debug has an empty value"},
                            {{"--debug=maybe"}, "--debug"},
                            {{"--token-file=a\nb"}, "--token-file has a control character"},
                            {{"--token-file=a\x7f"}, "--token-file has a control character"},
                            {{"--timeout=8"}, "--timeout"},
                            {{"--from-profile=true"}, "--from-profile takes no value"},
                            {{"--"}, "argument 1"},
                            {{"-"}, "argument 1"},
                            {{""}, "argument 1"},
                            {{"--=x"}, "argument 1"},
                            {{"--debug", "s3cret"}, "argument 2"}}) {
    CAPTURE(c.arguments.back());
    Program program;
    check_fails(program.read(c.arguments), kConfiguration, c.message);
  }
}

TEST_CASE("settings: an unexpected argument or value is not shown, because it may be a secret") {
  for (const Texts& arguments : {Texts{"s3cret"}, Texts{"--debug", "s3cret"},
                                 Texts{"--nope=s3cret"}, Texts{"--from-profile=s3cret"}}) {
    CAPTURE(arguments.front());
    Program program;
    const Status read = program.read(arguments);
    REQUIRE_FALSE(read);
    CHECK_FALSE(contains(test::full_text(read.error()), "s3cret"));
  }
}

TEST_CASE("settings: a single-valued flag may be repeated only with the same value") {
  Program equal;
  REQUIRE(equal.read({"--token-file=/a", "--debug", "-token-file", "/a", "--debug"}));
  CHECK(equal.token_file == "/a");
  CHECK(equal.debug);
  for (const Texts& arguments :
       {Texts{"--token-file=/a", "--token-file=/b"}, Texts{"-t", "/a", "--token-file", "/b"},
        Texts{"--token-file=/a", "--token-file=/a", "-token-file=/b"}}) {
    Program program;
    check_fails(program.read(arguments), kConfiguration, "--token-file is given twice");
  }
  Program program;
  check_fails(program.read({"--debug", "--debug=false"}), kConfiguration, "--debug");
}

TEST_CASE("settings: a repeatable flag keeps each value once and in order, and ignores commas") {
  Program program;
  REQUIRE(program.read({"--audience=b", "--audience", "a,c", "-audience=b"}));
  CHECK(program.audiences == Texts{"b", "a,c"});
}

TEST_CASE("settings: a given value replaces a default list, and does not extend it") {
  Program by_flag;
  REQUIRE(by_flag.read({"--scope=x"}));
  CHECK(by_flag.scopes == Texts{"x"});
  Program by_config;
  REQUIRE(by_config.read({}, {}, R"({"scope":"x"})"));
  CHECK(by_config.scopes == Texts{"x"});
}

TEST_CASE("settings: a variable separates the values of a repeatable option by commas") {
  Program program;
  REQUIRE(program.read({}, {"EXECCRED_AUDIENCE=b,a,b", "EXECCRED_TOKEN_FILE=/a,b",
                            "EXECCRED_DEBUG=1", "EXECCRED_TIMEOUT=1m"}));
  CHECK(program.audiences == Texts{"b", "a"});
  CHECK(program.token_file == "/a,b");
  CHECK(program.debug);
  CHECK(program.timeout == 1min);
}

TEST_CASE("settings: an empty variable counts as unset") {
  Program program;
  REQUIRE(program.read({},
                       {"EXECCRED_AUDIENCE=", "EXECCRED_TOKEN_FILE=", "EXECCRED_DEBUG=",
                        "EXECCRED_TIMEOUT=", "EXECCRED_REGION="},
                       R"({"region":"config"})"));
  CHECK(program.audiences.empty());
  CHECK(program.timeout == 8s);
  CHECK_FALSE(program.debug);
  CHECK(program.region == "config");
  CHECK(program.settings.get("audience").origin == Origin::unset);
}

TEST_CASE("settings: the error of a malformed variable names the variable") {
  for (const std::string_view variable :
       {"EXECCRED_TIMEOUT=8", "EXECCRED_AUDIENCE=a,,b", "EXECCRED_AUDIENCE=a,",
        "EXECCRED_DEBUG=maybe", "EXECCRED_TOKEN_FILE=a\nb"}) {
    CAPTURE(variable);
    Program program;
    check_fails(program.read({}, {std::string(variable)}), kConfiguration,
                variable.substr(0, variable.find('=')));
  }
}

TEST_CASE("settings: an option without an environment form ignores the variable of its name") {
  Program program;
  REQUIRE(program.read({}, {"EXECCRED_CA_FILE=/evil", "EXECCRED_FROM_PROFILE=1"}));
  CHECK(program.ca_file.empty());
  CHECK_FALSE(program.from_profile);
}

TEST_CASE("settings: a required option may come from any of its sources") {
  const auto check = [](const Texts& arguments, const Texts& variables) {
    std::string value;
    OptionSet options;
    options.add("key", value, "KEY", "a key").required();
    Settings settings(options);
    REQUIRE(settings.read_arguments(arguments));
    REQUIRE(settings.read_environment(Environment(variables)));
    return settings.check_required();
  };
  CHECK(check({"--key=k"}, {}));
  CHECK(check({}, {"EXECCRED_KEY=k"}));
  check_fails(check({}, {}), kConfiguration, "--key is required");
  check_fails(check({}, {}), kConfiguration, "EXECCRED_KEY");
}

TEST_CASE("settings: --show-config shows each setting with its value and origin") {
  Program program;
  REQUIRE(program.read({"--token-file=/a", "--from-profile", "--audience=x"},
                       {"EXECCRED_ALLOW_SERVER=https://a,https://b"}, R"({"clusterName":"c1"})"));
  const std::string shown = program.settings.show();
  CAPTURE(shown);
  struct Line {
    std::string_view flag, value, origin;
  };
  for (const Line& c :
       std::array<Line, 8>{{{"--token-file", "/a", "--token-file"},
                            {"--audience", "x", "--audience behind --from-profile"},
                            {"--allow-server", "https://a,https://b", "EXECCRED_ALLOW_SERVER"},
                            {"--cluster", "c1", "spec.cluster.config.clusterName"},
                            {"--timeout", "8s", "default"},
                            {"--region", "-", "unset"},
                            {"--debug", "false", "unset"},
                            {"--from-profile", "true", "--from-profile"}}}) {
    CAPTURE(c.flag);
    const std::size_t start = ("\n" + shown).find("\n" + std::string(c.flag) + " ");
    REQUIRE(start != std::string::npos);
    const std::string line = shown.substr(start, shown.find('\n', start) - start);
    CHECK(contains(line, "  " + std::string(c.value) + " "));
    CHECK(line.ends_with("  " + std::string(c.origin)));
  }
}

enum class Mood { calm, stormy };
constexpr std::array<Named<Mood>, 2> kMoods = {{{"calm", Mood::calm}, {"stormy", Mood::stormy}}};
constexpr std::array<std::string_view, 3> kColours = {"red", "green", "blue"};
constexpr std::array<std::string_view, 1> kStormy = {"stormy"};

// A program whose options have choices. The colour is used only in a storm.
struct Moody {
  Mood mood = Mood::calm;
  Texts colours;
  std::string shade;
  bool from_profile = false;
  OptionSet options;
  Settings settings{options};

  Moody() {
    options.add_choice<kMoods>("mood", mood, "MOOD", "a mood").from_profile().variable("P_MOOD");
    options.add("colour", colours, "COLOUR", "a colour")
        .choices(kColours, "colour of a flag")
        .only_for("mood", kStormy);
    options.add("shade", shade, "SHADE", "a shade").choices_besides_others(kColours);
    options.add(kBoundaryFlag, from_profile, "a boundary").no_environment();
  }

  Status read(const Texts& arguments, const Texts& variables = {}, std::string_view config = "{}") {
    const Environment environment(variables);
    TRY(settings.read_arguments(arguments));
    TRY(settings.read_environment(environment));
    const json::Value value = TRY(json::parse(config));
    TRY(settings.read_config(value));
    TRY(settings.read_variables(environment));
    return settings.store();
  }
};

TEST_CASE("settings: an option takes only its choices, whatever sets it") {
  struct Case {
    Texts arguments;
    Texts variables;
    std::string_view config;
    std::string where;
  };
  for (const Case& c : std::vector<Case>{
           {{"--mood=sunny"}, {}, "{}", "--mood"},
           {{"--from-profile", "--mood=sunny"}, {}, "{}", "--mood behind --from-profile"},
           {{}, {"EXECCRED_MOOD=sunny"}, "{}", "EXECCRED_MOOD"},
           {{}, {}, R"({"mood":"sunny"})", "spec.cluster.config.mood"},
           {{}, {"P_MOOD=sunny"}, "{}", "P_MOOD"}}) {
    CAPTURE(c.where);
    Moody program;
    check_fails(program.read(c.arguments, c.variables, c.config), kConfiguration,
                c.where + ": 'sunny' is neither calm nor stormy");
    CHECK(program.mood == Mood::calm);
  }
  Moody program;
  REQUIRE(program.read({"--mood=stormy", "--colour=red", "--colour=blue", "--shade=any"}));
  CHECK(program.mood == Mood::stormy);
  CHECK(program.colours == Texts{"red", "blue"});
  CHECK(program.shade == "any");
  Moody pink;
  check_fails(pink.read({"--mood=stormy", "--colour=red", "--colour=pink"}), kConfiguration,
              "--colour: 'pink' is no colour of a flag\nhint: there are: red, green, blue");
}

TEST_CASE("settings: a variable of an option that is not used may have any value") {
  Moody calm;
  REQUIRE(calm.read({}, {"EXECCRED_COLOUR=pink"}));
  CHECK(calm.colours.empty());
  check_fails(calm.read({"--mood=stormy"}), kConfiguration, "EXECCRED_COLOUR: 'pink' is no colour");
  Moody flag;
  check_fails(flag.read({"--colour=pink"}), kConfiguration, "--colour: 'pink' is no colour");
}

}  // namespace
}  // namespace execcred
