// SPDX-License-Identifier: Apache-2.0
// Every command of execcred.
#pragma once

#include "cache.hpp"
#include "command_line.hpp"
#include "completion.hpp"
#include "doctor.hpp"
#include "explain.hpp"
#include "get.hpp"
#include "grant.hpp"
#include "help.hpp"
#include "init.hpp"
#include "install.hpp"
#include "kubeconfig.hpp"
#include "lint.hpp"
#include "migrate.hpp"
#include "resolve.hpp"
#include "sync.hpp"
#include "version.hpp"

namespace execcred::cli {

class Commands {
 public:
  Commands();
  const CommandLine& line() const { return line_; }
  void set_program(std::string_view path) { line_.set_program(path); }
  Result<Outcome> run(const std::vector<std::string>& arguments, const Environment& environment) {
    return line_.run(arguments, environment);
  }

 private:
  Get get_;
  Resolve resolve_;
  Doctor doctor_;
  Explain explain_;
  Grant grant_;
  Kubeconfig kubeconfig_;
  Init init_;
  Lint lint_;
  Migrate migrate_;
  Sync sync_;
  Cache cache_;
  Install install_;
  Completion completion_;
  Version version_;
  CommandLine line_;
  Complete complete_{line_};
  Help help_{line_};
};

}  // namespace execcred::cli
