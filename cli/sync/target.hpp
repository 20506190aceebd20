// SPDX-License-Identifier: Apache-2.0
// Where credentials are written, and what is known of what was written there.
#pragma once

#include "contents.hpp"
#include "mark.hpp"

#include <execcred/base/result.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::sync {

// Why a target was not written, beside the causes of doctor.
namespace cause {
inline constexpr std::string_view kTargetForeign = "target-foreign";
inline constexpr std::string_view kTargetClash = "target-clash";
inline constexpr std::string_view kTargetRefused = "target-refused";
inline constexpr std::string_view kTargetUnavailable = "target-unavailable";
inline constexpr std::string_view kTargetUnusable = "target-unusable";
}  // namespace cause

class Store;

// One thing that was written: a folder or a Secret.
struct Held {
  Store* store = nullptr;
  std::string place = {};       // "Secret fleet/spoke-1-token", "'/run/clusters/fleet/spoke-1'"
  std::string name_space = {};  // its own
  std::string name = {};
  Mark mark = {};
};

// Asked right before each change of a target; false ends the work without one.
using MayWrite = std::function<bool()>;

enum class Wrote {
  written,    // there was none, or another
  unchanged,  // it was there already
  not_now,    // MayWrite said so
};

// What holds credentials: a folder, or the hub's Secrets. Many threads call it at once, each for
// another object.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // All that carries the instance's mark. Fails rather than leaving something out.
  virtual Result<std::vector<Held>> scan() = 0;

  // Whether it is known that what was held is not there any more. Never waits.
  virtual bool is_gone(const Held& held) const = 0;

  // The credential has ended, and no other is there. Where a file says so itself: nothing.
  virtual Result<Wrote> mark_expired(const Held& held, const MayWrite& may_write) = 0;

  // Removes what is held. Nothing to remove is no failure.
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

  // Where the credential of this ClusterProfile goes, with the mark that it gets there; its place
  // is equal for two that would be one. Fails (configuration) where that cannot be a name.
  virtual Result<Held> place_of(const Mark& mark) = 0;

  // Writes it whole. Fails with the cause kTargetForeign (no_credential) where something of that
  // name is there that is not of the mark's ClusterProfile and instance, and does not touch it.
  virtual Result<Wrote> write(const Held& held, const Issue& issue, const MayWrite& may_write) = 0;
};

}  // namespace execcred::sync
