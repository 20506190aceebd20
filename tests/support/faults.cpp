// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program under test: lets one call of the C library fail, the Nth of its name, or
// with 0 each.
//
//   LD_PRELOAD=…/libfaults.so FAULT=poll:12:3:/tmp/mark program
//
// is the third poll, with ENOMEM. The file at the end of FAULT is made when the call fails; it has
// a byte if that was in main, whose first act is to look whether standard input is open. In the
// place of an error, -1 leaves the call one byte to read or write, and -2 half of what it asks for.
// With "clock" that place has the seconds by which the time of day is moved; times of files are
// not.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

struct Fault {
  char call[16] = {};
  char mark[400] = {};
  long error = 0;
  int number = 0;
  std::atomic<int> seen = 0;
};
Fault fault;
std::atomic<bool> is_in_main = false;

[[gnu::constructor]] void read_fault() {
  const char* const text = std::getenv("FAULT");
  if (text == nullptr) return;
  if (std::sscanf(text, "%15[^:]:%ld:%d:%399s", fault.call, &fault.error, &fault.number,
                  fault.mark) != 4) {
    _exit(99);
  }
}

bool strikes(const char* call) {
  if (std::strcmp(call, fault.call) != 0) return false;
  if (++fault.seen != fault.number && fault.number != 0) return false;
  const int mark = open(fault.mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (ftruncate(mark, is_in_main ? 1 : 0) != 0) _exit(99);
  close(mark);
  return true;
}

bool fails(const char* call) {
  if (fault.error < 0 || !strikes(call)) return false;
  errno = static_cast<int>(fault.error);
  return true;
}

// An eventfd is read and written as a whole, or not at all.
bool can_be_short(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

std::size_t shortened(const char* call, int descriptor, std::size_t size) {
  if (fault.error >= 0 || size < 2 || !can_be_short(descriptor) || !strikes(call)) return size;
  return fault.error == -1 ? 1 : size / 2;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Each is called as often as the C library's own; a missing one is looked up once.
#define PASS_ON(name, failure, ...)                       \
  static const auto kNext = next<decltype(&name)>(#name); \
  return fails(#name) ? (failure) : kNext(__VA_ARGS__)

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
  PASS_ON(recv, -1, socket, buffer, shortened("recv", socket, size), flags);
}
ssize_t send(int socket, const void* buffer, std::size_t size, int flags) {
  PASS_ON(send, -1, socket, buffer, shortened("send", socket, size), flags);
}
ssize_t read(int file, void* buffer, std::size_t size) {
  PASS_ON(read, -1, file, buffer, shortened("read", file, size));
}
ssize_t write(int file, const void* buffer, std::size_t size) {
  PASS_ON(write, -1, file, buffer, shortened("write", file, size));
}
int getsockopt(int socket, int level, int name, void* value, socklen_t* size) noexcept {
  PASS_ON(getsockopt, -1, socket, level, name, value, size);
}
int eventfd(unsigned value, int flags) noexcept { PASS_ON(eventfd, -1, value, flags); }
int signalfd(int file, const sigset_t* mask, int flags) noexcept {
  PASS_ON(signalfd, -1, file, mask, flags);
}
ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  PASS_ON(getrandom, -1, buffer, size, flags);
}
int getentropy(void* buffer, std::size_t size) { PASS_ON(getentropy, -1, buffer, size); }

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static const auto kNext = next<decltype(&clock_gettime)>("clock_gettime");
  const int result = kNext(clock, now);
  const bool is_moved = clock == CLOCK_REALTIME && std::strcmp(fault.call, "clock") == 0;
  if (result == 0 && is_moved) now->tv_sec += fault.error;
  return result;
}

int fcntl(int file, int command, ...) {
  static const auto kNext = next<int (*)(int, int, ...)>("fcntl");
  is_in_main = true;
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return kNext(file, command, argument);
}

// dlsym allocates: the C library's own are called by the names that it exports for that.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

// All three count as "malloc".
void* malloc(std::size_t size) { return fails("malloc") ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails("malloc") ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  return fails("malloc") ? nullptr : __libc_realloc(memory, size);
}

}  // extern "C"
