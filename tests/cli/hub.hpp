// SPDX-License-Identifier: Apache-2.0
// A hub on loopback with ClusterProfiles and Secrets, and the command line that reads it.
#pragma once

#include "child_process.hpp"
#include "loopback_server.hpp"
#include "object_api.hpp"
#include "sandbox.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blackbox {

extern const execcred::test::ObjectApi::Resource kProfiles;
extern const execcred::test::ObjectApi::Resource kSecrets;

// Serves both resources, with nothing in them yet.
execcred::test::ObjectApi empty_hub();
// As profile() of inventory.hpp, with one provider "p", in another namespace and with labels
// (JSON).
std::string hub_profile(std::string_view name, std::string_view name_space = "fleet",
                        std::string_view labels = "{}");
// ClusterProfiles "c0" to "c<count - 1>" of namespace fleet, each with a CA of real size.
execcred::test::ObjectApi hub_of(std::size_t count);

class Hub {
 public:
  using Handler = execcred::test::LoopbackServer::Handler;

  explicit Hub(execcred::test::ObjectApi api)
      : Hub([api = std::move(api)](const auto& request) { return api.answer(request); }) {}
  explicit Hub(Handler handler);

  // execcred ARGUMENTS, with --kubeconfig of the hub; "-m" for those that need a mapping.
  Command command(std::vector<std::string> arguments) const;
  Outcome run(std::vector<std::string> arguments) const {
    return blackbox::run(command(std::move(arguments)));
  }
  // execcred COMMAND -m MAPPING --from-hub ARGUMENTS
  Outcome from_hub(std::string_view subcommand, std::vector<std::string> arguments = {}) const;

  // "METHOD TARGET" of each request so far.
  std::vector<std::string> requests() const;
  const execcred::test::LoopbackServer& server() const { return server_; }
  const Sandbox& sandbox() const { return sandbox_; }

 private:
  execcred::test::LoopbackServer server_;
  Sandbox sandbox_;
};

}  // namespace blackbox
