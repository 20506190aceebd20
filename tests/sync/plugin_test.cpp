// SPDX-License-Identifier: Apache-2.0
// `execcred sync` with execcred-oidc-federation, which has a cache, and a token server.
#include "fleet_run.hpp"

#include "cli/inventory.hpp"
#include "support/scripted_server.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace blackbox;
using execcred::test::Received;
using execcred::test::ScriptedServer;
using execcred::test::Stream;
namespace fs = std::filesystem;

namespace {

// The provider "p" is execcred-oidc-federation, allowed to ask for the audience "a" alone.
class Federation {
 public:
  explicit Federation(int lifetime) {
    server_.on("/token", [this, lifetime](Stream& stream, const Received&) {
      stream.write(execcred::test::reply(
          200, "{\"access_token\":\"t0ken-" + std::to_string(server_.count("/token")) +
                   "\",\"token_type\":\"Bearer\",\"expires_in\":" + std::to_string(lifetime) +
                   ",\"issued_token_type\":\"urn:ietf:params:oauth:token-type:access_token\"}"));
    });
    const Sandbox& sandbox = fleet_.sandbox();
    const std::string arguments =
        "\"--flow=token-exchange\",\"--subject-token-file=" +
        sandbox.write("subject", "subject-t0ken", 0600) +
        "\",\"--token-url=" + server_.url("/token") +
        "\",\"--ca-file=" + sandbox.write("ca.crt", server_.ca_pem()) +
        "\",\"--cache-dir=" + sandbox.at("cache") +
        "\",\"--allow-audience=a\",\"--allow-server=https://a.example:6443\"";
    sandbox.write("mapping.json",
                  mapping({mapped("p", EXECCRED_BIN "/execcred-oidc-federation",
                                  ",\"provideClusterInfo\":true,\"args\":[" + arguments + "]")}));
    ask_for("a");
  }

  void ask_for(const std::string& audience) const {
    fleet_.write_profile(
        "a",
        {provider("p", "https://a.example:6443",
                  ",\"extensions\":[" +
                      extension(kExecExtension, "{\"audience\":\"" + audience + "\"}") + "]")});
  }
  const Fleet& fleet() const { return fleet_; }
  std::size_t issued() const { return server_.count("/token"); }

 private:
  ScriptedServer server_;
  Fleet fleet_{{}};
};

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: each renewal gets a new credential from a plugin that has a cache") {
  // Renewals are eight to ten seconds apart; the cache alone keeps a credential for 45 seconds.
  const Federation federation(60);
  Run run(federation.fleet(), {"--renew-at=15"});
  CHECK(wait_until([&] { return federation.issued() >= 3; }));
  CHECK(wait_until([&] { return federation.fleet().token("a") == "t0ken-3"; }));
  CHECK(run.end().exit_code == 0);
  CHECK_MESSAGE(run.log().find("error") == std::string::npos, run.log());
}

TEST_CASE("sync: a ClusterProfile that asks for a forbidden audience loses its folder") {
  const Federation federation(3600);
  const Fleet& fleet = federation.fleet();
  CHECK(fleet.once().exit_code == 0);
  CHECK(fleet.token("a") == "t0ken-1");
  federation.ask_for("b");
  const Outcome outcome = fleet.once();
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(outcome.error_output.find("cause=config-refused") != std::string::npos);
  CHECK_FALSE(fs::exists(fleet.folder("a")));
  CHECK(federation.issued() == 1);
}
