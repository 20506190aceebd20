// SPDX-License-Identifier: Apache-2.0
#include <execcred/exec/run_record.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/version.hpp>
#include <execcred/json/json.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/log_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <ctime>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kLongestText = 1000;
constexpr std::size_t kShortestText = 40;
constexpr std::size_t kMostContext = 4;

// The text without control characters, cut between two characters.
std::string shown(std::string_view text, std::size_t longest) {
  std::string safe = printable(text.substr(0, longest));
  std::size_t size = 0;
  while (size < safe.size()) {
    const std::size_t next = decode_utf8(std::string_view(safe).substr(size)).length;
    if (next == 0 || size + next > longest) break;
    size += next;
  }
  safe.resize(size);
  return safe;
}

// The line that `write` makes, with its texts cut so far that it fits.
template <class Write>
std::string fitted(std::size_t size, const Write& write) {
  std::string line;
  for (std::size_t longest = kLongestText; longest >= kShortestText; longest /= 2) {
    line = write(longest);
    if (line.size() <= size) break;
  }
  return line;
}

void add(json::Value& object, std::string_view name, std::string_view text, std::size_t longest) {
  if (!text.empty()) object.add(std::string(name), json::Value(shown(text, longest)));
}

void add_number(json::Value& object, std::string_view name, std::string_view digits) {
  object.add(std::string(name), json::Value(json::Number{std::string(digits)}));
}

void add_error(json::Value& object, const Error& error, std::size_t longest) {
  json::Array context;
  for (const std::string& doing : error.context) {
    if (context.size() < kMostContext) context.push_back(json::Value(shown(doing, longest)));
  }
  if (!context.empty()) object.add("context", json::Value(std::move(context)));
  add(object, "hint", error.hint, longest);
}

// A failed write is ignored: a full disk must not fail a run.
void write_once(int descriptor, std::string_view text) {
  const ssize_t written = write(descriptor, text.data(), text.size());
  static_cast<void>(written);
}

// Read by the signal handler, so: static storage, no locks, and no text that changes after it is
// published. Each text ends where the handler inserts something.
struct Prepared {
  std::string before_cause;
  std::string after_cause;
  std::string after_phase;
  std::string report_before_cause;
  std::string report_after_cause;
  int log = -1;
  int report = -1;
  timespec start = {};
};
std::array<Prepared, 2> prepared;
std::atomic<const Prepared*> current = nullptr;
static_assert(std::atomic<const Prepared*>::is_always_lock_free);

class HandlerLine {
 public:
  void append(std::string_view text) {
    const std::size_t size = std::min(text.size(), buffer_.size() - size_);
    std::memcpy(buffer_.data() + size_, text.data(), size);
    size_ += size;
  }
  void append(std::int64_t number) {
    std::array<char, 24> digits = {};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    append({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  std::array<char, kMaxLogLine> buffer_;
  std::size_t size_ = 0;
};

std::int64_t milliseconds_since(const timespec& start) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1'000'000;
}

// Async-signal-safe. A phase is text of the program itself, which needs no escape in JSON.
void on_timeout(const char* phase) {
  const Prepared* const record = current.load(std::memory_order_acquire);
  if (record == nullptr) return;
  const std::string_view cause =
      deadline::is_waiting_for_source() ? cause::kSourceUnavailable : cause::kProgramTimeout;
  if (record->log >= 0) {
    HandlerLine line;
    line.append(record->before_cause);
    line.append(cause);
    line.append(record->after_cause);
    line.append(phase == nullptr ? "running" : phase);
    line.append(record->after_phase);
    line.append(milliseconds_since(record->start));
    line.append("}\n");
    write_once(record->log, line.text());
  }
  if (record->report < 0) return;
  HandlerLine report;
  report.append(record->report_before_cause);
  report.append(cause);
  report.append(record->report_after_cause);
  deadline::write_if_ready(record->report, report.text());
}

// Whether the failure is of a file or a resource of this machine, so that a further run costs no
// provider anything. A refusal by a server has another kind.
bool is_of_this_machine(const Error& error) {
  const bool is_of_file =
      error.kind == Error::Kind::configuration &&
      (error.cause == cause::kSourceMissing || error.cause == cause::kSourceForbidden);
  return error.is_local || is_of_file;
}

std::string json_string(std::string_view text) {
  std::string out;
  json::write_string(text, out);
  return out;
}

}  // namespace

RunRecord::~RunRecord() { current.store(nullptr, std::memory_order_release); }

// The variable may be of anywhere, so the number may be that of a standard stream or of a copy of
// one, whose content the report would spoil.
void RunRecord::take_report(std::string_view descriptor) {
  int number = -1;
  const char* const end = descriptor.data() + descriptor.size();
  const auto [stop, problem] = std::from_chars(descriptor.data(), end, number);
  if (problem != std::errc() || stop != end || number <= STDERR_FILENO) return;
  struct stat status = {};
  const int flags = fcntl(number, F_GETFL);
  if (flags == -1 || (flags & O_ACCMODE) != O_WRONLY || fstat(number, &status) != 0) return;
  if (!S_ISFIFO(status.st_mode)) return;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other = {};
    const bool is_known = fstat(standard, &other) == 0;
    if (is_known && other.st_dev == status.st_dev && other.st_ino == status.st_ino) return;
  }
  // The programs that this one runs do not get it.
  if (fcntl(number, F_SETFD, FD_CLOEXEC) == 0) report_.reset(number);
}

Status RunRecord::open_log(const std::filesystem::path& path) {
  log_ = TRY(open_log_file(path));
  return {};
}

void RunRecord::prepare(Duration limit) {
  if (!log_ && !report_) return;
  const std::string message = "timed out after " + format_duration(limit);
  const Prepared* const published = current.load(std::memory_order_relaxed);
  Prepared& next = published == prepared.data() ? prepared[1] : prepared[0];
  // The handler replaces CAUSE, PHASE and the duration.
  const Error error{.kind = Error::Kind::unavailable,
                    .message = message,
                    .context = {"PHASE"},
                    .hint = std::string(deadline::kTimeoutHint)};
  const std::string text = line(exit_code(error.kind), "CAUSE", &error, "0", kLongestText / 2);
  // Quotes in texts from outside are escaped, so no such text looks like these members.
  constexpr std::string_view kCauseMember = "\"cause\":\"";
  constexpr std::string_view kContextMember = "\"context\":[\"";
  constexpr std::string_view kDurationMember = "\"duration_ms\":";
  const std::size_t cause_at = text.find(kCauseMember) + kCauseMember.size();
  const std::size_t phase_at = text.find(kContextMember) + kContextMember.size();
  const std::size_t duration_at = text.find(kDurationMember) + kDurationMember.size();
  next.before_cause = text.substr(0, cause_at);
  next.after_cause = text.substr(cause_at + 5, phase_at - cause_at - 5);
  next.after_phase = text.substr(phase_at + 5, duration_at - phase_at - 5);
  next.report_before_cause =
      "{\"exit_code\":" + std::to_string(exit_code(error.kind)) + ",\"cause\":\"";
  next.report_after_cause =
      "\",\"error\":" + json_string(message) + ",\"hint\":" + json_string(error.hint) + "}\n";
  next.log = log_.get();
  next.report = report_.get();
  clock_gettime(CLOCK_MONOTONIC, &next.start);
  if (published != nullptr) next.start = published->start;
  current.store(&next, std::memory_order_release);
  deadline::on_timeout(on_timeout);
}

std::string RunRecord::line(int exit_code, std::string_view cause, const Error* error,
                            std::string_view duration, std::size_t longest_text) const {
  json::Value object((json::Object()));
  object.add("time", json::Value(format_rfc3339(began_)));
  object.add("plugin", json::Value(program_));
  object.add("version", json::Value(std::string(kVersion)));
  add(object, "server", server_, longest_text);
  add(object, "identity", notes_.identity, longest_text);
  add_number(object, "exit_code", std::to_string(exit_code));
  if (error != nullptr) {
    object.add("cause", json::Value(std::string(cause)));
    object.add("error", json::Value(shown(error->message, longest_text)));
    add_error(object, *error, longest_text);
  }
  if (notes_.is_cached) object.add("cached", json::Value(*notes_.is_cached));
  add_number(object, "duration_ms", duration);
  return json::to_text(object) + "\n";
}

void RunRecord::end(int exit_code, const Error* error) {
  if (!log_ && !report_) return;
  if (report_ && error != nullptr) {
    const std::string sent = fitted(kMaxReport, [&](std::size_t longest) {
      json::Value report((json::Object()));
      add_number(report, "exit_code", std::to_string(exit_code));
      report.add("cause", json::Value(std::string(cause_of(*error))));
      report.add("error", json::Value(shown(error->message, longest)));
      add_error(report, *error, longest);
      if (is_of_this_machine(*error)) report.add("local", json::Value(true));
      if (error->is_by_rule) report.add("rule", json::Value(true));
      return json::to_text(report) + "\n";
    });
    deadline::write_if_ready(report_.get(), sent);
  }
  if (!log_) return;
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start_);
  write_once(log_.get(), fitted(kMaxLogLine, [&](std::size_t longest) {
               return line(exit_code, error == nullptr ? std::string_view() : cause_of(*error),
                           error, std::to_string(duration.count()), longest);
             }));
}

}  // namespace execcred
