// SPDX-License-Identifier: Apache-2.0
// A signal asks a long run to end; if it does not end in time, it is terminated.
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
  // signal arrives, `stop` is requested, and another thread calls `on_stop`. `is_endless`: such a
  // run ends by signals alone. `stop` must outlive this object.
  RunSignals(const StopEvent& stop, std::function<void()> on_stop, bool is_endless);
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;
  ~RunSignals();

  // The exit code after the signal that arrived; nullopt: none did. SIGTERM, SIGINT and SIGHUP are
  // the usual end of an endless run.
  std::optional<int> exit_code() const;

 private:
  void run(const std::function<void()>& on_stop);

  const StopEvent& stop_;
  bool is_endless_;
  std::optional<SignalBlock> signals_;
  FileDescriptor end_;
  std::atomic<int> received_ = 0;
  std::thread thread_;
};

}  // namespace execcred::sync
