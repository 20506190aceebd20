// SPDX-License-Identifier: Apache-2.0
// Walks the options of all plugins.
#pragma once

#include <declared_options.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/settings.hpp>
#include <list.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace execcred::test {

// Calls `check` with each option of each plugin.
template <class Check>
void for_each_option(Check check) {
  std::size_t count = 0;
  for (const PluginDefinition& plugin : all_plugins()) {
    CAPTURE(plugin.info.name);
    const cli::DeclaredOptions known(plugin.info.name);
    for (const Option& option : known.set().all()) {
      CAPTURE(option.name);
      check(plugin.info, known.set(), option);
      ++count;
    }
  }
  CHECK(count > 100);
}

// The plugin's own check of this value.
inline Status read_value(std::string_view program, const Option& option, std::string_view value) {
  const cli::DeclaredOptions fresh(program);
  Settings settings(fresh.set());
  TRY(settings.read_arguments({option.flag() + "=" + std::string(value)}));
  return settings.store();
}

}  // namespace execcred::test
