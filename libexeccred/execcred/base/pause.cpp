// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/pause.hpp>

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace execcred {

using std::chrono::steady_clock;

void pause_until(steady_clock::time_point time) {
  if (time <= steady_clock::now()) return;
  const auto since_start = time.time_since_epoch();
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_start);
  const timespec end = {.tv_sec = static_cast<time_t>(whole.count()),
                        .tv_nsec = static_cast<long>((since_start - whole).count())};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
}

void pause_for(Duration pause) { pause_until(steady_clock::now() + pause); }

Duration jittered(Duration pause) {
  if (pause <= Duration::zero()) return pause;
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random = 0;
  const auto steps = static_cast<std::uint64_t>(pause.count() / 2) + 1;
  return pause - Duration(static_cast<Duration::rep>(random % steps));
}

}  // namespace execcred
