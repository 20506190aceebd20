// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program under test. It makes one call of the C library fail: the Nth call of its
// name, or each call if N is 0.
//
//   LD_PRELOAD=…/libfaults.so FAULT=poll:12:3:/tmp/mark program
//
// makes the third poll fail with error 12, ENOMEM. A process whose call fails adds a line to the
// file at the end of FAULT: its process ID, and "in main" or "before main". main first checks
// that standard input is open. Instead of an error, -1 limits a read or write to one byte, -2 to
// half of its size, and -3 to nothing, which is the end for a read. With the name "clock" it is the
// seconds by which the time of day is moved from the Nth query on; times of files are not moved.
// "clockfile:0:0:/tmp/seconds" reads the seconds from the file at each query.
// "stacks:0:0:/tmp/list" makes nothing fail: it adds to the file, for each allocation in order, a
// line with the process ID and a number for the functions that asked for it.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
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
std::atomic<bool> lists_stacks = false;

[[gnu::constructor]] void read_fault() {
  const char* const text = std::getenv("FAULT");
  if (text == nullptr) return;
  if (std::sscanf(text, "%15[^:]:%ld:%d:%399s", fault.call, &fault.error, &fault.number,
                  fault.mark) != 4) {
    _exit(99);
  }
  lists_stacks = std::strcmp(fault.call, "stacks") == 0;
}

// Uses system calls that do not go through the functions below, because those may be made to fail.
void add_line(const char* line, int size) {
  const int saved = errno;
  const int mark = open(fault.mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (syscall(SYS_write, mark, line, size) != size) _exit(99);
  close(mark);
  errno = saved;
}

void leave_mark() {
  char line[40] = {};
  add_line(line, std::snprintf(line, sizeof line, "%d %s main\n", static_cast<int>(getpid()),
                               is_in_main ? "in" : "before"));
}

// Adds the line of an allocation. backtrace() allocates memory itself when it is first called.
void list_stack() {
  static thread_local bool is_listing = false;
  if (is_listing) return;
  is_listing = true;
  void* callers[64] = {};
  const int count = backtrace(callers, 64);
  std::size_t sum = 14695981039346656037U;  // FNV-1a
  for (int i = 0; i < count; ++i) {
    sum = (sum ^ reinterpret_cast<std::size_t>(callers[i])) * 1099511628211U;
  }
  char line[40] = {};
  add_line(line, std::snprintf(line, sizeof line, "%d %zx\n", static_cast<int>(getpid()), sum));
  is_listing = false;
}

bool strikes(const char* call) {
  if (std::strcmp(call, fault.call) != 0) return false;
  const int seen = ++fault.seen;
  if (seen != fault.number && fault.number != 0) return false;
  if (seen == fault.number || seen == 1) leave_mark();
  return true;
}

// 0 while there is no number in the file.
long seconds_in_file() {
  const int saved = errno;
  char text[32] = {};
  const int file = open(fault.mark, O_RDONLY | O_CLOEXEC);
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  close(file);
  errno = saved;
  return size > 0 ? std::strtol(text, nullptr, 10) : 0;
}

// The seconds by which the time of day is moved now.
long clock_offset() {
  if (std::strcmp(fault.call, "clockfile") == 0) return seconds_in_file();
  if (std::strcmp(fault.call, "clock") != 0) return 0;
  const int seen = ++fault.seen;
  if (seen < fault.number) return 0;
  if (seen == fault.number || seen == 1) leave_mark();
  return fault.error;
}

bool fails(const char* call) {
  if (fault.error < 0 || !strikes(call)) return false;
  errno = static_cast<int>(fault.error);
  return true;
}

bool allocation_fails() {
  if (lists_stacks) list_stack();
  return fails("malloc");
}

// An eventfd is read and written as a whole, or not at all.
bool can_be_short(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

std::size_t shortened(const char* call, int descriptor, std::size_t size) {
  if (fault.error >= 0 || size < 2 || !can_be_short(descriptor) || !strikes(call)) return size;
  return fault.error == -1 ? 1 : fault.error == -2 ? size / 2 : 0;
}

constexpr int kMostParts = 1024;  // IOV_MAX

// The parts of a call, shortened to their first bytes if the fault says so.
class Parts {
 public:
  Parts(const char* call, int descriptor, const iovec* parts, std::size_t count) : parts_(parts) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += parts[i].iov_len;
    std::size_t left = shortened(call, descriptor, size);
    if (left == size || count > kMostParts) {
      count_ = count;
      return;
    }
    for (; count_ < count && (left > 0 || count_ == 0); ++count_) {
      own_[count_] = parts[count_];
      own_[count_].iov_len = std::min(left, parts[count_].iov_len);
      left -= own_[count_].iov_len;
    }
    parts_ = own_;
  }
  const iovec* data() const { return parts_; }
  std::size_t size() const { return count_; }

 private:
  const iovec* parts_;
  std::size_t count_ = 0;
  iovec own_[kMostParts];
};

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Passes a call on to the C library's function of this name, which is looked up once.
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
ssize_t readv(int file, const iovec* parts, int count) {
  const Parts asked("readv", file, parts, static_cast<std::size_t>(count));
  PASS_ON(readv, -1, file, asked.data(), static_cast<int>(asked.size()));
}
ssize_t writev(int file, const iovec* parts, int count) {
  const Parts asked("writev", file, parts, static_cast<std::size_t>(count));
  PASS_ON(writev, -1, file, asked.data(), static_cast<int>(asked.size()));
}
ssize_t recvmsg(int socket, msghdr* message, int flags) {
  const Parts asked("recvmsg", socket, message->msg_iov, message->msg_iovlen);
  static const auto kNext = next<decltype(&recvmsg)>("recvmsg");
  if (fails("recvmsg")) return -1;
  msghdr own = *message;
  own.msg_iov = const_cast<iovec*>(asked.data());
  own.msg_iovlen = asked.size();
  const ssize_t result = kNext(socket, &own, flags);
  own.msg_iov = message->msg_iov;
  own.msg_iovlen = message->msg_iovlen;
  *message = own;
  return result;
}
int getsockopt(int socket, int level, int name, void* value, socklen_t* size) noexcept {
  PASS_ON(getsockopt, -1, socket, level, name, value, size);
}
int fsync(int file) { PASS_ON(fsync, -1, file); }
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
  const bool is_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_of_day) now->tv_sec += clock_offset();
  return result;
}

int gettimeofday(timeval* __restrict now, void* __restrict zone) noexcept {
  static const auto kNext = next<decltype(&gettimeofday)>("gettimeofday");
  const int result = kNext(now, zone);
  if (result == 0) now->tv_sec += clock_offset();
  return result;
}

std::time_t time(std::time_t* now) noexcept {
  static const auto kNext = next<decltype(&time)>("time");
  const std::time_t moved = kNext(nullptr) + clock_offset();
  if (now != nullptr) *now = moved;
  return moved;
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

// dlsym allocates memory, so these functions of the C library are called by their exported names.
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)

// All three count as "malloc".
void* malloc(std::size_t size) { return allocation_fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return allocation_fails() ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  return allocation_fails() ? nullptr : __libc_realloc(memory, size);
}

}  // extern "C"
