// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles in a folder, programs that give credentials, and execcred sync on them.
#pragma once

#include "child_process.hpp"
#include "sandbox.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace blackbox {

class Fleet {
 public:
  // A ClusterProfile of each name in the namespace fleet, with the provider "p", whose runs are
  // counted. Other providers are "failing", "unavailable", "ended", and "real", which is
  // execcred-token-file, for https://a.example:6443 only.
  explicit Fleet(const std::vector<std::string>& names);

  const Sandbox& sandbox() const { return sandbox_; }
  // The folder of --to-dir, and a cluster's.
  std::filesystem::path root() const { return sandbox_.path() / "out"; }
  std::filesystem::path folder(const std::string& name) const { return root() / "fleet" / name; }
  std::string token(const std::string& name) const;

  void write_profile(const std::string& name, const std::vector<std::string>& providers) const;
  void remove_profile(const std::string& name) const;
  // Sets the lifetime of the credentials of "p" in seconds. The default is an hour.
  void set_lifetime(int seconds) const;
  // How many times "p" ran, and what it found in EXECCRED_REFRESH_BEFORE.
  std::size_t runs() const { return refreshes().size(); }
  std::vector<std::string> refreshes() const;

  // execcred sync -m … -f … ARGUMENTS.
  Command command(std::vector<std::string> arguments) const;
  Outcome sync(std::vector<std::string> arguments) const {
    return run(command(std::move(arguments)));
  }
  Outcome once(std::vector<std::string> arguments = {}) const;

 private:
  Sandbox sandbox_;
};

}  // namespace blackbox
