// SPDX-License-Identifier: Apache-2.0
// lint knows exactly the options that a plugin declares.
#include "cli/inventory.hpp"
#include "test_paths.hpp"

#include <declared_options.hpp>
#include <list.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace blackbox;

TEST_CASE("lint: the options that it knows for a plugin are those of the plugin's --help") {
  for (const execcred::PluginDefinition& plugin : execcred::all_plugins()) {
    const std::string program(plugin.info.name);
    CAPTURE(program);
    const Outcome help = run({.arguments = {std::string(EXECCRED_BIN "/") + program, "--help"}});
    CHECK_MESSAGE(help.exit_code == 0, describe(help));
    const execcred::cli::DeclaredOptions known(program);
    CHECK(known.is_complete());
    CHECK(known.set().all().size() > 10);
    CHECK(help.output ==
          known.set().help(program + " [OPTION]...", plugin.info.summary, plugin.info.examples));
  }
}
