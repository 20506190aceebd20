// SPDX-License-Identifier: Apache-2.0
// Fields of spec.cluster.config with several spellings, and options that change what a
// ClusterProfile may set.
#include "expect.hpp"
#include "settings_program.hpp"

#include <execcred/base/try.hpp>

#include <doctest/doctest.h>

namespace execcred {
namespace {

using test::check_fails;
using test::Texts;

constexpr auto kConfiguration = Error::Kind::configuration;

// A program with one option that two other plugins spell differently.
struct TwoSpellings {
  std::string name;
  std::string key;
  bool from_profile = false;
  OptionSet options;
  Settings settings{options};

  TwoSpellings() {
    options.add("secret-name", name, "NAME", "a name")
        .from_profile(Option::Profile::config_and_arguments, {"name", "secretName"});
    options.add("key", key, "KEY", "a key");
    options.add(kBoundaryFlag, from_profile, "a boundary").no_environment();
  }

  Status read(std::string_view config) {
    const json::Value value = TRY(json::parse(config));
    TRY(settings.read_config(value));
    return settings.store();
  }
};

TEST_CASE("settings: either spelling of a field sets the option") {
  for (const std::string_view config :
       {R"({"name":"s"})", R"({"secretName":"s"})", R"({"name":"s","secretName":"s"})",
        R"({"name":null,"secretName":"s"})", R"({"secretName":"s","name":null})"}) {
    CAPTURE(config);
    TwoSpellings program;
    REQUIRE(program.read(config));
    CHECK(program.name == "s");
  }
}

TEST_CASE("settings: different values in two spellings of a field are refused, in any order") {
  for (const std::string_view config :
       {R"({"name":"a","secretName":"b"})", R"({"secretName":"b","name":"a"})"}) {
    CAPTURE(config);
    TwoSpellings program;
    check_fails(program.read(config), kConfiguration, "both set --secret-name");
  }
}

TEST_CASE("settings: a field without use in a run is ignored, and is reported as passed over") {
  for (const std::string_view config :
       {R"({"secretName":"a"})", R"({"secretName":7})", R"({"secretName":["a","b"]})"}) {
    CAPTURE(config);
    TwoSpellings program;
    program.options.change("secret-name").unused_from_profile("nobody asks for it");
    REQUIRE(program.read(config));
    CHECK(program.name.empty());
    CHECK(program.settings.passed_over() ==
          Texts{"spec.cluster.config.secretName is passed over: nobody asks for it"});
  }
  TwoSpellings program;
  program.options.change("secret-name").unused_from_profile("nobody asks for it");
  REQUIRE(program.read(R"({"name":"","secretName":null,"other":"x"})"));
  CHECK(program.settings.passed_over().empty());
}

TEST_CASE("settings: after a second declaration only the spellings of that declaration are used") {
  TwoSpellings program;
  program.options.change("secret-name").unused_from_profile("this reader has another");
  program.options.change("secret-name").from_profile(Option::Profile::config, {"secretName"});
  REQUIRE(program.read(R"({"name":"other","secretName":"s"})"));
  CHECK(program.name == "s");
  CHECK(program.settings.passed_over().size() == 1);
}

TEST_CASE("settings: an empty text in a ClusterProfile counts as absent") {
  for (const auto& [config, name] : std::vector<std::pair<std::string_view, std::string_view>>{
           {R"({"name":""})", ""},
           {R"({"name":"","secretName":"s"})", "s"},
           {R"({"secretName":"s","name":""})", "s"}}) {
    CAPTURE(config);
    TwoSpellings program;
    REQUIRE(program.read(config));
    CHECK(program.name == name);
    CHECK((program.settings.get("secret-name").origin == Setting::Origin::unset) == name.empty());
  }
  TwoSpellings shared;
  shared.options.change("key").from_profile().or_from_field("name");
  REQUIRE(shared.read(R"({"key":"","name":"n"})"));
  CHECK(shared.key == "n");
  // An option that only the controller may set is refused even if it is empty.
  TwoSpellings closed;
  check_fails(closed.read(R"({"key":""})"), kConfiguration, "config.key sets --key");
}

TEST_CASE("settings: the error of a missing required option names its empty field") {
  for (const auto& [config, field] :
       std::vector<std::pair<std::string_view, std::string>>{{R"({"key":""})", "key"},
                                                             {R"({"name":""})", "name"},
                                                             {R"({"key":"","name":""})", "key"}}) {
    CAPTURE(config);
    TwoSpellings program;
    program.options.change("key").required().from_profile().or_from_field("name");
    REQUIRE(program.read(config));
    check_fails(program.settings.check_required(), kConfiguration,
                "--key is required, and spec.cluster.config." + field + " is empty");
  }
}

TEST_CASE("settings: an option can use the field of another option if its own field is not set") {
  for (const auto& [config, key] : std::vector<std::pair<std::string_view, std::string_view>>{
           {R"({"name":"n"})", "n"},
           {R"({"name":"n","key":"k"})", "k"},
           {R"({"key":"k"})", "k"},
           {R"({"secretName":"n"})", ""}}) {
    CAPTURE(config);
    TwoSpellings program;
    program.options.change("key").from_profile().or_from_field("name");
    REQUIRE(program.read(config));
    CHECK(program.key == key);
  }
  TwoSpellings program;
  program.options.change("key").from_profile().or_from_field("name");
  REQUIRE(program.settings.read_arguments({"--key=flag"}));
  REQUIRE(program.read(R"({"name":"n"})"));
  CHECK(program.key == "flag");
}

TEST_CASE("settings: a default's origin is the one that its option declares") {
  TwoSpellings program;
  program.options.change("key").default_text("token", "--convention=x");
  CHECK(program.settings.where_from("key") == "--convention=x");
  const std::string shown = program.settings.show();
  CHECK_MESSAGE(shown.find("token  --convention=x\n") != std::string::npos, shown);
}

TEST_CASE("settings: a flag wins over either spelling") {
  TwoSpellings program;
  REQUIRE(program.settings.read_arguments({"--secret-name=flag"}));
  REQUIRE(program.read(R"({"name":"a","secretName":"b"})"));
  CHECK(program.name == "flag");
}

TEST_CASE("settings: an argument behind the boundary is checked again when options have changed") {
  TwoSpellings program;
  REQUIRE(program.settings.read_arguments({"--from-profile", "--secret-name=a"}));
  CHECK(program.settings.check_profile_arguments());
  program.options.change("secret-name").unused_from_profile("it has no use");
  check_fails(program.settings.check_profile_arguments(), kConfiguration,
              "--secret-name stands behind --from-profile");
}

TEST_CASE("settings: an option can be opened to the ClusterProfile, with its own spellings") {
  TwoSpellings program;
  check_fails(program.read(R"({"key":"k"})"), kConfiguration, "config.key sets --key");
  program.options.change("key").from_profile(Option::Profile::config, {"secretKey"});
  check_fails(program.read(R"({"key":"k"})"), kConfiguration,
              "config.key is not the field of --key");
  REQUIRE(program.read(R"({"secretKey":"k"})"));
  CHECK(program.key == "k");
}

}  // namespace
}  // namespace execcred
