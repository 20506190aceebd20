// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/try.hpp>
#include <execcred/exec/profile_choice.hpp>

namespace execcred {
namespace {

using test::check_fails;
using Texts = std::vector<std::string>;

constexpr auto kRefused = Error::Kind::no_credential;
constexpr auto kConfiguration = Error::Kind::configuration;

struct Program {
  std::string role;
  std::vector<ChoicePattern> patterns;
  bool from_profile = false;
  OptionSet options;
  Settings settings{options};

  Program() {
    options.add("role", role, "ROLE", "a role").chosen_among("allow-role").variable("ROLE");
    add_choice_patterns(options, "allow-role", patterns, "roles");
    options.add(kBoundaryFlag, from_profile, "a boundary").no_environment();
  }

  // Reads the sources in the same order as a plugin.
  Status run(const Texts& arguments, std::string_view config = "{}", const Texts& variables = {}) {
    TRY(settings.read_arguments(arguments));
    const Environment environment(variables);
    TRY(settings.read_environment(environment));
    TRY(settings.store());
    const json::Value value = TRY(json::parse(config));
    TRY(settings.read_config(value));
    TRY(settings.read_variables(environment));
    TRY(settings.store());
    return check_choices(options, settings);
  }
};

}  // namespace

TEST_CASE("ChoicePattern: an invalid pattern is refused with the reason") {
  for (const std::string_view good : {"a", "a*", "arn:aws:iam::1:role/x-*", "server", "A b"}) {
    CAPTURE(good);
    REQUIRE(ChoicePattern::parse(good));
    CHECK(ChoicePattern::parse(good)->text() == good);
  }
  struct Case {
    std::string_view text, why;
  };
  for (const Case& c : {Case{"*", "has nothing before its *"}, Case{"any", "allow everything"},
                        Case{"a*b", "has a * before its end"}, Case{"a**", "before its end"},
                        Case{"*a", "before its end"}, Case{"a\n", "control character"}}) {
    CAPTURE(c.text);
    check_fails(ChoicePattern::parse(c.text), kConfiguration, c.why);
  }
}

TEST_CASE("ChoicePattern: matches the exact bytes, or a prefix followed by plain characters") {
  struct Case {
    std::string_view pattern, value;
    bool matches;
  };
  for (const Case& c : {Case{"fleet-a", "fleet-a", true},
                        Case{"fleet-a", "fleet-A", false},
                        Case{"fleet-a", "fleet-a/", false},
                        Case{"fleet-a", "fleet-ab", false},
                        Case{"a,b c", "a,b c", true},
                        Case{"fleet-*", "fleet-", true},
                        Case{"fleet-*", "fleet-a.b_c~d:e@f+g=h/i", true},
                        Case{"fleet-*", "fleet", false},
                        Case{"fleet-*", "xfleet-a", false},
                        Case{"fleet-*", "fleet-a,b", false},
                        Case{"fleet-*", "fleet-*", false},
                        Case{"fleet-*", "fleet-%41", false},
                        Case{"fleet-*", "fleet-a/", false},
                        Case{"fleet-*", "fleet-a//b", false},
                        Case{"fleet-*", "fleet-a/./b", false},
                        Case{"fleet-*", "fleet-a/../b", false},
                        Case{"fleet-*", "fleet-../b", false},
                        Case{"x/*", "x/..", false},
                        Case{"x/*", "x/", false},
                        Case{"https://i/c/*", "https://i/c/a", true},
                        Case{"x/.*", "x/..", false},
                        Case{"fleet-*", "fleet-\xd0\xb0", false},
                        Case{"server", "server", true}}) {
    CAPTURE(c.pattern);
    CAPTURE(c.value);
    CHECK(ChoicePattern::parse(c.pattern)->matches(c.value) == c.matches);
  }
}

TEST_CASE("check_choices: a ClusterProfile's choice needs a pattern, the controller's needs none") {
  struct Case {
    Texts arguments;
    std::string_view config;
    std::string_view role;
  };
  for (const Case& c :
       {Case{{"--role=a"}, "{}", "a"}, Case{{"--role=a"}, R"({"role":"a"})", "a"},
        Case{{"--role=a"}, R"({"role":""})", "a"}, Case{{"--allow-role=b"}, "{}", "ambient"},
        Case{{"--allow-role=b", "--allow-role=c"}, R"({"role":"c"})", "c"},
        Case{{"--allow-role=c*", "--from-profile", "--role=cc"}, R"({"role":"cc"})", "cc"},
        Case{{"--allow-role=c*", "--from-profile", "--role=c", "--role=c"}, "{}", "c"}}) {
    CAPTURE(c.config);
    Program program;
    CHECK(program.run(c.arguments, c.config, {"ROLE=ambient"}));
    CHECK(program.role == c.role);
  }
}

TEST_CASE("check_choices: the kind of error shows whether the mapping or the choice is wrong") {
  struct Case {
    Texts arguments;
    std::string_view config;
    Texts variables;
    Error::Kind kind;
    std::string_view text;
  };
  for (const Case& c : std::vector<Case>{
           {{}, R"({"role":"b"})", {}, kConfiguration, "spec.cluster.config.role 'b' is not"},
           {{"--from-profile", "--role=b"}, "{}", {}, kConfiguration, "there is no --allow-role"},
           {{}, R"({"role":"b"})", {"EXECCRED_ALLOW_ROLE=b"}, kConfiguration, "is not allowed"},
           {{"--allow-role=a"}, R"({"role":"b"})", {}, kRefused, "'b' matches no --allow-role"},
           {{"--allow-role=a", "--from-profile", "--role=b"}, "{}", {}, kRefused, "matches no"},
           {{"--role=a"}, R"({"role":"b"})", {}, kRefused, "role differs from --role"},
           {{"--role=a", "--allow-role=b"}, R"({"role":"b"})", {}, kRefused, "differs from --role"},
           {{"--role=a", "--from-profile", "--role=b"}, "{}", {}, kRefused, "differs from --role"},
           {{"--allow-role=b"}, R"({"role":"b"})", {"EXECCRED_ROLE=a"}, kRefused, "EXECCRED_ROLE"},
           {{"--allow-role=b", "--from-profile", "--role=b"},
            "{}",
            {"EXECCRED_ROLE=a"},
            kRefused,
            "differs from EXECCRED_ROLE"},
           {{"--allow-role=b*", "--from-profile", "--role=b", "--role=bb"},
            "{}",
            {},
            kConfiguration,
            "with two values"},
           {{"--allow-role=b*", "--from-profile", "--role=b"},
            R"({"role":"bb"})",
            {},
            kConfiguration,
            "differs from --role behind --from-profile"},
           {{"--role=a"}, R"({"role":["a"]})", {}, kConfiguration, "spec.cluster.config.role"}}) {
    CAPTURE(c.text);
    Program program;
    const Status checked = program.run(c.arguments, c.config, c.variables);
    check_fails(checked, c.kind, c.text);
    const bool lacks_permission =
        c.text.find("is not") != std::string_view::npos || c.text.starts_with("there is no");
    CHECK(checked.error().is_by_rule == (c.kind == kRefused || lacks_permission));
  }
}

}  // namespace execcred
