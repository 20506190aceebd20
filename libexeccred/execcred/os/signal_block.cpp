// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/signal_block.hpp>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace execcred {
namespace {

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalBlock::SignalBlock(Signals signals) {
  sigemptyset(&set_);
  // While a signal is blocked, the kernel keeps it pending even if it is ignored.
  for (const int signal : kEndingSignals) {
    if (!is_ignored(signal)) sigaddset(&set_, signal);
  }
  if (signals == Signals::all) sigfillset(&set_);
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

SignalBlock::~SignalBlock() {
  if (!stays_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int SignalBlock::open() {
  descriptor_.reset(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  return descriptor_.get();
}

int SignalBlock::take() const {
  signalfd_siginfo info = {};
  if (!descriptor_ || read(descriptor_.get(), &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace execcred
