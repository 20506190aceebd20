// SPDX-License-Identifier: Apache-2.0
// Options that the writer of a ClusterProfile may set, behind --from-profile and in
// spec.cluster.config.
#include "expect.hpp"
#include "settings_program.hpp"

#include <doctest/doctest.h>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::check_fails;
using test::contains;
using test::Program;
using test::Texts;
using Origin = Setting::Origin;

constexpr auto kConfiguration = Error::Kind::configuration;

TEST_CASE("boundary: only options that a profile may set are allowed behind it" *
          doctest::description("promise 6")) {
  for (const Texts& behind :
       {Texts{"--token-file=/etc/shadow"}, Texts{"-token-file", "/etc/shadow"},
        Texts{"-t", "/etc/shadow"}, Texts{"--ca-file=/x"}, Texts{"--timeout=60s"},
        Texts{"--allow-server=https://evil"}, Texts{"--cluster=other"}, Texts{"--debug"},
        Texts{"--audience=a", "--debug=true"}}) {
    CAPTURE(behind.front());
    Texts arguments = {"--from-profile"};
    arguments.insert(arguments.end(), behind.begin(), behind.end());
    Program program;
    check_fails(program.read(arguments), kConfiguration,
                "behind --from-profile, and may not come from a ClusterProfile");
    CHECK(program.token_file.empty());
    CHECK(program.patterns.empty());
  }
}

TEST_CASE("boundary: allowed options behind it count as set by the profile" *
          doctest::description("promise 6")) {
  for (const Texts& behind :
       {Texts{"--audience=a", "--region=r"}, Texts{"-audience", "a", "-region=r"},
        Texts{"--region", "r", "--audience", "a"}}) {
    Texts arguments = {"--token-file=/a", "--from-profile"};
    arguments.insert(arguments.end(), behind.begin(), behind.end());
    Program program;
    REQUIRE(program.read(arguments, {}, R"({"region":"config","audience":["config"]})"));
    CHECK(program.audiences == Texts{"a"});
    CHECK(program.region == "r");
    CHECK(program.settings.get("audience").origin == Origin::profile_argument);
    CHECK(program.settings.get("audience").is_from_profile());
    CHECK_FALSE(program.settings.get("token-file").is_from_profile());
  }
}

TEST_CASE("boundary: a library may append the same arguments repeatedly" *
          doctest::description("promise 6")) {
  Program program;
  REQUIRE(program.read({"--token-file=/a", "--from-profile", "--audience=a", "--region=r",
                        "--audience=a", "--region=r", "-audience", "a", "--region", "r"}));
  CHECK(program.audiences == Texts{"a"});
  CHECK(program.region == "r");
}

TEST_CASE("boundary: a second value is an error, because it may be from another profile" *
          doctest::description("promise 6")) {
  for (const Texts& behind :
       {Texts{"--audience=a", "--audience=b"}, Texts{"--region=a", "--region=b"},
        Texts{"--audience=a", "--audience=a", "-audience", "b"}}) {
    CAPTURE(behind.front());
    Texts arguments = {"--from-profile"};
    arguments.insert(arguments.end(), behind.begin(), behind.end());
    Program program;
    check_fails(program.read(arguments), kConfiguration, "behind --from-profile with two values");
  }
}

TEST_CASE("boundary: a second boundary is an error, so a profile cannot forge or move it" *
          doctest::description("promise 6")) {
  for (const std::string_view again : {"--from-profile", "-from-profile"}) {
    Program program;
    check_fails(program.read({"--from-profile", std::string(again)}), kConfiguration,
                "--from-profile is given twice");
  }
}

TEST_CASE("boundary: an option set before it may be repeated, not changed" *
          doctest::description("promise 6")) {
  Program same;
  REQUIRE(same.read({"--audience=a", "--audience=b", "--region=r", "--from-profile", "--audience=b",
                     "--region=r"}));
  CHECK(same.audiences == Texts{"a", "b"});
  CHECK_FALSE(same.settings.get("audience").is_from_profile());
  CHECK_FALSE(same.settings.get("region").is_from_profile());
  for (const Texts& arguments :
       {Texts{"--audience=a", "--from-profile", "--audience=b"},
        Texts{"--region=a", "--from-profile", "--region=b"},
        Texts{"--audience=a", "--audience=b", "--from-profile", "--audience=c"}}) {
    Program program;
    check_fails(program.read(arguments), kConfiguration,
                "is set before --from-profile, and may not change");
  }
}

TEST_CASE("boundary: an option that the environment sets may be repeated, not changed" *
          doctest::description("promise 6")) {
  Program same;
  REQUIRE(same.read({"--from-profile", "--audience=b", "--region=r"},
                    {"EXECCRED_AUDIENCE=a,b", "EXECCRED_REGION=r"}));
  CHECK(same.audiences == Texts{"a", "b"});
  CHECK(same.region == "r");
  CHECK(same.settings.get("audience").origin == Origin::environment);
  CHECK_FALSE(same.settings.get("region").is_from_profile());
  Program other;
  check_fails(other.read({"--from-profile", "--region=evil"}, {"EXECCRED_REGION=r"}),
              kConfiguration, "EXECCRED_REGION");
}

TEST_CASE("boundary: malformed arguments behind it are refused like any other" *
          doctest::description("promise 6")) {
  struct Case {
    std::string behind;
    std::string_view told;
  };
  for (const Case& c :
       {Case{"--audience=", "--audience has an empty value"},
        Case{"--audience", "--audience needs a value"}, Case{"--nope", "unknown option '--nope'"},
        Case{"word", "argument 2 is no option"},
        Case{"--audience=a\n", "--audience has a control character in its value"},
        Case{"--", "argument 2 is no option"}}) {
    CAPTURE(c.behind);
    Program program;
    check_fails(program.read({"--from-profile", c.behind}), kConfiguration, c.told);
  }
}

TEST_CASE("config: a field is the flag's name in camelCase, or the spelling declared for it") {
  Program program;
  REQUIRE(program.read({}, {}, R"({"clusterName":"c1","region":"r","audience":["a","b,c"]})"));
  CHECK(program.cluster == "c1");
  CHECK(program.region == "r");
  CHECK(program.audiences == Texts{"a", "b,c"});
  Program one;
  REQUIRE(one.read({}, {}, R"({"audience":"a,b"})"));
  CHECK(one.audiences == Texts{"a,b"});
}

TEST_CASE("config: any other known option is refused, with its name") {
  for (const std::string_view field :
       {"tokenFile", "caFile", "timeout", "allowServer", "debug", "fromProfile", "cluster"}) {
    CAPTURE(field);
    for (const std::string_view value : {R"("x")", "true", "[]", R"(["x"])", "{}", "1"}) {
      CAPTURE(value);
      Program program;
      const Status read =
          program.read({}, {}, "{\"" + std::string(field) + "\":" + std::string(value) + "}");
      check_fails(read, kConfiguration, "spec.cluster.config." + std::string(field));
      check_fails(read, kConfiguration, "--");
    }
    // The error is the same if a flag already sets the option.
    Program program;
    check_fails(program.read({"--token-file=/a", "--timeout=5s", "--debug", "--cluster=c"}, {},
                             "{\"" + std::string(field) + "\":\"x\"}"),
                kConfiguration, "spec.cluster.config." + std::string(field));
  }
}

TEST_CASE("config: unknown fields and nulls are ignored, because other plugins share the object") {
  for (const std::string_view config :
       {"null", "[]", "1", R"("text")", "{}", R"({"unknown":1,"token-file":"/x","TokenFile":"/x"})",
        R"({"":"/etc/shadow"})", R"({"token_file":"/x","EXECCRED_TOKEN_FILE":"/x"})",
        R"({"region":null,"audience":null,"tokenFile":null,"clusterName":null})",
        R"({"region":"","audience":"","clusterName":""})", R"({"audience":[]})"}) {
    CAPTURE(config);
    Program program;
    REQUIRE(program.read({}, {}, config));
    for (const Option& option : program.options.all()) {
      CAPTURE(option.name);
      CHECK(program.settings.get(option.name).origin == Origin::unset);
    }
    CHECK(program.token_file.empty());
    CHECK(program.timeout == 8s);
  }
}

TEST_CASE("config: a value of the wrong kind is refused with its path") {
  for (const std::string_view config :
       {R"({"region":1})", R"({"region":true})", R"({"region":["r"]})", R"({"region":{}})",
        R"({"region":"a\nb"})", R"({"region":[""]})", R"({"audience":1})", R"({"audience":[1]})",
        R"({"audience":["a",null]})", R"({"audience":{"a":"b"}})", R"({"audience":[["a"]]})",
        R"({"audience":["a\u0000"]})", R"({"audience":[""]})", R"({"audience":["a",""]})"}) {
    CAPTURE(config);
    const bool is_region = contains(config, "region");
    Program program;
    check_fails(program.read({}, {}, config), kConfiguration,
                is_region ? "spec.cluster.config.region" : "spec.cluster.config.audience");
  }
}

}  // namespace
}  // namespace execcred
