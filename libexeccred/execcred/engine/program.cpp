// SPDX-License-Identifier: Apache-2.0
#include <execcred/engine/program.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/kube/command_hint.hpp>
#include <execcred/os/process.hpp>
#include <execcred/os/program_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace execcred::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInstall = "install the plugin there, or correct the mapping's command";

ProgramFinding missing(std::string message, std::string_view hint) {
  return {.verdict = Verdict::fail,
          .cause = cause::kProgramMissing,
          .message = std::move(message),
          .hint = std::string(hint)};
}

ProgramFinding look_at_file(const std::string& path) {
  if (const std::optional<ProgramFault> fault = program_fault(path)) {
    return {.verdict = Verdict::fail,
            .cause = fault->cause,
            .message = fault->message,
            .hint = std::string(fault->hint.empty() ? kInstall : fault->hint),
            .is_foreign = fault->is_foreign};
  }
  ProgramFinding finding;
  finding.message = in_quotes(path);
  if (const std::string place = weak_point(path); !place.empty()) {
    finding.verdict = Verdict::warn;
    finding.message = in_quotes(path) + (place == path ? " is" : ": " + in_quotes(place) + " is") +
                      " writable by others, who can change what runs as this user";
    finding.hint = "remove the write permission of group and others";
  }
  return finding;
}

bool can_run(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode) &&
         faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

// The program of this name in PATH. As in Go, the search ends at the first match, and fails if that
// is below the current directory (exec.ErrDot): the directory may be someone else's. On success
// only the path is set.
ProgramFinding find_program(const std::string& name, std::string_view path) {
  const std::vector<std::string_view> folders =
      path.empty() ? std::vector<std::string_view>() : split(path, ':');
  for (const std::string_view folder : folders) {
    std::string candidate = (fs::path(folder.empty() ? "." : folder) / name).native();
    if (!can_run(candidate)) continue;
    if (candidate.starts_with('/')) return {.path = std::move(candidate)};
    return missing(in_quotes(name) + " is found only through " + in_quotes(folder) +
                       " in PATH, relative to the current directory, where clients start nothing",
                   "write the program's absolute path as the command");
  }
  return missing(in_quotes(name) + " is in no folder of PATH",
                 "install it in one of them, or write its absolute path as the command");
}

}  // namespace

ProgramFinding look_at_program(const std::string& command, const Environment& environment) {
  ProgramFinding finding = {.path = command};
  if (command.find('/') == std::string::npos) {
    finding = find_program(command, environment.get("PATH").value_or(""));
  }
  if (finding.verdict != Verdict::fail) {
    std::string path = std::move(finding.path);
    finding = look_at_file(path);
    finding.path = std::move(path);
  }
  if (finding.cause == cause::kProgramMissing) {
    finding.hint = missing_command_hint(command, finding.hint);
  }
  return finding;
}

std::optional<Programs::Identity> Programs::identity_of(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{static_cast<std::int64_t>(status.st_dev),
                  static_cast<std::int64_t>(status.st_ino),
                  status.st_size,
                  status.st_mode,
                  status.st_mtim.tv_sec,
                  status.st_mtim.tv_nsec,
                  status.st_ctim.tv_sec,
                  status.st_ctim.tv_nsec};
}

ProgramFinding Programs::look_at(const std::string& command) {
  ProgramFinding finding = look_at_program(command, environment_);
  if (finding.verdict == Verdict::fail || !is_plugin_of_ours(command)) return finding;
  const std::optional<Identity> identity = identity_of(finding.path);
  if (!identity) return finding;
  std::optional<std::string> version = kept_version(finding.path, *identity);
  if (!version) {
    version = ask_version(finding.path);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (version) versions_.insert_or_assign(finding.path, Version{*identity, *version});
  }
  if (version) {
    finding.message += ", version " + *version;
    return finding;
  }
  // The reason is found when the plugin runs.
  finding.verdict = Verdict::warn;
  finding.message += "; it does not answer --version as execcred's plugins do";
  finding.hint = "is it a plugin of execcred's, whose name it has?";
  return finding;
}

std::optional<std::string> Programs::kept_version(const std::string& path,
                                                  const Identity& identity) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = versions_.find(path);
  if (found == versions_.end() || found->second.identity != identity) return std::nullopt;
  return found->second.text;
}

std::optional<std::string> Programs::ask_version(const std::string& path) const {
  const Result<Finished> finished = run_command({.path = path,
                                                 .arguments = {"--version"},
                                                 .environment = environment_.entries(),
                                                 .limit = limit_,
                                                 .max_output = 4096,
                                                 .stop = stop_});
  if (!finished || finished->exit_code != 0 || finished->signal != 0) return std::nullopt;
  const std::string_view said = trim(finished->output.reveal());
  const std::string start = std::string(program_name(path)) + " ";
  if (!said.starts_with(start) || said.find('\n') != std::string_view::npos) return std::nullopt;
  return printable(said.substr(start.size()));
}

}  // namespace execcred::engine
