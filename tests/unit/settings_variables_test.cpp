// SPDX-License-Identifier: Apache-2.0
// Variables of platforms and other programs that set an option.
#include "expect.hpp"
#include "settings_program.hpp"

#include <execcred/base/try.hpp>

#include <doctest/doctest.h>

#include <array>

namespace execcred {
namespace {

using test::check_fails;
using test::contains;
using test::Texts;
using Origin = Setting::Origin;

constexpr auto kConfiguration = Error::Kind::configuration;

// A program with options that a platform's variables can set.
struct OnPlatform {
  std::string client;   // only from the controller
  std::string region;   // also from a profile
  Texts scopes;         // repeatable
  std::string account;  // with two variables, and required
  bool from_profile = false;
  OptionSet options;
  Settings settings{options};

  OptionBuilder client_option =
      options.add("client", client, "ID", "a client").variable("P_CLIENT").secret();

  OnPlatform() {
    options.add("region", region, "REGION", "a region").from_profile().variable("P_REGION");
    options.add("scope", scopes, "SCOPE", "a scope").variable("P_SCOPES");
    options.add("account", account, "NAME", "an account")
        .required()
        .default_text("none")
        .variable("P_ACCOUNT")
        .variable("P_DEFAULT_ACCOUNT");
    options.add(kBoundaryFlag, from_profile, "a boundary").no_environment();
  }

  Status read(const Texts& arguments, const Texts& variables, std::string_view config = "{}") {
    const Environment environment(variables);
    TRY(settings.read_arguments(arguments));
    TRY(settings.read_environment(environment));
    TRY(settings.store());
    const json::Value value = TRY(json::parse(config));
    TRY(settings.read_config(value));
    TRY(settings.read_variables(environment));
    return settings.store();
  }
};

TEST_CASE("variables: a platform's variable is used after the flag and the EXECCRED_ variable") {
  OnPlatform flag;
  REQUIRE(flag.read({"--client=flag"}, {"EXECCRED_CLIENT=ours", "P_CLIENT=theirs"}));
  CHECK(flag.client == "flag");
  OnPlatform ours;
  REQUIRE(ours.read({}, {"P_CLIENT=theirs", "EXECCRED_CLIENT=ours"}));
  CHECK(ours.client == "ours");
  CHECK(ours.settings.get("client").is_from_controller());
  OnPlatform theirs;
  REQUIRE(theirs.read({}, {"P_CLIENT=theirs", "EXECCRED_CLIENT="}));
  CHECK(theirs.client == "theirs");
  CHECK(theirs.settings.get("client").origin == Origin::variable);
  CHECK_FALSE(theirs.settings.get("client").is_from_controller());
  CHECK_FALSE(theirs.settings.get("client").is_from_profile());
}

TEST_CASE("variables: a ClusterProfile that may set the option wins over a platform's variable") {
  const Texts variables = {"P_REGION=theirs"};
  OnPlatform config;
  REQUIRE(config.read({}, variables, R"({"region":"profile"})"));
  CHECK(config.region == "profile");
  OnPlatform argument;
  REQUIRE(argument.read({"--from-profile", "--region=profile"}, variables));
  CHECK(argument.region == "profile");
  OnPlatform neither;
  REQUIRE(neither.read({"--from-profile"}, variables, R"({"region":null})"));
  CHECK(neither.region == "theirs");
  OnPlatform closed;
  check_fails(closed.read({}, {"P_CLIENT=theirs"}, R"({"client":"profile"})"), kConfiguration,
              "may not come from a ClusterProfile");
}

TEST_CASE("variables: the first declared variable that is not empty is used") {
  OnPlatform both;
  REQUIRE(both.read({}, {"P_DEFAULT_ACCOUNT=second", "P_ACCOUNT=first"}));
  CHECK(both.account == "first");
  OnPlatform second;
  REQUIRE(second.read({}, {"P_DEFAULT_ACCOUNT=second", "P_ACCOUNT="}));
  CHECK(second.account == "second");
  OnPlatform list;
  REQUIRE(list.read({}, {"P_SCOPES=a,b,a"}));
  CHECK(list.scopes == Texts{"a", "b"});
}

TEST_CASE("variables: the error of an invalid value names the variable") {
  OnPlatform control;
  check_fails(control.read({}, {"P_CLIENT=a\x01"}), kConfiguration, "P_CLIENT has a control");
  Duration wait = {};
  OptionSet options;
  options.add("wait", wait, "DURATION", "a time").variable("P_WAIT");
  Settings settings(options);
  REQUIRE(settings.read_variables(Environment({"P_WAIT=soon"})));
  check_fails(settings.store(), kConfiguration, "P_WAIT: ");
  // The variable is not read if the flag is set.
  OptionSet same;
  same.add("wait", wait, "DURATION", "a time").variable("P_WAIT");
  Settings flag(same);
  REQUIRE(flag.read_arguments({"--wait=1s"}));
  REQUIRE(flag.read_variables(Environment({"P_WAIT=soon"})));
  CHECK(flag.store());
}

TEST_CASE("variables: those of an option that is not used are not read") {
  constexpr std::array<std::string_view, 1> kOther = {"other"};
  OnPlatform program;
  program.client_option.only_for("region", kOther);
  REQUIRE(program.read({}, {"P_CLIENT=theirs"}));
  CHECK(program.client.empty());
  CHECK(program.settings.get("client").origin == Origin::unset);
}

TEST_CASE("variables: a platform's variable satisfies a required option, and the hint names it") {
  OnPlatform given;
  REQUIRE(given.read({}, {"P_DEFAULT_ACCOUNT=x"}));
  CHECK(given.settings.check_required());
  OnPlatform missing;
  REQUIRE(missing.read({}, {}));
  const Status required = missing.settings.check_required();
  REQUIRE_FALSE(required);
  CHECK(contains(required.error().hint, "--account=NAME, or set P_ACCOUNT"));
}

TEST_CASE("variables: --show-config names the variable that was used, and hides a secret's value") {
  OnPlatform program;
  REQUIRE(program.read({}, {"P_CLIENT=s3cret", "P_REGION=here", "P_DEFAULT_ACCOUNT=me"}));
  const std::string shown = program.settings.show();
  CAPTURE(shown);
  CHECK(contains(shown, "--client        (set)  P_CLIENT\n"));
  CHECK(contains(shown, "--region        here   P_REGION\n"));
  CHECK(contains(shown, "--account       me     P_DEFAULT_ACCOUNT\n"));
  CHECK_FALSE(contains(shown, "s3cret"));
}

}  // namespace
}  // namespace execcred
