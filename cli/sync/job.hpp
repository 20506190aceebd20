// SPDX-License-Identifier: Apache-2.0
// The work on one cluster: runs its plugin and writes the credential, or removes what was written.
#pragma once

#include "journal.hpp"
#include "target.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/engine/plugin_run.hpp>

#include <functional>
#include <vector>

namespace execcred::sync {

struct JobTools {
  std::vector<Target*> targets = {};
  engine::PluginRunner& runner;
  const Environment& environment;
  Journal& journal;
  MayWrite may_write = {};
  // Whether the end of the run was requested. A plugin that fails after that was interrupted, which
  // is not a failure.
  std::function<bool()> is_stopped = {};
};

// The first cause that the engine found. The item must have one.
Failure failure_of(const engine::Item& item);

JobResult do_job(const Job& job, const JobTools& tools);

}  // namespace execcred::sync
