// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles on a hub, and execcred sync as a process that writes Secrets there.
#pragma once

#include "child_process.hpp"
#include "library/hub/live_api.hpp"
#include "sandbox.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace execcred::test {

// A ClusterProfile in the namespace fleet, with the provider "p".
Json profile_object(const std::string& name, const std::string& server);

class Process {
 public:
  // The token identifies the process on the hub.
  explicit Process(const LiveApi& api, const std::string& token = "t0ken");

  // execcred sync --to-secret=token --secret-namespace=to MORE.
  blackbox::Command command(std::vector<std::string> more) const;
  // The same with --listen, and with log() for its standard error.
  blackbox::Command listening(std::vector<std::string> more = {}) const;
  std::string log() const { return blackbox::read_text(sandbox_.path() / "log"); }

  const blackbox::Sandbox& sandbox() const { return sandbox_; }
  // A folder for --to-dir.
  std::filesystem::path root() const { return sandbox_.path() / "out"; }

 private:
  blackbox::Sandbox sandbox_;
};

// The token ("for-SERVER") and the server in the Secret of the cluster.
std::pair<std::string, std::string> written(const LiveApi& api, const std::string& cluster);

}  // namespace execcred::test
