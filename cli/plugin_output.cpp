// SPDX-License-Identifier: Apache-2.0
#include "plugin_output.hpp"

#include "command.hpp"

#include <execcred/base/text.hpp>
#include <execcred/os/deadline.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace execcred::cli {
namespace {

// The number of bytes of standard error that the run of a plugin passes on (process.hpp).
constexpr std::size_t kMost = 64 * 1024;
// A pipe that is writable by poll() takes so many bytes without blocking (PIPE_BUF).
constexpr std::size_t kAtOnce = 4096;
constexpr int kPatienceMs = 1000;

std::string safe_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string safe;
  for (const std::string_view part : split(line, '\t')) {
    if (part.data() != line.data()) safe += '\t';
    safe += printable(part);
  }
  return safe + "\n";
}

}  // namespace

void PluginOutput::take(std::string_view text) {
  taken_ += text.size();
  unfinished_.append(text);
  std::size_t start = 0;
  for (std::size_t end = unfinished_.find('\n'); end != std::string::npos;
       end = unfinished_.find('\n', start)) {
    take_line(std::string_view(unfinished_).substr(start, end - start));
    start = end + 1;
  }
  unfinished_.erase(0, start);
}

void PluginOutput::end(bool has_error_told) {
  if (!unfinished_.empty()) take_line(unfinished_);
  unfinished_.clear();
  if (!has_error_told) write_held();
  held_.clear();
  const bool is_whole = taken_ < kMost && !was_cut_;
  taken_ = 0;
  was_cut_ = false;
  if (is_whole) return;
  deadline::write_to_stderr(std::string(kProgram) +
                            ": note: of the plugin's messages, 64 KiB are shown\n");
}

void PluginOutput::take_line(std::string_view line) {
  const bool is_error =
      line.starts_with("execcred-") && line.find(": error: ") != std::string_view::npos;
  const bool is_more =
      !held_.empty() && (line.starts_with("  while ") || line.starts_with("  hint: "));
  if (!is_more) write_held();
  if (is_error || is_more) {
    held_.emplace_back(line);
  } else {
    write_line(line);
  }
}

void PluginOutput::write_held() {
  for (const std::string& line : held_) write_line(line);
  held_.clear();
}

void PluginOutput::write_line(std::string_view line) {
  const std::string safe = safe_line(line);
  was_cut_ = was_cut_ || safe.size() > room_;
  if (was_cut_) return;
  room_ -= safe.size();
  write(safe);
}

void PluginOutput::write(std::string_view text) {
  while (!text.empty()) {
    pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const int polled = poll(&ready, 1, kPatienceMs);
    if (polled < 0 && errno == EINTR) continue;
    const bool is_ready = polled == 1 && (ready.revents & POLLOUT) != 0;
    const ssize_t count =
        is_ready ? ::write(STDERR_FILENO, text.data(), std::min(text.size(), kAtOnce)) : -1;
    if (count <= 0) {
      was_cut_ = true;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace execcred::cli
