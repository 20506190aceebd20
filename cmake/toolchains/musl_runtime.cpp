// SPDX-License-Identifier: Apache-2.0
// Replaces parts of the toolchain's runtime that cost a one-shot process more than its own work
// does. Linked into every musl binary by the toolchain file.
#include <cstddef>
#include <cstdlib>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

extern "C" {

// The C library's looks for the vDSO's function by name and reads two pages that nothing else does,
// which costs more than the few times that a run asks for the time.
int clock_gettime(clockid_t clock, timespec* time) {
  return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

// Output goes by write(2), and the kernel takes back what destructors of static objects would. The
// C library's looks through lists, buffers and libcrypto's destructor for things to do.
void exit(int status) { _Exit(status); }

// The default terminate handler names the type of an uncaught exception with it: 180 KB of code
// and 1,300 relocations, for a message that plugin_main's last catch makes impossible.
char* __cxa_demangle(const char* /*name*/, char* /*buffer*/, std::size_t* /*size*/, int* status) {
  constexpr int kInvalidName = -2;
  if (status != nullptr) *status = kInvalidName;
  return nullptr;
}
}
