// SPDX-License-Identifier: Apache-2.0
#include "plugin_output.hpp"

#include "command.hpp"
#include "error_output.hpp"

#include <execcred/base/cut.hpp>
#include <execcred/base/text.hpp>

namespace execcred::cli {
namespace {

// The number of bytes of standard error that the run of a plugin passes on (process.hpp).
constexpr std::size_t kMost = 64 * 1024;

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
  write_to_slow_reader(
      std::string(kProgram) + ": note: of the plugin's messages, 64 KiB are shown\n", patience_);
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
  if (was_cut_) return;
  std::string safe = safe_line(line);
  was_cut_ = safe.size() > room_;
  if (was_cut_ && room_ > 0) safe = std::string(first_characters(safe, room_ - 1)) + "\n";
  if (room_ == 0) return;
  room_ -= safe.size();
  if (write_to_slow_reader(safe, patience_)) return;
  was_cut_ = true;
  patience_ = {};
}

}  // namespace execcred::cli
