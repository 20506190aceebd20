// SPDX-License-Identifier: Apache-2.0
// The library for controllers: a mapping and a ClusterProfile determine the program to run, and
// running it gives a credential.
//
//   const ProviderMapping mapping = EXECCRED_TRY(parse_provider_mapping(text));
//   const Access access = EXECCRED_TRY(resolve_access(mapping, profile));
//   const Credential credential = EXECCRED_TRY(get_credential(access, Environment::copy()));
#pragma once

#include <execcred/base/environment.hpp>
#include <execcred/kube/access.hpp>

#include <chrono>
#include <functional>
#include <string_view>

namespace execcred {

// Longer than a plugin's own default time limit (8 s), and shorter than the shortest time that
// consumers wait (10 s).
inline constexpr Duration kPluginLimit = std::chrono::seconds(9);

// How the program runs; the defaults can be changed.
struct PluginRun {
  Duration limit = kPluginLimit;
  // Receives the program's standard error as it arrives, unchanged, at most 64 KiB, for a caller
  // that shows or logs it. Without it, that text is dropped, except for what the error of a failed
  // run quotes.
  std::function<void(std::string_view)> on_error_output = {};
  // Receives how the program ended: an exit code, or a signal that is not 0. Not called if the
  // program could not be started or did not end within the limit.
  std::function<void(int exit_code, int signal)> on_end = {};
  // A signal that ends this process first ends the program and all that it started. What it leaves
  // running when it ends is ended too, unless this process had children before the call. For a
  // process of one thread only.
  bool ends_with_signals = false;
  // When this descriptor becomes readable, the program is ended as at the limit; -1 for none. For a
  // process with several threads.
  int stop = -1;
};

// Runs the program as client-go does. Its environment is the caller's variables, then the
// mapping's, then KUBERNETES_EXEC_INFO; the last one of a name is used. EXECCRED_REPORT_FILE is not
// passed on: an execcred plugin (execcred-*) gets it with a descriptor of this process. If the
// program fails, its exit code determines the kind of the error, and its error line the message; an
// execcred plugin's report gives them, and Error::cause, exactly. Fails also with
// no_credential (an unusable credential, or too much output), unavailable (ended by a signal or at
// the limit, or a shortage of this machine), configuration (cannot be started) or internal (other
// code of this process reaped it). A credential without expirationTimestamp has no expires_at.
Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  const PluginRun& run);
Result<Credential> get_credential(const Access& access, const Environment& environment,
                                  Duration limit = kPluginLimit);

}  // namespace execcred
