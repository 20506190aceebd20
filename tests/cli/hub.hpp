// SPDX-License-Identifier: Apache-2.0
// A hub on loopback with ClusterProfiles and Secrets, and execcred commands that read it.
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

// Serves both resources, without any objects yet.
execcred::test::ObjectApi empty_hub();
// Like profile() of inventory.hpp, but with one provider "p", a namespace, and labels in the form
// of JSON.
std::string hub_profile(std::string_view name, std::string_view name_space = "fleet",
                        std::string_view labels = "{}");
// ClusterProfiles "c0" to "c<count - 1>" of namespace fleet, each with a CA of realistic size.
execcred::test::ObjectApi hub_of(std::size_t count);

class Hub {
 public:
  using Handler = execcred::test::LoopbackServer::Handler;

  explicit Hub(execcred::test::ObjectApi api)
      : Hub([api = std::move(api)](const auto& request) { return api.answer(request); }) {}
  explicit Hub(Handler handler);

  // execcred ARGUMENTS --kubeconfig=… of the hub. ARGUMENTS must have "-m" if a mapping is needed.
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
