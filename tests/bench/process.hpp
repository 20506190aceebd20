// SPDX-License-Identifier: Apache-2.0
//
// Runs one program to its end and measures its cost.
//
// The program runs as with a client: stdin is /dev/null, and stdout is a pipe that is read to its
// end. A client waits for the program's last write and the reader's wake-up too.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace bench {

// argv[0] contains a slash or is looked up in PATH. env is the whole environment.
struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> env;
};

struct Outcome {
  int wait_status = 0;
  std::string output;
  double wall_us = 0;  // from the spawn to the end of output and the program's exit
  double cpu_us = 0;   // user + system
  long page_faults = 0;

  bool succeeded() const { return wait_status == 0; }
};

enum class Capture {
  out,         // stdout; stderr is dropped
  out_loudly,  // stdout; stderr is shown
  err,         // stderr; stdout is dropped
};

Outcome run(const Command& command, Capture capture);

// The steps of run, for several programs at a time.
struct Running {
  pid_t pid = -1;
  int output = -1;  // the pipe's end, which read_to_end closes
};
struct Exited {
  pid_t pid = -1;
  int wait_status = 0;
};
Running start(const Command& command, Capture capture);
std::string read_to_end(int output);
Exited wait_for_any();

// Runs the program until it exits, and stops it there with all of its memory. let_exit must follow.
// Empty if the program ended unnoticed, which can happen to a program with threads.
std::optional<pid_t> hold_at_exit(const Command& command);
void let_exit(pid_t pid);

// A field of /proc/PID/FILE, in KB.
std::optional<long> memory_field_kb(pid_t pid, const std::string& file, const std::string& field);

// The largest resident set of the program's own process, in KB.
std::optional<long> peak_rss_kb(const Command& command);

// Drops the file from the page cache, so that the next run reads it from the disk, as on a node
// that has just started. A program that cp has just written runs a tenth faster than the same bytes
// written by the linker or read from the disk, because the cache has it in larger folios. This has
// no effect on a file system without a disk.
void drop_from_page_cache(const std::string& path);

std::string describe_exit(int wait_status);

// Prints one error line and exits with status 2.
[[noreturn]] void fail(const std::string& message);

}  // namespace bench
