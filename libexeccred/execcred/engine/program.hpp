// SPDX-License-Identifier: Apache-2.0
// The program that gives the credential: whether it is there, can be started here, and cannot be
// changed by others.
#pragma once

#include <execcred/engine/report.hpp>

#include <execcred/base/environment.hpp>
#include <execcred/base/error.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::engine {

struct ProgramFinding {
  Verdict verdict = Verdict::ok;
  std::string_view cause = {};
  std::string message = {};
  std::string hint = {};
  std::string path = {};  // absolute; empty if there is no such program
  // The file is not a program for this machine. Starting it fails, unless the kernel has an
  // interpreter for it.
  bool is_foreign = false;
};

// Examines the program that a client would start for this command, without running it. A bare name
// is looked up in PATH by Go's rules (exec.LookPath).
ProgramFinding look_at_program(const std::string& command, const Environment& environment);

// Examines programs, and asks execcred's plugins for their version. Only a version is kept, as long
// as the file is the same: any finding may change while a process lives. Thread-safe. `environment`
// must outlive this object.
class Programs {
 public:
  Programs(const Environment& environment, Duration limit, int stop)
      : environment_(environment), limit_(limit), stop_(stop) {}

  ProgramFinding look_at(const std::string& command);

 private:
  // Of a file: device, inode, size, mode, and the times of its content and of its inode.
  using Identity = std::array<std::int64_t, 8>;
  struct Version {
    Identity identity;
    std::string text;
  };

  static std::optional<Identity> identity_of(const std::string& path);
  std::optional<std::string> kept_version(const std::string& path, const Identity& identity);
  std::optional<std::string> ask_version(const std::string& path) const;

  const Environment& environment_;
  Duration limit_;
  int stop_;
  std::mutex mutex_;
  std::map<std::string, Version, std::less<>> versions_;  // by path
};

}  // namespace execcred::engine
