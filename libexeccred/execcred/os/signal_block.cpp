// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/signal_block.hpp>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace execcred {

SignalBlock::SignalBlock(Signals signals) {
  sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
  if (signals == Signals::ending_and_alarm) sigaddset(&set_, SIGALRM);
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
