// SPDX-License-Identifier: Apache-2.0
// One run of the program that gives the credential, as a controller runs it.
#pragma once

#include "program.hpp"
#include "report.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/exec/exec_credential.hpp>
#include <execcred/kube/access.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

namespace execcred::doctor {

struct RunOptions {
  Duration limit = kPluginLimit;
  // When this descriptor becomes readable, the program is ended; -1: none.
  int stop = -1;
};

// A private folder for the reports of execcred's plugins. The destructor removes it with its
// content.
class ReportFolder {
 public:
  // If the folder cannot be made, for example on a full disk, plugins write no reports.
  ReportFolder();
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ~ReportFolder();

  // A separate path for each run; empty if there is no folder.
  std::string path_of(std::size_t run) const;

 private:
  std::string path_;
};

// Reads and removes the report of an execcred plugin about a failure. nullopt if there is none, if
// it is malformed, or if another user could have written it.
std::optional<Error> take_report(const std::string& path);

// Runs the program, and writes the result to the step `run`. nullopt if there is no credential. If
// the program cannot be started because of its format, the step `program` fails instead, and `run`
// is skipped.
std::optional<Credential> run_plugin(const Access& access, const Environment& environment,
                                     const ProgramFinding& program, const RunOptions& options,
                                     const std::string& report_path, Item& item);

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
  ReportFolder reports_;
  std::atomic<std::size_t> runs_ = 0;
};

}  // namespace execcred::doctor
