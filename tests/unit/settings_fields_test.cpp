// SPDX-License-Identifier: Apache-2.0
// Fields of spec.cluster.config with several spellings, and options that decide which of them a
// ClusterProfile may set.
#include "expect.hpp"
#include "settings_program.hpp"

#include <execcred/base/try.hpp>

#include <doctest/doctest.h>

#include <array>

namespace execcred {
namespace {

using test::check_fails;
using test::Texts;

constexpr auto kConfiguration = Error::Kind::configuration;
constexpr std::array<std::string_view, 1> kOther = {"other"};

// A program with one option that two other plugins spell differently.
struct TwoSpellings {
  std::string name;
  std::string key;
  std::string reader;
  bool from_profile = false;
  OptionSet options;
  Settings settings{options};

  OptionBuilder name_option =
      options.add("secret-name", name, "NAME", "a name")
          .from_profile(Option::Profile::config_and_arguments, {"name", "secretName"});
  OptionBuilder key_option = options.add("key", key, "KEY", "a key");

  TwoSpellings() {
    options.add("reader", reader, "NAME", "a reader").default_text("usual");
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
    program.name_option.field_only_for("secretName", "reader", kOther);
    REQUIRE(program.settings.read_arguments({"--reader=mine"}));
    REQUIRE(program.read(config));
    CHECK(program.name.empty());
    CHECK(program.settings.ignored() ==
          Texts{"spec.cluster.config.secretName is passed over: --reader=mine does not use it"});
  }
  TwoSpellings program;
  program.name_option.field_only_for("name", "reader", kOther);
  REQUIRE(program.read(R"({"name":"","secretName":null,"other":"x"})"));
  CHECK(program.settings.ignored().empty());
}

TEST_CASE("settings: only the spellings that the run uses set the option") {
  TwoSpellings program;
  program.name_option.field_only_for("name", "reader", kOther);
  REQUIRE(program.read(R"({"name":"other","secretName":"s"})"));
  CHECK(program.name == "s");
  CHECK(program.settings.ignored() ==
        Texts{"spec.cluster.config.name is passed over: --reader is not set"});
}

TEST_CASE("settings: an empty text in a ClusterProfile counts as absent") {
  struct Case {
    std::string_view config;
    std::string_view name;
  };
  for (const Case& c : std::vector<Case>{{R"({"name":""})", ""},
                                         {R"({"name":"","secretName":"s"})", "s"},
                                         {R"({"secretName":"s","name":""})", "s"}}) {
    CAPTURE(c.config);
    TwoSpellings program;
    REQUIRE(program.read(c.config));
    CHECK(program.name == c.name);
    CHECK((program.settings.get("secret-name").origin == Setting::Origin::unset) == c.name.empty());
  }
  TwoSpellings shared;
  shared.key_option.from_profile().or_from_field("name");
  REQUIRE(shared.read(R"({"key":"","name":"n"})"));
  CHECK(shared.key == "n");
  // An option that only the controller may set is refused even if it is empty.
  TwoSpellings closed;
  check_fails(closed.read(R"({"key":""})"), kConfiguration, "config.key sets --key");
}

TEST_CASE("settings: the error of a missing required option names its empty field") {
  struct Case {
    std::string_view config;
    std::string field;
  };
  for (const Case& c : std::vector<Case>{{R"({"key":""})", "key"},
                                         {R"({"name":""})", "name"},
                                         {R"({"key":"","name":""})", "key"}}) {
    CAPTURE(c.config);
    TwoSpellings program;
    program.key_option.required().from_profile().or_from_field("name");
    REQUIRE(program.read(c.config));
    check_fails(program.settings.check_required(), kConfiguration,
                "--key is required, and spec.cluster.config." + c.field + " is empty");
  }
}

TEST_CASE("settings: an option can use the field of another option if its own field is not set") {
  struct Case {
    std::string_view config;
    std::string_view key;
  };
  for (const Case& c : std::vector<Case>{{R"({"name":"n"})", "n"},
                                         {R"({"name":"n","key":"k"})", "k"},
                                         {R"({"key":"k"})", "k"},
                                         {R"({"secretName":"n"})", ""}}) {
    CAPTURE(c.config);
    TwoSpellings program;
    program.key_option.from_profile().or_from_field("name");
    REQUIRE(program.read(c.config));
    CHECK(program.key == c.key);
  }
  TwoSpellings program;
  program.key_option.from_profile().or_from_field("name");
  REQUIRE(program.settings.read_arguments({"--key=flag"}));
  REQUIRE(program.read(R"({"name":"n"})"));
  CHECK(program.key == "flag");
}

TEST_CASE("settings: a default that another option gives names that option as its origin") {
  TwoSpellings program;
  program.key_option.default_by("reader", [](std::string_view reader) {
    return reader == "mine" ? std::string_view("token") : std::string_view();
  });
  CHECK(program.settings.where_from("key") == "unset");
  REQUIRE(program.settings.read_arguments({"--reader=mine"}));
  CHECK(program.settings.where_from("key") == "--reader=mine");
  const std::string shown = program.settings.show();
  CHECK_MESSAGE(shown.find("token  --reader=mine\n") != std::string::npos, shown);
  TwoSpellings usual;
  usual.key_option.default_by("reader", [](std::string_view) { return std::string_view("k"); });
  CHECK(usual.settings.where_from("key") == "--reader=usual");
}

TEST_CASE("settings: a flag wins over either spelling") {
  TwoSpellings program;
  REQUIRE(program.settings.read_arguments({"--secret-name=flag"}));
  REQUIRE(program.read(R"({"name":"a","secretName":"b"})"));
  CHECK(program.name == "flag");
}

TEST_CASE("settings: an argument behind the boundary is refused if the run uses no such field") {
  TwoSpellings program;
  REQUIRE(program.settings.read_arguments({"--from-profile", "--secret-name=a"}));
  program.name_option.field_only_for("name", "reader", kOther);
  CHECK(program.settings.check_profile_arguments());
  program.name_option.field_only_for("secretName", "reader", kOther);
  check_fails(program.settings.check_profile_arguments(), kConfiguration,
              "--secret-name stands behind --from-profile");
}

TEST_CASE("settings: an option can be opened to the ClusterProfile, with its own spellings") {
  TwoSpellings program;
  check_fails(program.read(R"({"key":"k"})"), kConfiguration, "config.key sets --key");
  program.key_option.from_profile(Option::Profile::config, {"secretKey"});
  check_fails(program.read(R"({"key":"k"})"), kConfiguration,
              "config.key is not the field of --key");
  REQUIRE(program.read(R"({"secretKey":"k"})"));
  CHECK(program.key == "k");
}

}  // namespace
}  // namespace execcred
