// SPDX-License-Identifier: Apache-2.0
#include "fleet.hpp"

#include <execcred/os/deadline.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/signal_block.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

namespace execcred::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRedraw(200);
constexpr std::chrono::seconds kLong(1);      // a shorter run shows no progress
constexpr std::chrono::seconds kPatience(3);  // with threads that were told to stop

void raise_event(const FileDescriptor& event) {
  const std::uint64_t one = 1;
  const ssize_t written = write(event.get(), &one, sizeof one);
  static_cast<void>(written);
}

// The state of a run. Its threads share it, because a thread that does not end in time outlives the
// run.
struct Run {
  explicit Run(std::shared_ptr<FleetWork> all)
      : work(std::move(all)),
        is_done(work->count()),
        progress(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  std::shared_ptr<FleetWork> work;
  std::vector<std::atomic<bool>> is_done;
  FileDescriptor progress;  // raised when a thread ends
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> failing = 0;
  std::atomic<std::size_t> threads = 0;
  std::atomic<bool> is_stopped = false;
};

void work_on(const std::shared_ptr<Run>& run) {
  for (;;) {
    const std::size_t number = run->next.fetch_add(1);
    if (number >= run->work->count() || run->is_stopped) break;
    const bool fails = run->work->run(number);
    // The result of an interrupted cluster is unknown.
    if (run->is_stopped) break;
    if (fails) run->failing.fetch_add(1);
    run->is_done[number] = true;
    run->done.fetch_add(1);
  }
  run->threads.fetch_sub(1);
  raise_event(run->progress);
}

std::string clock_text(std::chrono::seconds time) {
  const auto seconds = time.count() % 60;
  return std::to_string(time.count() / 60) + ":" + (seconds < 10 ? "0" : "") +
         std::to_string(seconds);
}

class ProgressBar {
 public:
  ProgressBar(const Run& run, bool is_shown) : run_(run), is_shown_(is_shown) {}

  void draw() {
    if (!is_shown_ || SteadyClock::now() - start_ < kLong) return;
    is_drawn_ = true;
    constexpr std::size_t kWidth = 24;
    const std::size_t all = run_.work->count();
    const std::size_t done = run_.done;
    const std::size_t filled = all == 0 ? kWidth : done * kWidth / all;
    std::string line = "\r[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] " +
                       std::to_string(done) + "/" + std::to_string(all) + ", " +
                       std::to_string(run_.failing) + " failing";
    if (done > 0 && done < all) {
      const auto elapsed = SteadyClock::now() - start_;
      const auto left = elapsed / done * (all - done);
      line += ", " + clock_text(std::chrono::ceil<std::chrono::seconds>(left)) + " left";
    }
    deadline::write_to_stderr(line + "\x1b[K");
  }

  void remove() const {
    if (is_drawn_) deadline::write_to_stderr("\r\x1b[K");
  }

 private:
  const Run& run_;
  bool is_shown_;
  bool is_drawn_ = false;
  SteadyClock::time_point start_ = SteadyClock::now();
};

// Waits until all threads have ended, or a signal has arrived. Returns the signal, or 0.
int wait_for_end(const Run& run, SignalBlock& signals, ProgressBar& bar) {
  const int pending = signals.open();
  while (run.threads > 0) {
    std::array<pollfd, 2> polled = {{{.fd = pending, .events = POLLIN, .revents = 0},
                                     {.fd = run.progress.get(), .events = POLLIN, .revents = 0}}};
    poll(polled.data(), polled.size(), static_cast<int>(kRedraw.count()));
    bar.draw();
    if (const int signal = signals.take(); signal != 0) return signal;
    std::uint64_t count = 0;
    const ssize_t size = read(run.progress.get(), &count, sizeof count);
    static_cast<void>(size);
  }
  return 0;
}

bool wait_for_threads(const Run& run) {
  const auto end = SteadyClock::now() + kPatience;
  while (run.threads > 0 && SteadyClock::now() < end) {
    pollfd polled = {.fd = run.progress.get(), .events = POLLIN, .revents = 0};
    constexpr int kGlance = 50;
    poll(&polled, 1, kGlance);
    std::uint64_t count = 0;
    const ssize_t size = read(run.progress.get(), &count, sizeof count);
    static_cast<void>(size);
  }
  return run.threads == 0;
}

}  // namespace

FleetWork::FleetWork(std::size_t count)
    : count_(count), stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void FleetWork::end_soon() const { raise_event(stop_); }

FleetEnd run_fleet(const std::shared_ptr<FleetWork>& work, const FleetOptions& options) {
  const auto run = std::make_shared<Run>(work);
  // The programs that the threads run do not inherit the block.
  SignalBlock signals(SignalBlock::Signals::ending);
  const OrphanGuard orphans;
  const std::size_t count = std::min(options.parallel, work->count());
  std::vector<std::thread> threads;
  run->threads = count;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back(work_on, run);
    } catch (const std::system_error&) {
      run->threads.fetch_sub(1);  // fewer threads are enough
    }
  }
  if (threads.empty() && count > 0) {
    run->threads = 1;
    work_on(run);
  }
  ProgressBar bar(*run, options.shows_progress && work->count() > 1 && isatty(STDERR_FILENO) == 1);
  FleetEnd end;
  end.signal = wait_for_end(*run, signals, bar);
  if (end.signal != 0) {
    signals.stay();
    run->is_stopped = true;
    work->end_soon();
    end.has_stragglers = !wait_for_threads(*run);
  }
  bar.remove();
  for (std::thread& thread : threads) {
    if (end.has_stragglers) {
      thread.detach();
    } else {
      thread.join();
    }
  }
  end.is_done.assign(run->is_done.begin(), run->is_done.end());
  return end;
}

}  // namespace execcred::cli
