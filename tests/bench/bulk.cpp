// SPDX-License-Identifier: Apache-2.0
#include "bulk.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <random>

namespace bench {
namespace {

constexpr int kSlices = 10;

template <typename Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void must_succeed(const Command& command, int wait_status) {
  if (wait_status != 0) fail("'" + command.argv[0] + "' " + describe_exit(wait_status));
}

void run_sequentially(const Command& command, int execs) {
  for (int i = 0; i < execs; ++i) must_succeed(command, run(command, Capture::out).wait_status);
}

void run_at_once(const Command& command, int execs) {
  std::map<pid_t, Running> alive;
  for (int started = 0; started < execs || !alive.empty();) {
    if (started < execs && alive.size() < kAtOnce) {
      const Running running = start(command, Capture::out);
      alive.emplace(running.pid, running);
      ++started;
    } else {
      const Exited exited = wait_for_any();
      // The output of a plugin fits into a pipe, so no process waits for its reader.
      read_to_end(alive.at(exited.pid).output);
      alive.erase(exited.pid);
      must_succeed(command, exited.wait_status);
    }
  }
}

std::optional<long> sum_of_pss_kb(const Command& command) {
  run_sequentially(command, 1);  // so that the held processes do not fill or renew a cache
  std::vector<pid_t> held;
  // A program with threads may end in a thread that is not traced, and so is not held.
  for (int tries = 0; tries < 4 * kAtOnce && held.size() < kAtOnce; ++tries) {
    if (const auto pid = hold_at_exit(command)) held.push_back(*pid);
  }
  std::optional<long> sum;
  if (held.size() == kAtOnce) {
    sum = 0;
    for (const pid_t pid : held) {
      const auto pss = memory_field_kb(pid, "smaps_rollup", "Pss");
      sum = sum && pss ? std::optional(*sum + *pss) : std::nullopt;
    }
  }
  for (const pid_t pid : held) let_exit(pid);
  return sum;
}

}  // namespace

std::vector<Bulk> run_bulk(const std::vector<Command>& commands, int execs) {
  std::vector<Bulk> results(commands.size());
  std::vector<size_t> order(commands.size());
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937 random(std::random_device{}());
  for (int slice = 0; slice < kSlices; ++slice) {
    const int share = execs * (slice + 1) / kSlices - execs * slice / kSlices;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      results[i].sequential_s += seconds_of([&] { run_sequentially(commands[i], share); });
      results[i].at_once_s += seconds_of([&] { run_at_once(commands[i], share); });
    }
  }
  for (size_t i = 0; i < commands.size(); ++i) results[i].pss_sum_kb = sum_of_pss_kb(commands[i]);
  return results;
}

}  // namespace bench
