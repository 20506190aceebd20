// SPDX-License-Identifier: Apache-2.0
// One run of the program that gives the credential, as client-go runs it. Whatever needs a
// credential runs the program here, so each failure has the same words and the same cause.
#pragma once

#include <execcred/engine/get_credential.hpp>
#include <execcred/engine/program.hpp>
#include <execcred/engine/report.hpp>

#include <optional>
#include <string>

namespace execcred::engine {

// How a run ended.
struct PluginEnd {
  Result<Credential> credential;  // an error has its cause
  bool has_ended = false;         // of itself: it could be started, and did not exceed its limits
  std::string said = {};          // the first line of its error output
  Duration elapsed = {};
};

// Runs the program at `path`. Calls the functions of `run`.
PluginEnd run_plugin(const Access& access, const std::string& path, const Environment& environment,
                     const PluginRun& run);

// Examines programs and runs them, and reports both. Thread-safe.
class PluginRunner {
 public:
  // `environment` is for the runs that ask plugins for their version. It must outlive this object.
  PluginRunner(const Environment& environment, PluginRun run)
      : run_(std::move(run)), programs_(environment, run_.limit, run_.stop) {}

  // Writes the steps `program` and `run`. nullopt if one of them failed. access.exec.command must
  // not be empty.
  std::optional<Credential> run(const Access& access, const Environment& environment, Item& item);

 private:
  PluginRun run_;
  Programs programs_;
};

}  // namespace execcred::engine
