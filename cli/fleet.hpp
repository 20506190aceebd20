// SPDX-License-Identifier: Apache-2.0
// Work on many clusters in parallel, with a limited number of threads.
#pragma once

#include <execcred/os/file.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace execcred::cli {

// The work on each cluster. The threads of a run share its ownership, because a thread that does
// not end in time outlives the run.
class FleetWork {
 public:
  explicit FleetWork(std::size_t count);
  FleetWork(const FleetWork&) = delete;
  FleetWork& operator=(const FleetWork&) = delete;
  virtual ~FleetWork() = default;

  // Does the work on one cluster. Many threads call it at once, each with a different number.
  // Returns whether that cluster fails.
  virtual bool run(std::size_t number) = 0;

  std::size_t count() const { return count_; }
  // A descriptor that becomes readable when all work must end soon.
  int stop() const { return stop_.get(); }
  void end_soon() const;

 private:
  std::size_t count_;
  FileDescriptor stop_;
};

struct FleetOptions {
  std::size_t parallel = 16;
  // Shows a progress bar if there are several clusters, standard error is a terminal, and the run
  // takes longer than a second.
  bool shows_progress = false;
};

struct FleetEnd {
  // By the cluster's number. False if the work on it was interrupted or did not begin, so that its
  // result is unknown.
  std::vector<bool> is_done = {};
  // The signal that ended the run early; 0: none. No program that the run started is still running.
  int signal = 0;
  // Some threads did not end in time, so the process must end by _exit.
  bool has_stragglers = false;
};

FleetEnd run_fleet(const std::shared_ptr<FleetWork>& work, const FleetOptions& options);

template <class Item>
struct FleetItems {
  std::vector<Item> items = {};  // of the clusters whose work is done, in their order
  FleetEnd end = {};
};

// Runs the work, and takes its results: work.item_of(number) is that of one cluster.
template <class Item, class Work>
FleetItems<Item> collect_from_fleet(const std::shared_ptr<Work>& work,
                                    const FleetOptions& options) {
  FleetItems<Item> found{.end = run_fleet(work, options)};
  for (std::size_t i = 0; i < work->count(); ++i) {
    if (found.end.is_done[i]) found.items.push_back(std::move(work->item_of(i)));
  }
  return found;
}

}  // namespace execcred::cli
