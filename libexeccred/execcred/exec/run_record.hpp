// SPDX-License-Identifier: Apache-2.0
// What a plugin writes about a run, beside its result. One part is a line in the log that
// --log-file names. The other part is the cause of a failure, for `execcred doctor` and `execcred
// sync`, in the pipe whose descriptor they name in EXECCRED_REPORT_FILE.
//
// Both are opened early and written last, also by the deadline's handler. Neither ever contains a
// secret, and neither ever fails a run.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/os/file.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace execcred {

inline constexpr std::string_view kReportVariable = "EXECCRED_REPORT_FILE";
// At most PIPE_BUF, so that a pipe with room takes it at once and whole.
inline constexpr std::size_t kMaxReport = 4096;

class RunRecord {
 public:
  // Only one may exist in a process, because the deadline's handler writes what it prepared.
  explicit RunRecord(std::string_view program) : program_(program) {}
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;
  ~RunRecord();

  // Takes the caller's pipe for the report. Any other descriptor, and a text that is no number, is
  // left alone: there is no report then.
  void take_report(std::string_view descriptor);
  // Fails as open_log_file() does.
  Status open_log(const std::filesystem::path& path);
  // Prepares what the deadline's handler would write. Must be called before the deadline starts,
  // and again when more is known.
  void prepare(Duration limit);

  void set_server(std::string server) { server_ = std::move(server); }
  bool has_log() const { return static_cast<bool>(log_); }
  RunNotes& notes() { return notes_; }

  // `error` is null for a run that gave a credential. The deadline must be stopped before, because
  // its handler writes a record of its own.
  void end(int exit_code, const Error* error);

 private:
  std::string line(int exit_code, std::string_view cause, const Error* error,
                   std::string_view duration, std::size_t longest_text) const;

  std::string program_;
  std::string server_;
  RunNotes notes_;
  FileDescriptor report_;
  FileDescriptor log_;
  std::chrono::sys_seconds began_ =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace execcred
