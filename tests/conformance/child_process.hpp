// SPDX-License-Identifier: Apache-2.0
// Runs a program as clients of plugins do, and as they should not: with any descriptors, limits,
// signals and environment. Every wait is limited, and a child never outlives its owner.
#pragma once

#include "send_signal.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

using std::chrono::milliseconds;

inline constexpr milliseconds kPatience(60'000);

struct Command {
  std::vector<std::string> arguments;  // the first is the program's path
  std::vector<std::string> environment = {};
  // Written to the program's standard input, which then ends; nullopt is /dev/null.
  std::optional<std::string> input = std::nullopt;
  // Called in the child just before exec. It may close or replace descriptors.
  std::function<void()> before_exec = {};
  milliseconds patience = kPatience;
};

struct Outcome {
  int exit_code = -1;  // -1: did not exit by itself
  int signal = 0;      // that ended it
  bool was_hanging = false;
  std::string output;
  std::string error_output;
  milliseconds elapsed{0};
};

// Upper bounds of Outcome::elapsed. They measure nothing: even a loaded machine stays far below
// them. A run that exceeds them has waited where it should not.
inline constexpr milliseconds kNoWait{7000};            // below a plugin's default --timeout of 8 s
inline constexpr milliseconds kConsumersLimit{10'000};  // after which controllers end a plugin
inline constexpr milliseconds kGrace{6000};             // for the exit after a --timeout
inline constexpr milliseconds kEventually{60'000};

// For a failed check: "exit 2", "signal 9" or "hanging", with the output.
std::string describe(const Outcome& outcome);

// A pipe. A program inherits its ends only if they are passed to it.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return read_end_; }
  int write_end() const { return write_end_; }
  void close_read_end();
  void close_write_end();
  // Writes until the pipe is full.
  void fill();
  // How many bytes wait to be read.
  int pending() const;

 private:
  int read_end_ = -1;
  int write_end_ = -1;
};

class Child {
 public:
  explicit Child(const Command& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // Reaches no other process, even after this one has ended.
  void send(int signal) const;
  // Collects its output until it ends, or kills it after the command's patience.
  Outcome wait();

 private:
  void start();
  void exchange(milliseconds wait);
  bool has_ended();

  Command command_;
  Pipe input_;
  Pipe output_;
  Pipe error_output_;
  std::size_t written_ = 0;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int status_ = 0;
  bool is_reaped_ = false;
  std::chrono::steady_clock::time_point started_;
  Outcome outcome_;
};

Outcome run(const Command& command);

// Checks again and again, with pauses, until it is true or the patience ends.
bool wait_until(const std::function<bool()>& condition, milliseconds patience = kPatience);

// In a child before exec: `descriptor` becomes `source`.
void replace_descriptor(int descriptor, int source);
// In a child before exec: `descriptor` becomes the file, opened with `flags`.
void open_descriptor(int descriptor, const char* path, int flags);

// Whether the process exists and is not a zombie.
bool is_running(pid_t pid);
// A field of /proc/PID/status, without its name; empty when there is none.
std::string process_status(pid_t pid, std::string_view field);

}  // namespace blackbox
