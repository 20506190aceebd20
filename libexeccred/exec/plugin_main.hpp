// SPDX-License-Identifier: Apache-2.0
// The main of every plugin: it owns the protocol, so that a plugin is only its credential.
//
//   set up the process → options → deadline → input document → access rules → the provider
//   → expiry → one write to standard output
//
// On failure nothing is on standard output, one error is on standard error, and the exit code is
// that of the error's kind. On success standard error stays empty, unless --debug is set.
#pragma once

#include <execcred/exec/provider.hpp>

#include <string_view>

namespace execcred {

struct PluginInfo {
  std::string_view name;     // of the binary: "execcred-token-file"
  std::string_view summary;  // one sentence
  // Asking again costs next to nothing, so --max-age bounds every claimed lifetime, and a
  // rotation is seen soon.
  bool is_cheap_to_ask = false;
};

// Returns the exit code.
int plugin_main(const PluginInfo& plugin, Provider& provider, int argc, char** argv);

}  // namespace execcred
