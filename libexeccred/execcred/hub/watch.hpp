// SPDX-License-Identifier: Apache-2.0
// The objects of one resource of the hub, kept up to date: a list, then a watch with bookmarks, as
// client-go's reflector does (KEP-956, "API concepts: efficient detection of changes").
//
//   HubWatch watch(std::move(hub), watch_profiles({.name_space = "fleet"}));
//   std::thread thread([&] { watch.run(stop); });
//   WatchView view = watch.wait_for_change(0, deadline);
//   while (...) view = watch.wait_for_change(view.generation, deadline);
//
// The watch never gives up. A failed request is repeated after a growing, jittered pause, or after
// the Retry-After; the objects stay as last seen, and the view contains the time of the failure. If
// the hub no longer has the version (410), the objects are listed again; only a complete list
// replaces them. A connection whose other side is gone is detected by TCP keepalive or a time-out,
// and replaced.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/hub/profiles.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/label_selector.hpp>
#include <execcred/os/stop_event.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct WatchedObject {
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};
  std::string resource_version = {};  // another one: the object has changed
  // JSON in one line, without metadata.managedFields. The user parses it: a tree of every object
  // would take several times the memory.
  std::string text = {};
  // Why this object is not usable: the error of WatchQuery::check, or the problem of its ListItem.
  // Other objects are not affected.
  std::optional<Error> problem = std::nullopt;
};

// Sorted by namespace, then by name. An object that did not change is the same pointer in the next
// view.
using WatchedObjects = std::vector<std::shared_ptr<const WatchedObject>>;

// The object of that name, or nullptr if there is none.
const WatchedObject* find_object(const WatchedObjects& objects, std::string_view name_space,
                                 std::string_view name);

// The state of a watch.
struct WatchState {
  // Grows with each change of the state or of an object; 0 before the first change.
  std::uint64_t generation = 0;
  // Whether a complete list was read since the start. Before that, no object is known.
  bool is_complete = false;
  // Whether the hub accepted the last list or watch. If not, the objects may be outdated; the next
  // two members are since when, and why.
  bool is_in_sync = false;
  std::chrono::steady_clock::time_point out_of_sync_since = {};
  std::optional<Error> error = std::nullopt;
  // The objects of the last list that have no name; the first ten.
  std::vector<Error> nameless = {};
};

// A snapshot of a watch, which does not change. It costs a pointer for each object.
struct WatchView : WatchState {
  std::shared_ptr<const WatchedObjects> objects = std::make_shared<WatchedObjects>();
};

struct WatchQuery {
  // Returns the resource to list and watch. Called before each list, because what the hub serves
  // may change.
  std::function<Result<HubResource>(HubClient&)> resource = {};
  LabelSelector selector = {};
  // Checks each object when it arrives; an error becomes WatchedObject::problem. Empty: only the
  // item's own problem does.
  std::function<Status(const ListItem&)> check = {};
  // Whether only the objects' metadata is read, without their content: for Secrets.
  bool is_metadata_only = false;
};

// ClusterProfiles of the namespace (empty: all) in the newest version that the hub serves and
// cluster_profile.hpp knows; `check` is parse_profile_of_hub().
WatchQuery watch_profiles(const std::string& name_space, const LabelSelector& selector = {});

// Secrets of the namespace (empty: all); the hub sends only their metadata.
WatchQuery watch_secret_metadata(const std::string& name_space, const LabelSelector& selector);

struct WatchTimings {
  Duration first_pause = std::chrono::milliseconds(500);
  Duration longest_pause = std::chrono::seconds(15);
  // The duration of one watch request: the hub is asked to end it after a random time between half
  // of this and all of it, in whole seconds.
  Duration watch_timeout = std::chrono::minutes(5);
  Duration margin = std::chrono::seconds(15);        // after which we end it ourselves
  Duration list_timeout = std::chrono::seconds(60);  // of one page with its attempts
};

class HubWatch {
 public:
  HubWatch(HubClient hub, WatchQuery query, WatchTimings timings = {});

  // Runs until `stop` is requested, and returns within about 200 ms after that. The caller calls
  // this once, in a thread of its own.
  void run(const StopEvent& stop);

  // Any thread may call view(), state(), find() and wait_for_change().
  WatchView view() const;
  WatchState state() const;
  // The object, or a null pointer if there is none; nullopt if that is unknown because the watch is
  // not in sync.
  std::optional<std::shared_ptr<const WatchedObject>> find(std::string_view name_space,
                                                           std::string_view name) const;
  // Returns as soon as there is a generation after `seen`, and at the deadline at the latest.
  WatchView wait_for_change(std::uint64_t seen,
                            std::chrono::steady_clock::time_point deadline) const;
  // Sets an action that the thread of run() calls after each change, without holding a lock. The
  // action must not wait. Must be set before run(). It is for threads that wait for other events
  // too.
  void on_change(std::function<void()> action) { on_change_ = std::move(action); }
  // Sets an action that is called in the same way for each object that was added, changed or
  // removed (`is_there` is false). It is called before the state contains the change, and before
  // the action of on_change().
  using OnObject = std::function<void(std::shared_ptr<const WatchedObject> object, bool is_there)>;
  void on_object(OnObject action) { on_object_ = std::move(action); }

 private:
  class Session;

  WatchView view_of_now(std::unique_lock<std::mutex>& lock) const;

  HubClient hub_;
  WatchQuery query_;
  WatchTimings timings_;
  std::function<void()> on_change_ = [] {};
  OnObject on_object_ = [](const std::shared_ptr<const WatchedObject>&, bool) {};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  WatchState state_;
  WatchedObjects objects_;  // the current ones
  // The objects of the last view; null if they have changed since.
  mutable std::shared_ptr<const WatchedObjects> copied_ = std::make_shared<WatchedObjects>();
};

}  // namespace execcred
