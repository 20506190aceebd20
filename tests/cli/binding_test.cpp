// SPDX-License-Identifier: Apache-2.0
// A credential that the server's name chooses is not sent through a ClusterProfile's proxy, and not
// to a server that is not verified: in each plugin, with each option that can name the server.
#include "documents.hpp"
#include "inventory.hpp"
#include "support/plugin_rig.hpp"

#include <declared_options.hpp>
#include <list.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace blackbox;

namespace {

using execcred::Option;
using execcred::test::asked_for;
using execcred::test::kSpoke;
using execcred::test::plugin_command;
using Texts = std::vector<std::string>;

constexpr const char* kProxy = R"(,"proxy-url":"http://evil.example.net:3128")";
constexpr const char* kInsecure = R"(,"insecure-skip-tls-verify":true)";

// The arguments without which the plugin would not come to its access rules.
const std::map<std::string, Texts> kNeeded = {
    {"execcred-oidc-federation",
     {"--flow=token-exchange", "--issuer-url=https://idp.example.com", "--subject-token-file=/t"}},
    {"execcred-spiffe", {"--type=jwt", "--socket=unix:///nowhere/agent.sock"}},
};

// A way in which a plugin's options name the server.
struct Way {
  std::string plugin;
  std::string argument;
  std::string text;  // in the hint
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const execcred::PluginDefinition& plugin : execcred::all_plugins()) {
    const std::string name(plugin.info.name);
    const execcred::cli::DeclaredOptions declared(name);
    for (const Option& option : declared.set().all()) {
      const std::string prefix = option.is_path() ? "/nowhere/" : "";
      const std::string value =
          option.is_command ? R"(["/nowhere/program","{server.host}"])" : prefix + "{server.host}";
      if (option.is_template) {
        ways.push_back({name, option.flag() + "=" + value, "{server.host} in " + option.flag()});
      }
      if (option.name == "audience" && option.profile != Option::Profile::never) {
        // execcred-token-file lacks its token, too.
        ways.push_back({name, "--allow-audience=server", "--allow-audience=server"});
      }
    }
  }
  return ways;
}

Outcome run_for(const Way& way, const std::string& more_of_cluster, Texts arguments = {}) {
  arguments.push_back(way.argument);
  const auto needed = kNeeded.find(way.plugin);
  if (needed != kNeeded.end()) {
    arguments.insert(arguments.begin(), needed->second.begin(), needed->second.end());
  }
  if (way.plugin == "execcred-token-file" && !way.argument.starts_with("--token-file")) {
    arguments.emplace_back("--token-file=/nowhere/token");
  }
  const std::string config = "{\"audience\":" + json_string(kSpoke) + "}";
  return run(plugin_command(way.plugin, arguments, asked_for(kSpoke, config, more_of_cluster)));
}

std::string lint_of(const Way& way, Texts more) {
  more.push_back(way.argument);
  std::string args;
  for (const std::string& argument : more) {
    args += (args.empty() ? "" : ",") + json_string(argument);
  }
  const Sandbox folder;
  const std::string mapping = folder.write(
      "mapping.json", R"({"providers":[{"name":"p","execConfig":{"provideClusterInfo":true,)"
                      R"("apiVersion":"client.authentication.k8s.io/v1","command":"/plugins/)" +
                          way.plugin + R"(","args":[)" + args + "]}}]}");
  return run(plugin_command("execcred", {"lint", "--no-files", mapping})).output;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("a server's name alone: no plugin accepts a proxy or an unverified server with it") {
  const std::vector<Way> ways = all_ways();
  for (const Way& way : ways) {
    CAPTURE(way.plugin);
    CAPTURE(way.argument);
    const Outcome proxied = run_for(way, kProxy);
    CHECK_REFUSAL(proxied, 1, "spec.cluster.proxy-url 'http://evil.example.net:3128' matches no");
    CHECK(says(proxied, "with " + way.text + " a proxy must be allowed too: --allow-proxy="));
    const Outcome insecure = run_for(way, kInsecure);
    CHECK_REFUSAL(insecure, 1, "spec.cluster.insecure-skip-tls-verify is set");
    CHECK(says(insecure, way.text + " needs a server whose certificate is verified"));
    // What fails then is the source.
    for (const Outcome& outcome :
         {run_for(way, ""), run_for(way, kProxy, {"--allow-proxy=http://evil.example.net:3128"})}) {
      CHECK(outcome.exit_code != 0);
      CHECK_FALSE(says(outcome, "a proxy must be allowed"));
      CHECK_FALSE(says(outcome, "certificate is verified"));
    }
  }
  CHECK(ways.size() >= 8);
}

TEST_CASE("lint: with a server's name alone, the CA is still the ClusterProfile's choice") {
  for (const Way& way : all_ways()) {
    CAPTURE(way.plugin);
    CAPTURE(way.argument);
    Texts more;
    const auto needed = kNeeded.find(way.plugin);
    if (needed != kNeeded.end()) more = needed->second;
    const std::string open = way.text + " ties the credential to a name alone";
    CHECK(lint_of(way, more).find(open) != std::string::npos);
    for (const std::string closed : {"--server-ca-file=/ca", "--allow-server=https://a.example"}) {
      Texts with_it = more;
      with_it.push_back(closed);
      CHECK(lint_of(way, with_it).find(open) == std::string::npos);
    }
    more.emplace_back("--allow-proxy=http://p:3128");
    CHECK(lint_of(way, more).find("does nothing") == std::string::npos);
  }
}

TEST_SUITE_END();
