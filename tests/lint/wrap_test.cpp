// SPDX-License-Identifier: Apache-2.0
// Findings about mappings for execcred-wrap.
#include "lint.hpp"

#include <execcred/json/json.hpp>

namespace execcred {
namespace {

using test::check_findings;

constexpr auto kWarning = test::Severity::warning;
const std::string kArgs = "providers[0].execConfig.args";
const std::string kServer = "--allow-server=https://*.example.com:6443";

// A mapping with these arguments.
std::string with(const std::vector<std::string>& args, const std::string& more = "") {
  return R"({"providers":[{"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
         R"("command":"/plugins/execcred-wrap","args":[)" +
         test::in_json(args) + R"(],"provideClusterInfo":true)" + more + "}}]}";
}

TEST_CASE("lint: a complete mapping for wrap has no findings") {
  const std::string aws = R"(--command=["/usr/bin/aws","{clusterName}","a{{b}}"])";
  check_findings(with({aws, kServer}), {});
  check_findings(with({aws, kServer, "--cache", "--identity-file=/etc/aws/credentials"}), {});
  check_findings(with({R"(--command=["/usr/bin/x","{config.a}"])", "--allow-config=a=b", kServer}),
                 {});
  check_findings(with({kServer}, R"(,"env":[{"name":"EXECCRED_COMMAND",)"
                                 R"("value":"[\"/usr/bin/x\",\"a\"]"}])"),
                 {});
}

TEST_CASE("lint: wrap without --allow-server gives its token to any server") {
  check_findings(with({R"(--command=["/usr/bin/x"])"}),
                 {{kArgs, "lacks --allow-server", kWarning}});
  check_findings(with({R"(--command=["/usr/bin/x"])", "--output=token", "--cache"}),
                 {{kArgs, "one credential would serve every server"},
                  {kArgs, "lacks --allow-server", kWarning}});
}

TEST_CASE("lint: a brace that is written twice names no server and needs no cluster") {
  const std::string escaped = R"(["/usr/bin/x","{{server.host}}","{{clusterName}}"])";
  const auto without_cluster = [&](const std::string& command) {
    std::string text = with({"--command=" + command});
    return text.replace(text.find(R"("provideClusterInfo":true)"), 25, R"("env":[])");
  };
  check_findings(without_cluster(escaped), {{kArgs, "lacks --allow-server", kWarning}});
  check_findings(without_cluster(R"(["/usr/bin/x","{{{{{clusterName}}}}}"])"),
                 {{"providers[0].execConfig.provideClusterInfo", "--command needs"},
                  {kArgs, "lacks --allow-server", kWarning}});
  check_findings(with({}, R"(,"env":[{"name":"EXECCRED_COMMAND","value":)" +
                              json::to_text(json::Value(escaped)) + "}]"),
                 {{kArgs, "lacks --allow-server", kWarning}});
}

TEST_CASE("lint: wrap around a shell, a relative path, a secret, or without an identity file") {
  check_findings(with({R"(--command=["/bin/sh","-c","x"])", kServer}),
                 {{kArgs, "runs the shell '/bin/sh'", kWarning}});
  check_findings(with({R"(--command=["x"])", kServer}), {{kArgs + "[0]", "is no absolute path"}});
  check_findings(with({R"(--command=["/usr/bin/x","--client-secret=s3cr3tValue"])", kServer}),
                 {{kArgs + "[0]", "named like a secret", kWarning}});
  check_findings(with({R"(--command=["/usr/bin/x","--client-secret","s3cr3tValue"])", kServer}),
                 {{kArgs + "[0]", "named like a secret", kWarning}});
  check_findings(
      with({R"(--command=["/usr/bin/x","--key=ghp_0123456789abcdefghijABCDEFGHIJ012345"])",
            kServer}),
      {{kArgs + "[0]", "holds ", kWarning}});
  check_findings(with({kServer}, R"(,"env":[{"name":"EXECCRED_COMMAND",)"
                                 R"("value":"[\"/usr/bin/x\",\"--password=s3cr3tValue\"]"}])"),
                 {{"providers[0].execConfig.env[0].value", "named like a secret", kWarning}});
  for (const std::string program : {"aws", "az", "gcloud", "oci", "doctl"}) {
    check_findings(
        with({"--command=[\"/usr/bin/" + program + "\"]", kServer, "--cache"}),
        {{kArgs, "has --cache without --identity-file, and " + program + " reads", kWarning}});
  }
}

TEST_CASE("lint: templates of wrap are checked as the plugin does") {
  const auto found = [](const std::string& argument, const std::string& message) {
    check_findings(with({"--command=[\"/usr/bin/x\",\"" + argument + "\"]", kServer}),
                   {{kArgs, message}});
  };
  found("{cluster}", "'{cluster}' is no placeholder");
  found("}", "a brace has no counterpart");
  found("{config.a}", "there is no --allow-config");
  found("--{clusterName}", "the argument would let a value be an option's name");
  // Braces that are written twice are no placeholder.
  check_findings(with({R"(--command=["/usr/bin/x","{{clusterName}}","{{config.x}}"])",
                       "--output=token", "--cache"}),
                 {{kArgs, "one credential would serve every server"},
                  {kArgs, "lacks --allow-server", kWarning}});
}

}  // namespace
}  // namespace execcred
