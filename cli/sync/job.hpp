// SPDX-License-Identifier: Apache-2.0
// The work on one cluster: runs its plugin and writes the credential, or removes what was written.
#pragma once

#include "journal.hpp"
#include "schedule.hpp"
#include "target.hpp"

#include "../doctor/plugin_run.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/kube/access.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::sync {

// Why a cluster has no new credential, or why the credential was not written to a target.
struct Failure {
  std::string_view cause = {};
  std::string message = {};
  std::string hint = {};
  std::string place = {};  // empty: it is of all targets
  bool is_unavailability = false;
  // The program or its source is at fault, on this machine: it is asked again soon.
  bool is_local = false;
  std::string_view kept = {};  // why the existing credential stays, where that is not evident
};

// Whether this cause means that the ClusterProfile must not have a credential, so that what was
// written is removed.
bool is_by_rule(std::string_view cause);

// A place that two credentials have, so that neither is written to it.
struct Clash {
  std::string place = {};
  std::string_view why = {};
};

struct Job {
  enum class Kind {
    renew,   // run the plugin, write
    remove,  // the ClusterProfile is gone
    expire,  // the credential has ended, and the plugin cannot be run
  };

  Kind kind = Kind::renew;
  Mark mark = {};  // instance, ClusterProfile, digest
  std::string provider = {};
  std::shared_ptr<const Access> access =
      {};  // of renew; null where `problem` says why there is none
  std::optional<Failure> problem = {};
  std::vector<Held> held = {};
  // The lifetime of the existing credential.
  std::optional<Lifetime> lifetime = {};
  TimePoint renewal = {};  // of it; a place that has it is not written before
  bool may_remove = false;
  std::vector<Clash> clashes = {};  // of its places
};

struct JobResult {
  std::vector<Held> held = {};
  std::vector<Failure> failures = {};
  // The lifetime of the credential that the plugin gave, by its own end.
  std::optional<Lifetime> lifetime = {};
  // From the plugin's answer to the end that it claims, where the credential itself has another
  // end, or none.
  std::optional<Lifetime> claim = {};
  std::optional<Duration> plugin_time = {};
  bool is_same_credential = false;
  bool is_interrupted = false;  // the work must not be interrupted now
  std::size_t writes = 0;
};

struct JobTools {
  std::vector<Target*> targets = {};
  doctor::PluginRunner& runner;
  const Environment& environment;
  Journal& journal;
  MayWrite may_write = {};
  // Whether the end of the run was requested. A plugin that fails after that was interrupted, which
  // is not a failure.
  std::function<bool()> is_stopped = {};
};

JobResult do_job(const Job& job, const JobTools& tools);

}  // namespace execcred::sync
