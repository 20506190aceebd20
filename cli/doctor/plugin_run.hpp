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
  // Without a folder (a full disk) plugins do not report.
  ReportFolder();
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ~ReportFolder();

  // A path of its own for each run; empty without a folder.
  std::string path_of(std::size_t run) const;

 private:
  std::string path_;
};

// The report of an execcred plugin about a failure; nullopt if there is none, or another user could
// have written the file. The file is removed.
std::optional<Error> take_report(const std::string& path);

// Writes the result to the step `run`; nullopt where it failed.
std::optional<Credential> run_plugin(const Access& access, const Environment& environment,
                                     const ProgramFinding& program, const RunOptions& options,
                                     const std::string& report_path, Item& item);

// Examines programs and runs them, for many threads at once.
class PluginRunner {
 public:
  // The environment is the one in which programs are asked for their version.
  PluginRunner(const Environment& environment, RunOptions options)
      : options_(options), programs_(environment, options.limit, options.stop) {}

  // Writes the steps `program` and `run`; nullopt where one failed. The access has a command.
  std::optional<Credential> run(const Access& access, const Environment& environment, Item& item);

 private:
  RunOptions options_;
  Programs programs_;
  ReportFolder reports_;
  std::atomic<std::size_t> runs_ = 0;
};

}  // namespace execcred::doctor
