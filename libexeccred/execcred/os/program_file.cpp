// SPDX-License-Identifier: Apache-2.0
#include <execcred/os/program_file.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/os/file.hpp>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kHead = 64 * 1024;

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_NONE;  // not judged
#endif

std::string machine_name(Elf64_Half machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "arm64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit Arm";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "POWER";
    case EM_S390:
      return "IBM Z";
    default:
      return "machine " + std::to_string(machine);
  }
}

ProgramFault fault(std::string_view cause, std::string message, std::string_view hint = {}) {
  return {.cause = cause, .message = std::move(message), .hint = hint};
}

ProgramFault not_executable(const std::string& path, const std::string& why) {
  return fault(cause::kProgramNotExecutable, in_quotes(path) + " " + why);
}

// The cause for an interpreter or a loader that cannot be used.
std::string_view cause_of(int error_number) {
  return error_number == EACCES ? cause::kProgramNotExecutable : cause::kProgramMissing;
}

// The beginning of the file. nullopt if it cannot be read: a program may be executable without
// being readable.
std::optional<std::string> head_of(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string head(kHead, '\0');
  std::size_t size = 0;
  while (size < head.size()) {
    const ssize_t count = read(file.get(), head.data() + size, head.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  head.resize(size);
  return head;
}

template <class T>
std::optional<T> object_at(std::string_view bytes, std::size_t offset) {
  T object;
  if (offset > bytes.size() || bytes.size() - offset < sizeof object) return std::nullopt;
  std::memcpy(&object, bytes.data() + offset, sizeof object);
  return object;
}

// The dynamic loader that the program names; empty if it needs none, or this is unknown.
std::string loader_of(std::string_view head, const Elf64_Ehdr& header) {
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto entry =
        object_at<Elf64_Phdr>(head, header.e_phoff + i * std::size_t{header.e_phentsize});
    if (!entry) return {};
    if (entry->p_type != PT_INTERP) continue;
    if (entry->p_offset > head.size() || head.size() - entry->p_offset < entry->p_filesz) return {};
    const std::string_view text = head.substr(entry->p_offset, entry->p_filesz);
    return std::string(text.substr(0, text.find('\0')));
  }
  return {};
}

std::optional<ProgramFault> look_at_elf(const std::string& path, std::string_view head) {
  const auto header = object_at<Elf64_Ehdr>(head, 0);
  if (!header) return not_executable(path, "is cut off");
  const bool is_native = header->e_ident[EI_CLASS] == ELFCLASS64 &&
                         header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == kMachine;
  if (!is_native) {
    // A 32-bit program of this family may run; the kernel decides that when it is started.
    ProgramFault found = fault(cause::kProgramWrongArchitecture,
                               in_quotes(path) + " is for " + machine_name(header->e_machine) +
                                   ", and this is " + machine_name(kMachine),
                               "install the build for this machine");
    found.is_foreign = true;
    return found;
  }
  const std::string loader = loader_of(head, *header);
  if (!loader.empty() && access(loader.c_str(), X_OK) != 0) {
    return fault(cause_of(errno),
                 in_quotes(path) + " needs " + in_quotes(loader) + ": " + system_message(errno),
                 "use a static build, or an image that has this dynamic loader");
  }
  return std::nullopt;
}

// The kernel skips spaces and tabs. A carriage return belongs to the interpreter's name.
std::optional<ProgramFault> look_at_script(const std::string& path, std::string_view head) {
  constexpr std::string_view kBlanks = " \t";
  std::string_view line = head.substr(2, std::min<std::size_t>(head.find('\n'), 256) - 2);
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string interpreter(line.substr(0, line.find_first_of(kBlanks)));
  if (interpreter.empty()) return not_executable(path, "names no interpreter in its first line");
  if (access(interpreter.c_str(), X_OK) == 0) return std::nullopt;
  return fault(cause_of(errno),
               in_quotes(path) + " needs the interpreter " + in_quotes(interpreter) + ": " +
                   system_message(errno),
               interpreter.ends_with('\r')
                   ? "the script has the line ends of Windows: replace CR LF by LF"
                   : "install it, or use a program that needs none");
}

// Whether the file begins like a program of another operating system.
bool is_of_another_system(std::string_view head) {
  constexpr std::array<std::string_view, 5> kMarks = {"MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe",
                                                      "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [head](std::string_view mark) { return head.starts_with(mark); });
}

std::optional<ProgramFault> look_at_content(const std::string& path) {
  const std::optional<std::string> head = head_of(path);
  if (!head) return std::nullopt;
  if (head->starts_with("\177ELF")) return look_at_elf(path, *head);
  if (head->starts_with("#!")) return look_at_script(path, *head);
  ProgramFault found =
      is_of_another_system(*head)
          ? fault(cause::kProgramWrongArchitecture,
                  in_quotes(path) + " is a program of another operating system",
                  "install the build for this machine")
          : not_executable(
                path, head->empty() ? "is empty" : "is neither a program nor a script with '#!'");
  found.is_foreign = true;
  return found;
}

bool others_may_write(const struct stat& status) {
  const bool is_shared_directory =
      S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && status.st_uid == 0;
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_shared_directory;
}

// The first of the path and the directories above it that others may write; empty if there is none.
std::string weak_point_above(std::filesystem::path place) {
  for (;; place = place.parent_path()) {
    struct stat status = {};
    if (stat(place.c_str(), &status) == 0 && others_may_write(status)) return place.native();
    if (!place.has_relative_path()) return {};
  }
}

}  // namespace

std::string weak_point(const std::filesystem::path& file) {
  std::string weak = weak_point_above(file);
  if (!weak.empty()) return weak;
  std::error_code problem;
  const std::filesystem::path real = std::filesystem::canonical(file, problem);
  return problem || real == file ? std::string() : weak_point_above(real);
}

std::string_view program_name(std::string_view command) {
  return command.substr(command.rfind('/') + 1);
}

bool is_plugin_of_ours(std::string_view command) {
  return program_name(command).starts_with("execcred-");
}

std::optional<ProgramFault> program_fault(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    const std::string message = in_quotes(path) + ": " + system_message(errno);
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
      return fault(cause::kProgramMissing, message);
    }
    return fault(cause::kProgramNotExecutable, message, "this user must be able to reach it");
  }
  if (S_ISDIR(status.st_mode)) return not_executable(path, "is a directory");
  if (!S_ISREG(status.st_mode)) return not_executable(path, "is not a regular file");
  if (access(path.c_str(), X_OK) != 0) {
    return fault(cause::kProgramNotExecutable,
                 in_quotes(path) + " cannot be started: " + system_message(errno),
                 "its mode must allow this user to execute it, and its file system too");
  }
  return look_at_content(path);
}

}  // namespace execcred
