// SPDX-License-Identifier: Apache-2.0
// What lint knows of a plugin's options is what the plugin says of itself.
#include "inventory.hpp"
#include "test_paths.hpp"

#include <plugin_options.hpp>

#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace blackbox;

namespace {

// "--timeout=DURATION EXECCRED_TIMEOUT" for each option of a help text: its form, and the notes
// about who may set it. Defaults are the plugin's own business.
std::set<std::string> options_of(const std::string& help) {
  static const std::regex kStart(R"(^ +(-h, )?(--[a-z-]+)(=\S+)?)");
  static const std::regex kNotes(R"(\(([^()]*)\)$)");
  std::set<std::string> options;
  std::string name;
  std::string line;
  const auto add = [&](const std::string& text) {
    std::smatch found;
    std::string told;
    if (std::regex_search(text, found, kNotes)) {
      static const std::regex kKnown(R"(required|repeatable|EXECCRED_\w+|profile: [\w, ]+)");
      const std::string all = found[1];
      for (std::sregex_iterator note(all.begin(), all.end(), kKnown), end; note != end; ++note) {
        told += " " + note->str();
      }
    }
    options.insert(name + told);
  };
  for (std::size_t begin = help.find("Options:"); begin < help.size();) {
    const std::size_t end = std::min(help.find('\n', begin), help.size());
    line = help.substr(begin, end - begin);
    begin = end + 1;
    std::smatch found;
    if (std::regex_search(line, found, kStart)) {
      if (!name.empty()) options.insert(name);
      name = found[2].str() + found[3].str();
    }
    if (!name.empty() && std::regex_search(line, found, kNotes)) {
      add(line);
      name.clear();
    }
  }
  if (!name.empty()) options.insert(name);
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("lint: the options that it knows of a plugin are those of its --help") {
  for (const std::string program :
       {"execcred-token-file", "execcred-static-secret", "execcred-oidc-federation",
        "execcred-google", "execcred-azure", "execcred-aws"}) {
    CAPTURE(program);
    const Outcome help = run({.arguments = {std::string(EXECCRED_BIN "/") + program, "--help"}});
    CHECK_MESSAGE(help.exit_code == 0, describe(help));
    const execcred::cli::PluginOptions known(program);
    CHECK(known.is_complete());
    const std::set<std::string> told = options_of(help.output);
    const std::set<std::string> assumed = options_of(known.set().help("", ""));
    CHECK(told.size() > 10);
    for (const std::string& option : told) CHECK_MESSAGE(assumed.count(option) == 1, option);
    for (const std::string& option : assumed) CHECK_MESSAGE(told.count(option) == 1, option);
  }
}

TEST_SUITE_END();
