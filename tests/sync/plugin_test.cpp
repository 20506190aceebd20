// SPDX-License-Identifier: Apache-2.0
// `execcred sync` with execcred's plugins: renewals from a plugin that has a cache, and which
// failures of a plugin remove what was written.
#include "fleet_run.hpp"

#include "cli/inventory.hpp"
#include "documents.hpp"
#include "support/scripted_server.hpp"
#include "support/tls_identity.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>

#include <chrono>
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

// A cluster whose credential was written before the provider "p" became a plugin of execcred. The
// ClusterProfile has a CA, which is also in the file ca.crt, and the audience "a".
class Written {
 public:
  Written() {
    sandbox().write("ca.crt", ca_);
    fleet_.write_profile(
        "a", {provider("p", "https://a.example:6443",
                       ",\"certificate-authority-data\":\"" + base64(ca_) + "\",\"extensions\":[" +
                           extension(kExecExtension,
                                     "{\"audience\":\"a\",\"impersonate\":\"b@c.example\"}") +
                           "]")});
    REQUIRE(fleet_.once().exit_code == 0);
  }

  const Sandbox& sandbox() const { return fleet_.sandbox(); }
  bool is_there() const { return fs::exists(fleet_.folder("a")); }

  Outcome once_with(const std::string& program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {}) const {
    std::string list;
    for (const std::string& argument : arguments) {
      list += (list.empty() ? "" : ",") + json_string(argument);
    }
    sandbox().write(
        "mapping.json",
        mapping({mapped("p", program, ",\"provideClusterInfo\":true,\"args\":[" + list + "]")}));
    Command command = fleet_.command({"--once", "--to-dir=" + fleet_.root().native()});
    command.environment.insert(command.environment.end(), environment.begin(), environment.end());
    return run(command);
  }

 private:
  Fleet fleet_{{}};
  std::string ca_ = execcred::test::make_ca("cluster CA").pem;
};

std::string plugin(const std::string& name) { return EXECCRED_BIN "/execcred-" + name; }

bool says(const Outcome& outcome, const std::string& text) {
  return outcome.error_output.find(text) != std::string::npos;
}

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

// A cluster whose provider is a program that is not execcred's, with this status.
Outcome once_with_status(const Fleet& fleet, const std::string& status) {
  const std::string script = fleet.sandbox().script(
      "bin/other",
      "cat "
      "<<'END'\n{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
      "\"status\":" +
          status + "}\nEND");
  fleet.sandbox().write("mapping.json", mapping({mapped("p", script)}));
  return fleet.once();
}

std::string rfc3339_in(int seconds) {
  return execcred::format_rfc3339(std::chrono::floor<std::chrono::seconds>(
      std::chrono::system_clock::now() + std::chrono::seconds(seconds)));
}

TEST_CASE("sync: a token or certificate that has ended, or has not begun, is not written") {
  using execcred::test::make_identity;
  const auto pair = [](const execcred::test::IdentityOptions& options) {
    const execcred::test::Identity identity = make_identity(options);
    return "{\"clientCertificateData\":" + json_string(identity.pem) +
           ",\"clientKeyData\":" + json_string(identity.key_pem) + "}";
  };
  struct Case {
    std::string status, cause;
  };
  for (const Case& c :
       std::vector<Case>{{"{\"token\":\"" + jwt_for(-1000) + "\"}", "credential-expired"},
                         {"{\"token\":\"" + jwt_for(-1000) + "\",\"expirationTimestamp\":\"" +
                              rfc3339_in(3600) + "\"}",
                          "credential-expired"},
                         {pair({.ends = -60}), "certificate-expired"},
                         {pair({.begins = 3600}), "credential-not-yet-valid"}}) {
    CAPTURE(c.status);
    const Fleet fleet({"a"});
    const Outcome outcome = once_with_status(fleet, c.status);
    CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
    CHECK_MESSAGE(says(outcome, "cause=" + c.cause), describe(outcome));
    CHECK_FALSE(fs::exists(fleet.folder("a")));
  }
}

TEST_CASE("sync: a credential ends with its token, if that ends before the expirationTimestamp") {
  const std::string end = rfc3339_in(600);
  const std::string token = jwt_for(600);
  for (const std::string& more :
       {std::string(), ",\"expirationTimestamp\":\"" + rfc3339_in(3600) + "\""}) {
    CAPTURE(more);
    const Fleet fleet({"a"});
    const Outcome outcome = once_with_status(fleet, "{\"token\":\"" + token + "\"" + more + "}");
    REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
    const std::string written = read_text(fleet.folder("a") / "expiration");
    CHECK(written >= end);
    CHECK(written < rfc3339_in(700));
  }
}

TEST_CASE("sync: a program is asked again before the end of its token, if it names no other") {
  const Fleet fleet({"a"});
  const std::string token = fleet.sandbox().write("jwt", jwt_for(4));
  REQUIRE(once_with_status(fleet, "{\"token\":\"" + read_text(token) + "\"}").exit_code == 0);
  const Run run(fleet);
  CHECK(
      wait_until([&] { return run.log().find("cause=credential-expired") != std::string::npos; }));
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

TEST_CASE("sync: a fault of a file, a variable or the machine removes nothing") {
  const Written written;
  const Sandbox& sandbox = written.sandbox();
  const std::string token = "--token-file=" + sandbox.write("a-token", "t0ken", 0600);
  const std::string empty = sandbox.write("empty", "", 0600);
  const std::string large = sandbox.write("large", std::string(200'000, 'a'), 0600);
  const std::string missing = sandbox.at("missing");
  const std::string folder = sandbox.at("profiles");
  const std::vector<std::string> exchange = {"--flow=token-exchange", "--audience=a",
                                             "--token-url=https://127.0.0.1:1/"};
  const auto with = [](std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string old = sandbox.script(
      "bin/execcred-old",
      "case $1 in --version) echo 'execcred-old 1'; exit 0;; esac\n"
      "printf '%s' '{\"cause\":\"server-not-allowed\"}' >&\"$EXECCRED_REPORT_FILE\"\nexit 1");
  struct Case {
    std::string program;
    std::vector<std::string> arguments = {};
    std::vector<std::string> environment = {};
  };
  for (const Case& c : std::vector<Case>{
           {plugin("token-file"), {token, "--server-ca-file=" + missing}},
           {plugin("token-file"), {token, "--server-ca-file=" + empty}},
           {plugin("token-file"), {"--token-file=" + folder}},
           {plugin("token-file"), {"--token-file=" + large}},
           {plugin("token-file"), {token}, {"EXECCRED_TIMEOUT=nope"}},
           {plugin("static-secret"), {"--kubeconfig=" + empty, "--namespace=n", "--secret-name=s"}},
           {plugin("oidc-federation"),
            with(exchange, {"--ca-file=" + missing, "--subject-token-file=" + sandbox.at("a-token"),
                            "--cache-dir=" + sandbox.at("cache")})},
           {plugin("oidc-federation"),
            with(exchange, {"--subject-token-command=[\"" + missing + "\"]"})},
           {plugin("google"), {"--credentials-file=" + empty}},
           {old}}) {
    const Outcome outcome = written.once_with(c.program, c.arguments, c.environment);
    CAPTURE(c.arguments);
    CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
    CHECK_MESSAGE(written.is_there(), describe(outcome));
    CHECK_FALSE(says(outcome, " removed "));
    CHECK_FALSE(says(outcome, "mapping-invalid"));
    const bool is_like_a_rule =
        says(outcome, "cause=config-refused") || says(outcome, "cause=server-not-allowed");
    CHECK(says(outcome, "it stays, because no rule refuses the ClusterProfile") == is_like_a_rule);
  }
}

TEST_CASE("sync: a rule that refuses the ClusterProfile removes what was written") {
  struct Case {
    std::string program;
    std::vector<std::string> arguments;
    std::string cause;
  };
  const std::string wrapped = R"(--command=["/bin/echo","-n","x{config.audience}"])";
  for (const Case& c : std::vector<Case>{
           {plugin("token-file"), {"--allow-server=https://b.example"}, "server-not-allowed"},
           {plugin("wrap"),
            {wrapped, "--output=token", "--allow-config=audience=b"},
            "config-refused"},
           {plugin("oidc-federation"),
            {"--flow=token-exchange", "--token-url=https://127.0.0.1:1/", "--allow-audience=b"},
            "config-refused"},
           // Without a permission, nothing may come from the ClusterProfile.
           {plugin("oidc-federation"),
            {"--flow=token-exchange", "--token-url=https://127.0.0.1:1/"},
            "config-refused"}}) {
    const Written written;
    std::vector<std::string> arguments = c.arguments;
    if (c.program != plugin("wrap")) {
      const std::string token = written.sandbox().write("a-token", "t0ken", 0600);
      const bool is_subject = c.program == plugin("oidc-federation");
      arguments.push_back((is_subject ? "--subject-token-file=" : "--token-file=") + token);
    }
    const Outcome outcome = written.once_with(c.program, arguments);
    CAPTURE(arguments);
    CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
    CHECK_FALSE(written.is_there());
    CHECK_MESSAGE(says(outcome, "why=" + c.cause), describe(outcome));
  }
}
