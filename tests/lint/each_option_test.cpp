// SPDX-License-Identifier: Apache-2.0
// Lint checks a value as the plugin itself does.
#include "unit/each_option.hpp"
#include "lint.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred {
namespace {

TEST_CASE("lint: a value that an option does not allow is refused with the plugin's own message") {
  int refused = 0;
  test::for_each_option([&](const PluginInfo& plugin, const OptionSet&, const Option& option) {
    if (option.choices.empty() || option.has_other_values) return;
    const Status own = test::read_value(plugin.name, option, "none-of-these");
    REQUIRE_FALSE(own);
    // With other plugins --token may be a token itself, so lint does not show the value.
    const std::string message =
        option.name == "token" ? "--token has a value that is refused" : own.error().message;
    const std::vector<lint::Finding> findings =
        test::lint_text(R"({"providers":[{"name":"p","execConfig":{"command":"/plugins/)" +
                        std::string(plugin.name) + R"(","args":[")" + option.flag() +
                        R"(=none-of-these"],"apiVersion":"client.authentication.k8s.io/v1"}}]})");
    const bool is_told =
        std::any_of(findings.begin(), findings.end(), [&](const lint::Finding& finding) {
          return finding.path == "providers[0].execConfig.args[0]" &&
                 finding.severity == lint::Severity::error && finding.message == message &&
                 (own.error().hint.empty() || finding.hint == own.error().hint);
        });
    CHECK_MESSAGE(is_told, message);
    ++refused;
  });
  CHECK(refused >= 10);
}

TEST_CASE("lint: an empty EXECCRED_ variable counts as unset, for every option") {
  const auto told_with = [](const PluginInfo& plugin, const std::string& env) {
    return lint::to_text(
        test::lint_text(R"({"providers":[{"name":"p","execConfig":{"command":"/plugins/)" +
                        std::string(plugin.name) + R"(",)" + env +
                        R"("apiVersion":"client.authentication.k8s.io/v1"}}]})"),
        {.files = 1});
  };
  int checked = 0;
  test::for_each_option([&](const PluginInfo& plugin, const OptionSet&, const Option& option) {
    if (!option.has_environment) return;
    const std::string unset = told_with(plugin, "");
    for (const std::string value : {R"(,"value":"")", R"(,"value":null)", ""}) {
      const std::string env =
          R"("env":[{"name":")" + environment_name(option.name) + R"(")" + value + "}],";
      CAPTURE(env);
      CHECK(told_with(plugin, env) == unset);
    }
    ++checked;
  });
  CHECK(checked > 100);
}

}  // namespace
}  // namespace execcred
