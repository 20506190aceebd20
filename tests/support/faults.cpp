// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program under test: lets one call of the C library fail, the Nth of its name, or
// with 0 each.
//
//   LD_PRELOAD=…/libfaults.so FAULT=poll:12:3:/tmp/mark program
//
// is the third poll, with ENOMEM. The file at the end of FAULT is made when the call fails.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Fault {
  char call[16] = {};
  char mark[400] = {};
  int error = 0;
  int number = 0;
  std::atomic<int> seen = 0;
};
Fault fault;

[[gnu::constructor]] void read_fault() {
  const char* const text = std::getenv("FAULT");
  if (text == nullptr) return;
  if (std::sscanf(text, "%15[^:]:%d:%d:%399s", fault.call, &fault.error, &fault.number,
                  fault.mark) != 4) {
    _exit(99);
  }
}

bool strikes(const char* call) {
  if (std::strcmp(call, fault.call) != 0) return false;
  if (++fault.seen != fault.number && fault.number != 0) return false;
  close(open(fault.mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  errno = fault.error;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Each is called as often as the C library's own; a missing one is looked up once.
#define PASS_ON(name, failure, ...)                       \
  static const auto kNext = next<decltype(&name)>(#name); \
  return strikes(#name) ? (failure) : kNext(__VA_ARGS__)

extern "C" {

int poll(pollfd* descriptors, nfds_t count, int timeout) {
  PASS_ON(poll, -1, descriptors, count, timeout);
}
int socket(int domain, int type, int protocol) noexcept {
  PASS_ON(socket, -1, domain, type, protocol);
}
int connect(int socket, const sockaddr* address, socklen_t size) {
  PASS_ON(connect, -1, socket, address, size);
}
ssize_t recv(int socket, void* buffer, std::size_t size, int flags) {
  PASS_ON(recv, -1, socket, buffer, size, flags);
}
ssize_t send(int socket, const void* buffer, std::size_t size, int flags) {
  PASS_ON(send, -1, socket, buffer, size, flags);
}
int getsockopt(int socket, int level, int name, void* value, socklen_t* size) noexcept {
  PASS_ON(getsockopt, -1, socket, level, name, value, size);
}
ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  PASS_ON(getrandom, -1, buffer, size, flags);
}
int getentropy(void* buffer, std::size_t size) { PASS_ON(getentropy, -1, buffer, size); }

}  // extern "C"
