// SPDX-License-Identifier: Apache-2.0
// The plugins' declared options, compared with their behaviour.
#include "each_option.hpp"
#include "expect.hpp"

#include <execcred/base/text.hpp>
#include <execcred/exec/settings.hpp>

#include <algorithm>
#include <regex>
#include <set>

namespace execcred {
namespace {

using cli::DeclaredOptions;
using test::contains;

TEST_CASE("plugins: neither --show-config nor an error shows the secrets of a URL in any option") {
  std::size_t shown = 0;
  test::for_each_option([&](const PluginInfo& plugin, const OptionSet&, const Option& option) {
    if (option.is_switch()) return;
    for (const std::string url :
         {"https://canary:canary@h.example/p", "https://h.example/p?k=canary",
          "https://h.example/p#k=canary", "https://h.example/?k=can@canary",
          "http://h.example/p?k=canary", "unix:///s?k=canary"}) {
      CAPTURE(url);
      const DeclaredOptions fresh(plugin.name);
      Settings settings(fresh.set());
      REQUIRE(settings.read_arguments({option.flag() + "=" + url}));
      const Status stored = settings.store();
      CHECK_FALSE(contains(settings.show(), "canary"));
      if (!stored) CHECK_FALSE(contains(test::full_text(stored.error()), "canary"));
      if (contains(settings.show(), "://")) ++shown;
    }
    if (option.value_name != "URL") return;
    const DeclaredOptions fresh(plugin.name);
    Settings settings(fresh.set());
    REQUIRE(settings.read_arguments({option.flag() + "=h.example?k=canary"}));
    CHECK_FALSE(contains(settings.show(), "canary"));
  });
  CHECK(shown > 100);
}

TEST_CASE("plugins: every option has a known group, and a help text of one line") {
  const std::set<std::string_view> groups = {
      "Access rules", "Cache",         "Client authentication", "Common",      "Concierge",
      "Request",      "Subject token", "Credential source",     "Token server"};
  test::for_each_option([&](const PluginInfo&, const OptionSet&, const Option& option) {
    CHECK(groups.count(option.group) == 1);
    CHECK(option.help.size() > 8);
    CHECK_FALSE(option.help.ends_with('.'));
  });
  for (const PluginDefinition& plugin : all_plugins()) {
    const DeclaredOptions known(plugin.info.name);
    const std::string help = known.set().help(plugin.info.name, plugin.info.summary);
    for (const std::string_view line : split(help, '\n')) CHECK_MESSAGE(line.size() <= 100, line);
    for (const Option& option : known.set().all()) CHECK(contains(help, option.help));
  }
}

TEST_CASE("plugins: accept the values that they declare, and refuse others") {
  int closed = 0;
  test::for_each_option([&](const PluginInfo& plugin, const OptionSet&, const Option& option) {
    for (const std::string_view choice : option.choices) {
      CAPTURE(choice);
      CHECK(test::read_value(plugin.name, option, choice));
    }
    // "jwt|x509", "PATTERN|any"
    for (const std::string_view word : split(option.value_name, '|')) {
      const bool is_word = !word.empty() && word.front() >= 'a' && word.front() <= 'z';
      const auto& choices = option.choices;
      if (is_word) CHECK(std::find(choices.begin(), choices.end(), word) != choices.end());
    }
    if (option.choices.empty() || option.has_other_values) return;
    ++closed;
    const Status refused = test::read_value(plugin.name, option, "none-of-these");
    test::check_fails(refused, Error::Kind::configuration, option.flag() + ": ");
  });
  CHECK(closed >= 10);
}

TEST_CASE("plugins: accept the example values of their options") {
  test::for_each_option([](const PluginInfo& plugin, const OptionSet&, const Option& option) {
    if (!option.example.empty()) CHECK(test::read_value(plugin.name, option, option.example));
  });
}

TEST_CASE("plugins: the declarations about a ClusterProfile's values are consistent") {
  int forms = 0;
  test::for_each_option([&](const PluginInfo&, const OptionSet& set, const Option& option) {
    if (!option.permission.empty()) {
      CHECK(set.find(option.permission) != nullptr);
      CHECK_FALSE(option.config_fields.empty());
    }
    if (option.form == nullptr) return;
    ++forms;
    CHECK_FALSE(option.config_fields.empty());
    const std::regex form(std::string(option.form->pattern), std::regex::ECMAScript);
    CHECK_FALSE(std::regex_match("a\nb", form));
    for (const std::string text : {"a", "a-1", "a.b", "A", "-a", "a/b", "a_b", "a b", ""}) {
      CAPTURE(text);
      const auto fits = option.form->fits;
      if (fits != nullptr) CHECK(fits(text) == std::regex_match(text, form));
    }
    if (!option.example.empty() && !option.is_template) {
      CHECK(std::regex_match(std::string(option.example), form));
    }
  });
  CHECK(forms > 5);
}

}  // namespace
}  // namespace execcred
