// SPDX-License-Identifier: Apache-2.0
// One run of the program that gives the credential, as a controller runs it.
#pragma once

#include <execcred/engine/program.hpp>
#include <execcred/engine/report.hpp>

#include <execcred/base/environment.hpp>
#include <execcred/engine/get_credential.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <optional>
#include <string_view>

namespace execcred::engine {

struct RunOptions {
  Duration limit = kPluginLimit;
  // When this descriptor becomes readable, the program is ended; -1: none.
  int stop = -1;
};

// The report of an execcred plugin about a failure. nullopt if it is malformed.
std::optional<Error> parse_report(std::string_view text);

// Runs the program, and writes the result to the step `run`. nullopt if there is no credential. If
// the program cannot be started because of its format, the step `program` fails instead, and `run`
// is skipped.
std::optional<Credential> run_plugin(const Access& access, const Environment& environment,
                                     const ProgramFinding& program, const RunOptions& options,
                                     Item& item);

// Examines programs and runs them. Thread-safe.
class PluginRunner {
 public:
  // `environment` is for the runs that ask plugins for their version. It must outlive this object.
  PluginRunner(const Environment& environment, RunOptions options)
      : options_(options), programs_(environment, options.limit, options.stop) {}

  // Writes the steps `program` and `run`. nullopt if one of them failed. access.exec.command must
  // not be empty.
  std::optional<Credential> run(const Access& access, const Environment& environment, Item& item);

 private:
  RunOptions options_;
  Programs programs_;
};

}  // namespace execcred::engine
