// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/process_signals.hpp>

#include <execcred/os/process_setup.hpp>

#include <unistd.h>

#include <array>

namespace execcred {
namespace {

// Handlers have no other way to know.
volatile pid_t guarded_group = 0;

constexpr std::array<int, 6> kEndingSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM};
std::array<struct sigaction, kEndingSignals.size()> former_actions;

void end_group(int signal) {
  // set_up_process() has it sent when the parent's thread ends, which the parent may survive.
  if (signal == SIGUSR1 && !has_lost_parent()) return;
  kill(-guarded_group, SIGKILL);
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    if (kEndingSignals[i] == signal) sigaction(signal, &former_actions[i], nullptr);
  }
  raise(signal);
}

}  // namespace

SignalBlock::SignalBlock() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalBlock::~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

GroupGuard::GroupGuard(pid_t group) {
  guarded_group = group;
  struct sigaction action = {};
  action.sa_handler = end_group;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], nullptr, &former_actions[i]);
    if (former_actions[i].sa_handler == SIG_IGN) continue;
    sigaction(kEndingSignals[i], &action, nullptr);
  }
}

GroupGuard::~GroupGuard() {
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], &former_actions[i], nullptr);
  }
}

}  // namespace execcred
