// SPDX-License-Identifier: Apache-2.0
// A preloaded library that shifts a program's clock by CLOCK_AHEAD seconds, but not its monotonic
// clock. It reads the variable before main. libfaketime reads its variable at the first request for
// the time, and plugins have emptied their environment by then.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead;

__attribute__((constructor)) static void read_shift(void) {
  const char* text = getenv("CLOCK_AHEAD");
  if (text != NULL) ahead = strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const long status = syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += ahead;
  return (int)status;
}

time_t time(time_t* copy) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (copy != NULL) *copy = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict copy, void* restrict zone) {
  struct timespec now = {0};
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  copy->tv_sec = now.tv_sec;
  copy->tv_usec = now.tv_nsec / 1000;
  return 0;
}
