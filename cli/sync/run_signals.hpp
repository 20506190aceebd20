// SPDX-License-Identifier: Apache-2.0
// SIGTERM, SIGINT and SIGHUP ask a long run to end; if it does not end in time, it is terminated.
#pragma once

#include <execcred/os/file.hpp>
#include <execcred/os/signal_block.hpp>
#include <execcred/os/stop_event.hpp>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

namespace execcred::sync {

class RunSignals {
 public:
  // To be made before any other thread is started, because threads inherit the signal mask. When a
  // signal arrives, `stop` is requested, and another thread calls `on_stop`. `exit_code` is the
  // exit code of a process that is terminated because the run does not end in time. `stop` must
  // outlive this object.
  RunSignals(const StopEvent& stop, std::function<void()> on_stop, int exit_code);
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;
  ~RunSignals();

  // The signal that arrived; 0: none.
  int received() const { return received_; }

 private:
  void run(const std::function<void()>& on_stop);

  const StopEvent& stop_;
  int exit_code_;
  std::optional<SignalBlock> signals_;
  FileDescriptor end_;
  std::atomic<int> received_ = 0;
  std::thread thread_;
};

}  // namespace execcred::sync
