// SPDX-License-Identifier: Apache-2.0
// Fields of spec.cluster.config with several spellings, and options that change what a
// ClusterProfile may set.
#include "expect.hpp"
#include "settings_program.hpp"

#include <doctest/doctest.h>

namespace execcred {
namespace {

using test::check_fails;
using test::Texts;

constexpr auto kConfiguration = Error::Kind::configuration;

// One option that two peers spell each in its own way.
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
    TRY_ASSIGN(const json::Value value, json::parse(config));
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

TEST_CASE("settings: two spellings of one field that differ are refused, whatever their order") {
  for (const std::string_view config :
       {R"({"name":"a","secretName":"b"})", R"({"secretName":"b","name":"a"})"}) {
    CAPTURE(config);
    TwoSpellings program;
    check_fails(program.read(config), kConfiguration, "both set --secret-name");
  }
}

TEST_CASE("settings: a spelling that is closed is refused by its name") {
  TwoSpellings program;
  static constexpr std::string_view kFields[] = {"secretKey"};
  program.options.change("key").refuses_fields(kFields);
  check_fails(program.read(R"({"secretKey":"k"})"), kConfiguration,
              "spec.cluster.config.secretKey sets --key, which may not come");
  program.options.change("key").from_profile(Option::Profile::config, {"secretKey"});
  REQUIRE(program.read(R"({"secretKey":"k"})"));
  CHECK(program.key == "k");
}

TEST_CASE("settings: another option's field counts where no field of its own does") {
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

TEST_CASE("settings: a default has the origin that its option tells") {
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

TEST_CASE("settings: an option may be closed to the ClusterProfile, its field and its argument") {
  TwoSpellings program;
  program.options.change("secret-name").not_from_profile();
  check_fails(program.read(R"({"secretName":"a"})"), kConfiguration,
              "may not come from a ClusterProfile");
  // The other spelling is then nobody's.
  CHECK(program.read(R"({"name":"a"})"));
  CHECK(program.name.empty());
}

TEST_CASE("settings: an argument behind the boundary is checked again when options have changed") {
  TwoSpellings program;
  REQUIRE(program.settings.read_arguments({"--from-profile", "--secret-name=a"}));
  CHECK(program.settings.check_profile_arguments());
  program.options.change("secret-name").not_from_profile();
  check_fails(program.settings.check_profile_arguments(), kConfiguration,
              "--secret-name stands behind --from-profile");
}

TEST_CASE("settings: an option may be opened to the ClusterProfile, in spellings of its own") {
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
