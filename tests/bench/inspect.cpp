// SPDX-License-Identifier: Apache-2.0
#include "inspect.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "number.hpp"

namespace bench {
namespace {

Command prefixed(std::vector<std::string> argv, const Command& command) {
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  return {.argv = std::move(argv), .env = command.env};
}

std::string between(const std::string& text, std::string_view open, std::string_view close) {
  const auto start = text.find(open);
  if (start == std::string::npos) return {};
  const auto end = text.find(close, start + open.size());
  if (end == std::string::npos) return {};
  return text.substr(start + open.size(), end - start - open.size());
}

// Reads `openat(3</dir>, "name", …) = 4</dir/name>`. If the call succeeded, the path is the one
// that the kernel resolved, otherwise the requested one.
Opened parse_open(const std::string& line) {
  const auto result = std::min(line.rfind(") = "), line.size());
  if (line.find("= -1 ", result) == std::string::npos && result < line.size()) {
    const std::string resolved = between(line.substr(result), "<", ">");
    const bool is_path_only = line.find("O_PATH") < result;
    // A device is shown as `3</dev/null<char 1:3>>`.
    return {resolved.substr(0, resolved.find('<')), is_path_only ? "path only" : ""};
  }
  std::string path = between(line, "\"", "\"");
  const std::string directory = between(line.substr(0, line.find('"')), "<", ">");
  if (!path.starts_with('/') && !directory.empty()) path = directory + "/" + path;
  return {path, between(line.substr(result) + " ", "= -1 ", " ")};
}

// The call in one line of strace's output, without the `[pid 7]` of a program with threads. Empty
// for signals, for the second half of an interrupted call, and for the program's own output.
std::string call_of(const std::string& line) {
  size_t start = 0;
  if (line.starts_with("[pid ")) start = line.find("] ") + 2;
  size_t end = start;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) {
    ++end;
  }
  return end > start && end < line.size() && line[end] == '(' ? line.substr(start) : "";
}

std::optional<long> collected_by_callgrind(const Command& command) {
  // The sum is on stderr. There is no output file, because a program may forbid itself to write.
  const auto outcome =
      run(prefixed({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"}, command),
          Capture::err);
  constexpr std::string_view kSum = "Collected : ";
  const auto sum = outcome.output.find(kSum);
  if (!outcome.succeeded() || sum == std::string::npos) return std::nullopt;
  return leading_number<long>(std::string_view(outcome.output).substr(sum + kSum.size()));
}

}  // namespace

std::optional<long> count_instructions(const Command& command) {
  if (const auto count = collected_by_callgrind(command)) return count;
  // Callgrind may abort on the signals that Go sends to preempt its goroutines.
  Command without_signals = command;
  without_signals.env.emplace_back("GODEBUG=asyncpreemptoff=1");
  return collected_by_callgrind(without_signals);
}

std::optional<SystemCalls> trace_system_calls(const Command& command) {
  const auto outcome = run(prefixed({"strace", "-f", "-y", "-qq"}, command), Capture::err);
  if (!outcome.succeeded()) return std::nullopt;
  SystemCalls calls;
  bool has_started = false;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    const std::string call = call_of(line);
    if (call.empty()) continue;
    if (has_started) {
      ++calls.count;
      if (call.starts_with("open")) calls.opened.push_back(parse_open(call));
    } else {
      has_started = call.starts_with("execve(");
    }
  }
  if (!has_started) return std::nullopt;
  return calls;
}

std::optional<long> stripped_size(const std::string& path) {
  std::string copy = std::filesystem::temp_directory_path() / "execcred-bench.XXXXXX";
  const int fd = mkstemp(copy.data());
  if (fd < 0) return std::nullopt;
  close(fd);
  const char* search_path = std::getenv("PATH");
  const auto outcome =
      run({.argv = {"strip", "-o", copy, path},
           .env = {std::string("PATH=") + (search_path != nullptr ? search_path : "")}},
          Capture::out);
  std::error_code error;
  const auto size = std::filesystem::file_size(copy, error);
  std::filesystem::remove(copy, error);
  if (!outcome.succeeded() || size == 0) return std::nullopt;
  return static_cast<long>(size);
}

}  // namespace bench
