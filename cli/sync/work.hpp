// SPDX-License-Identifier: Apache-2.0
// The work on one cluster, and its result, as values.
#pragma once

#include "mark.hpp"
#include "schedule.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {
struct Access;
}

namespace execcred::sync {

class Store;

// A place where a credential is written: a folder or a Secret.
struct Held {
  Store* store = nullptr;
  std::string place = {};       // "Secret fleet/spoke-1-token", "'/run/clusters/fleet/spoke-1'"
  std::string name_space = {};  // its own
  std::string name = {};
  Mark mark = {};
};

// The causes of a target that was not written, in addition to those of doctor.
namespace cause {
inline constexpr std::string_view kTargetForeign = "target-foreign";
inline constexpr std::string_view kTargetClash = "target-clash";
inline constexpr std::string_view kTargetRefused = "target-refused";
inline constexpr std::string_view kTargetUnavailable = "target-unavailable";
inline constexpr std::string_view kTargetUnusable = "target-unusable";
}  // namespace cause

// Why a cluster has no new credential, or why the credential was not written to a target.
struct Failure {
  std::string_view cause = {};
  std::string message = {};
  std::string hint = {};
  std::string place = {};  // empty: it is of all targets
  bool is_unavailability = false;
  // The program or its source is at fault, on this machine: it is asked again soon.
  bool is_local = false;
  // A rule refuses the ClusterProfile (Error::by_rule), so that what was written is removed.
  bool is_by_rule = false;
  std::string_view kept_because =
      {};  // why the existing credential stays, where that is not evident
};

// A place that two credentials have, so that neither is written to it.
struct Clash {
  std::string place = {};
  std::string why = {};
};

struct Job {
  enum class Kind {
    renew,   // run the plugin, write
    remove,  // what is held, because of `why`
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
  std::string_view why = {};
  // Whether a refusal by a rule would be followed by a removal now.
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
  // The longest pause that a store asked for which failed (Store::retry_after).
  Duration retry_after = {};
  std::optional<Duration> plugin_time = {};
  bool is_same_credential = false;
  bool is_interrupted = false;  // the work must not be interrupted now
  std::size_t writes = 0;
};

}  // namespace execcred::sync
