// SPDX-License-Identifier: Apache-2.0
// Where credentials are written, and the state of what was written.
#pragma once

#include "contents.hpp"
#include "work.hpp"

#include <execcred/base/result.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace execcred::sync {

// Called right before each change of a target; false ends the work without a change.
using MayWrite = std::function<bool()>;

enum class Wrote {
  written,    // there was none, or another
  unchanged,  // it was there already
  not_now,    // MayWrite said so
};

// A store of credentials: a folder, or the hub's Secrets. Many threads call it at once, each for
// another object.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // All targets with the instance's mark. Fails instead of omitting any.
  virtual Result<std::vector<Held>> scan() = 0;

  // Whether the target, or a part of it, is known to be deleted. Never waits.
  virtual bool is_gone(const Held& held) const = 0;

  // Whether changes by other programs are seen as they happen. If not, `error` may have the reason.
  struct Watching {
    bool is_up = true;
    std::optional<Error> error = std::nullopt;
  };
  virtual Watching watching() const { return {}; }

  // How long from now on the other side wants no request, as it said when it refused one
  // (Retry-After); 0 if it did not say so. At most kLongestRetryAfter.
  virtual Duration retry_after() const { return {}; }

  // Marks the target: its credential has ended, and there is no new one. Does nothing in a store in
  // which a file contains the end.
  virtual Result<Wrote> mark_expired(const Held& held, const MayWrite& may_write) = 0;

  // Removes the target. A missing target is not a failure.
  virtual Result<Wrote> remove(const Held& held, const MayWrite& may_write) = 0;
};

// One form in which a store holds each cluster's credential.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  virtual Store& store() = 0;

  // The target for this ClusterProfile, with its mark; two targets with an equal place are the
  // same. Fails (configuration) if the name is invalid.
  virtual Result<Held> place_of(const Mark& mark) = 0;

  // Whether something that write() would not change is at this place. False if that cannot be read.
  virtual bool is_foreign(const Held& held) const = 0;

  // Writes the credential completely. Fails with the cause kTargetForeign (no_credential) if an
  // object of that name does not belong to the mark's ClusterProfile and instance. That object is
  // not changed.
  virtual Result<Wrote> write(const Held& held, const Issue& issue, const MayWrite& may_write) = 0;
};

}  // namespace execcred::sync
