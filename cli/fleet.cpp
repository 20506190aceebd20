// SPDX-License-Identifier: Apache-2.0
#include "fleet.hpp"

#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

namespace execcred::doctor {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRedraw(200);
constexpr std::chrono::seconds kPatience(3);  // with threads that were told to stop

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void raise_event(const FileDescriptor& event) {
  const std::uint64_t one = 1;
  const ssize_t written = write(event.get(), &one, sizeof one);
  static_cast<void>(written);
}

// Outlives a thread that does not end in time, and so is shared with it.
struct Work {
  Work(std::vector<Target> all, ExaminationOptions options)
      : targets(std::move(all)),
        is_done(targets.size()),
        own_options(std::move(options)),
        stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        progress(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        examination(own_options, stop.get()) {}

  std::vector<Target> targets;
  std::vector<std::atomic<bool>> is_done;
  ExaminationOptions own_options;
  FileDescriptor stop;      // raised: everything ends soon
  FileDescriptor progress;  // raised when a thread ends
  Examination examination;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> failing = 0;
  std::atomic<std::size_t> threads = 0;
  std::atomic<bool> is_stopped = false;
};

void work_on(const std::shared_ptr<Work>& work) {
  for (;;) {
    const std::size_t number = work->next.fetch_add(1);
    if (number >= work->targets.size() || work->is_stopped) break;
    Target& target = work->targets[number];
    work->examination.run(target, number);
    // What was cut short is not known.
    if (work->is_stopped) break;
    if (target.item.verdict() == Verdict::fail) work->failing.fetch_add(1);
    work->is_done[number] = true;
    work->done.fetch_add(1);
  }
  work->threads.fetch_sub(1);
  raise_event(work->progress);
}

std::string clock_text(std::chrono::seconds time) {
  const auto seconds = time.count() % 60;
  return std::to_string(time.count() / 60) + ":" + (seconds < 10 ? "0" : "") +
         std::to_string(seconds);
}

class ProgressBar {
 public:
  ProgressBar(const Work& work, bool is_shown) : work_(work), is_shown_(is_shown) {}

  void draw() {
    if (!is_shown_) return;
    constexpr std::size_t kWidth = 24;
    const std::size_t all = work_.targets.size();
    const std::size_t done = work_.done;
    const std::size_t filled = all == 0 ? kWidth : done * kWidth / all;
    std::string line = "\r[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] " +
                       std::to_string(done) + "/" + std::to_string(all) + ", " +
                       std::to_string(work_.failing) + " failing";
    if (done > 0 && done < all) {
      const auto elapsed = SteadyClock::now() - start_;
      const auto left = elapsed / done * (all - done);
      line += ", " + clock_text(std::chrono::ceil<std::chrono::seconds>(left)) + " left";
    }
    deadline::write_to_stderr(line + "\x1b[K");
  }

  void remove() const {
    if (is_shown_) deadline::write_to_stderr("\r\x1b[K");
  }

 private:
  const Work& work_;
  bool is_shown_;
  SteadyClock::time_point start_ = SteadyClock::now();
};

// Until all threads have ended, or a signal came. The signal, or 0.
int wait_for_end(const Work& work, const FileDescriptor& signals, ProgressBar& bar) {
  while (work.threads > 0) {
    std::array<pollfd, 2> polled = {{{.fd = signals.get(), .events = POLLIN, .revents = 0},
                                     {.fd = work.progress.get(), .events = POLLIN, .revents = 0}}};
    poll(polled.data(), polled.size(), static_cast<int>(kRedraw.count()));
    bar.draw();
    signalfd_siginfo info = {};
    if (polled[0].revents != 0 && read(signals.get(), &info, sizeof info) == sizeof info) {
      return static_cast<int>(info.ssi_signo);
    }
    std::uint64_t count = 0;
    const ssize_t size = read(work.progress.get(), &count, sizeof count);
    static_cast<void>(size);
  }
  return 0;
}

bool wait_for_threads(const Work& work) {
  const auto end = SteadyClock::now() + kPatience;
  while (work.threads > 0 && SteadyClock::now() < end) {
    pollfd polled = {.fd = work.progress.get(), .events = POLLIN, .revents = 0};
    constexpr int kGlance = 50;
    poll(&polled, 1, kGlance);
    std::uint64_t count = 0;
    const ssize_t size = read(work.progress.get(), &count, sizeof count);
    static_cast<void>(size);
  }
  return work.threads == 0;
}

}  // namespace

FleetResult examine_all(std::vector<Target> targets, const ExaminationOptions& examination,
                        const FleetOptions& options) {
  const auto work = std::make_shared<Work>(std::move(targets), examination);
  const sigset_t ending = ending_signals();
  sigset_t before = {};
  // For the threads too, which inherit it; programs get their own mask.
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  const FileDescriptor signals(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  const std::size_t count = std::min(options.parallel, work->targets.size());
  std::vector<std::thread> threads;
  work->threads = count;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back(work_on, work);
    } catch (const std::system_error&) {
      work->threads.fetch_sub(1);  // fewer do it too
    }
  }
  if (threads.empty() && count > 0) {
    work->threads = 1;
    work_on(work);
  }
  ProgressBar bar(*work, options.shows_progress);
  FleetResult result;
  result.signal = wait_for_end(*work, signals, bar);
  if (result.signal != 0) {
    work->is_stopped = true;
    raise_event(work->stop);
    result.has_stragglers = !wait_for_threads(*work);
  }
  bar.remove();
  for (std::thread& thread : threads) {
    if (result.has_stragglers) {
      thread.detach();
    } else {
      thread.join();
    }
  }
  for (std::size_t i = 0; i < work->targets.size(); ++i) {
    if (work->is_done[i]) result.items.push_back(std::move(work->targets[i].item));
  }
  if (result.signal == 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace execcred::doctor
