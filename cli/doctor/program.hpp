// SPDX-License-Identifier: Apache-2.0
// The program that gives the credential: whether it is there, can be started here, and cannot be
// changed by others.
#pragma once

#include "report.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/base/error.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::doctor {

struct ProgramFinding {
  Verdict verdict = Verdict::ok;
  std::string_view cause = {};
  std::string message = {};
  std::string hint = {};
  std::string path = {};  // absolute; empty if there is no such program
  // The file is not a program for this machine. Starting it fails, unless the kernel has an
  // interpreter for it.
  bool is_foreign = false;
};

// Examines the program that a client would start for this command, without running it. A bare name
// is looked up in PATH by Go's rules (exec.LookPath).
ProgramFinding look_at_program(const std::string& command, const Environment& environment);

// Examines each program once, for any number of clusters, and asks execcred's plugins for their
// version. Thread-safe. `environment` must outlive this object.
class Programs {
 public:
  Programs(const Environment& environment, Duration limit, int stop)
      : environment_(environment), limit_(limit), stop_(stop) {}

  const ProgramFinding& look_at(const std::string& command);

 private:
  struct Entry {
    std::once_flag once;
    ProgramFinding finding;
  };

  ProgramFinding ask_version(ProgramFinding finding) const;

  const Environment& environment_;
  Duration limit_;
  int stop_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;
};

// The last part of a path: "execcred-token-file" for "/plugins/execcred-token-file"; and whether
// that is the name of an execcred plugin.
std::string_view file_name(std::string_view path);
bool is_ours(std::string_view path);

}  // namespace execcred::doctor
