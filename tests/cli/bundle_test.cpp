// SPDX-License-Identifier: Apache-2.0
// execcred doctor --bundle: what is in the archive, and that no secret and no home directory is.
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/texts.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace blackbox;
using execcred::test::lines_of;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// An inventory with a canary wherever a secret could be.
Inventory inventory_with_canaries(const std::string& log) {
  const std::string token = "canary-token-0123456789abcdef0123456789abcdef";
  return {
      mapping({mapped(
          "p", kTokenFile,
          R"(,"provideClusterInfo":true,"args":["--token-file=/no/such/file","--log-file=)" + log +
              R"("],"env":[{"name":"API_TOKEN","value":")" + token + R"("}])")}),
      profile("a",
              {provider("p", "https://127.0.0.1:1",
                        R"(,"proxy-url":"http://user:canary-password@127.0.0.1:2","extensions":[)" +
                            extension(kExecExtension, R"({"token":")" + token +
                                                          R"(","password":"canary-word-1"})") +
                            "]")})};
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("bundle: tar reads it, CONTENTS comes first, and it has no secret") {
  const Sandbox sandbox;
  const std::string archive = sandbox.at("bundle.tar.gz");
  const Inventory inventory = inventory_with_canaries(sandbox.at("log"));
  const Outcome alone = inventory.run("doctor", {"--no-request", "-o", "json"});
  const std::vector<std::string> variables = {"HOME=" + sandbox.path().native(), "EXECCRED_DEBUG=0",
                                              "COOKIE=canary-cookie"};
  const Outcome outcome =
      inventory.run("doctor", {"--no-request", "-o", "json", "--bundle", archive}, variables);
  CHECK(outcome.exit_code == alone.exit_code);
  CHECK(has(outcome.error_output, "bundle.tar.gz' is written"));
  struct stat status = {};
  REQUIRE(stat(archive.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  const Outcome listed =
      run({.arguments = {"/bin/tar", "-tzf", archive}, .environment = {"PATH=/usr/bin:/bin"}});
  CHECK_MESSAGE(listed.exit_code == 0, describe(listed));
  CHECK(lines_of(listed.output) == std::vector<std::string>{"CONTENTS", "doctor.json",
                                                            "version.json", "mapping.yaml",
                                                            "clusterprofiles.yaml", "lint.json",
                                                            "log.jsonl", "show-config-0.txt"});
  const Outcome all =
      run({.arguments = {"/bin/tar", "-xzOf", archive}, .environment = {"PATH=/usr/bin:/bin"}});
  CHECK_MESSAGE(all.exit_code == 0, describe(all));
  CHECK(has(all.output, "token-file"));
  CHECK(has(all.output, "source-missing"));
  CHECK(has(all.output, "\"plugin\":\"execcred-token-file\""));
  CHECK_FALSE(has(all.output, "canary"));
  CHECK_FALSE(has(all.output, sandbox.path().native()));
}

// Secrets that only the words around them show.
TEST_CASE("bundle: headers, cookies and texts in texts are no place for a secret") {
  const Sandbox sandbox;
  const std::string archive = sandbox.at("bundle.tar.gz");
  const std::string fails = sandbox.script(
      "fails",
      "echo 'X-Vault-Token: canary-token-0123456789abcdef0123456789abcdef is bad' >&2\n"
      "echo 'at https://user:canary-password@idp.example.com' >&2\nexit 1");
  const auto args = [](const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ",") + json_string(text);
    return R"(,"provideClusterInfo":true,"args":[)" + list + "]";
  };
  const std::string secret = "canary-word-1234";
  const std::string wrapped =
      R"(["/usr/bin/curl","-H","Cookie: s=)" + secret + "\",\"-token\",\"" + secret + "\"]";
  const Inventory inventory(
      mapping({mapped("p", EXECCRED_BIN "/execcred-wrap",
                      args({"--command=[" + json_string(fails) + "]", "--output=token",
                            "--log-file=" + sandbox.at("log")})),
               mapped("q", "/usr/bin/curl",
                      args({"-H", "X-Vault-Token: hvs." + secret, "--header=Cookie: s=" + secret,
                            "-H", "PRIVATE-TOKEN: " + secret, "-H", "X-Api-Key: " + secret})),
               mapped("r", EXECCRED_BIN "/execcred-wrap", args({"--command=" + wrapped}))}),
      profile("a",
              {provider("p", "https://127.0.0.1:1",
                        R"(,"extensions":[)" +
                            extension(kExecExtension,
                                      R"({"kubeconfig":"users:\n- user: {token: )" + secret +
                                          R"(}\n","query":"https://h/?token=)" + secret + "\"}") +
                            "]")}));
  inventory.run("doctor", {"--no-request", "--bundle", archive}, {});
  const Outcome all =
      run({.arguments = {"/bin/tar", "-xzOf", archive}, .environment = {"PATH=/usr/bin:/bin"}});
  CHECK_MESSAGE(all.exit_code == 0, describe(all));
  CHECK(has(all.output, "idp.example.com"));
  CHECK_MESSAGE(!has(all.output, "canary"), describe(all));
}

TEST_CASE("bundle: a value is shown only if a plugin declares it and it is no secret") {
  const Sandbox sandbox;
  const std::string archive = sandbox.at("bundle.tar.gz");
  const std::string secret = "canary7";  // short, and with no form of its own
  std::string env = R"(,"env":[{"name":"AWS_REGION","value":"shown-region"},)"
                    R"({"name":"EXECCRED_AUDIENCE","value":"shown-audience"})";
  for (const char* const name :
       {"DB_PASS", "SSHPASS", "PASSCODE", "HMAC_KEY", "HTTP_AUTH", "DB_CREDENTIAL", "PASSWORD_OLD",
        "APP_TOKEN_V2", "SECRET_1", "EXECCRED_PARAM", "EXECCRED_OTHER"}) {
    env += R"(,{"name":")" + std::string(name) + R"(","value":")" + secret + "\"}";
  }
  const Inventory inventory(
      mapping({mapped("p", kTokenFile,
                      R"(,"args":["--token-file=/shown-file","--user=bob:)" + secret +
                          R"(","--access-key=)" + secret + "\"]" + env + "]"),
               mapped("q", "/usr/bin/curl",
                      R"(,"args":["--user","bob:)" + secret + R"(","-p","Authorization: Basic )" +
                          secret + R"(","--access-key=)" + secret + R"(","https://h/?sig=)" +
                          secret + R"(","--timeout=)" + secret + "\"]"),
               mapped("r", EXECCRED_BIN "/execcred-oidc-federation",
                      R"(,"args":["--param=a=)" + secret + R"(","--token-url=https://h/?sig=)" +
                          secret + "\"]")}),
      profile(
          "a",
          {provider(
              "p", "https://127.0.0.1:1",
              R"(,"unknown":{"server":")" + secret + R"("},"extensions":[)" +
                  extension(kExecExtension, R"({"audience":["shown-audience-2"],"pass":")" +
                                                secret + R"(","auth":{"audience":")" + secret +
                                                R"("},"pin":4242424242})") +
                  "," +
                  extension(kArgumentsExtension,
                            R"({"args":["--audience=shown-audience-3","--x=)" + secret + "\"]}") +
                  "," +
                  extension(kVariablesExtension, R"({"AWS_PROFILE":"shown-profile",)"
                                                 R"("SMTP_PASS":")" +
                                                     secret + "\"}") +
                  "]")}));
  inventory.run("doctor", {"--no-request", "--bundle", archive}, {});
  const Outcome all =
      run({.arguments = {"/bin/tar", "-xzOf", archive}, .environment = {"PATH=/usr/bin:/bin"}});
  for (const char* const shown :
       {"AWS_REGION", "shown-region", "shown-audience\n", "shown-file", "- \"--user\"\n",
        "/usr/bin/curl", "\"--param=(secret ", "shown-audience-2", "shown-audience-3",
        "shown-profile", "https://127.0.0.1:1"}) {
    CHECK_MESSAGE(has(all.output, shown), shown);
  }
  CHECK_MESSAGE(!has(all.output, secret), describe(all));
  CHECK_FALSE(has(all.output, "4242424242"));
}

TEST_CASE(
    "bundle: it has the ClusterProfiles that were examined, and the plugins' settings for them") {
  const Sandbox sandbox;
  const std::string archive = sandbox.at("bundle.tar.gz");
  const Inventory inventory(
      mapping({mapped("p", kTokenFile,
                      R"(,"provideClusterInfo":true,"args":["--token-file=/no/such/file"])"),
               mapped("unused", kTokenFile,
                      R"(,"provideClusterInfo":true,"args":["--token-file=/no/such/file"])")}),
      profile("a", {provider("p", "https://127.0.0.1:1")}) + "\n---\n" +
          profile("other", {provider("p", "https://127.0.0.1:2")}));
  Command command = inventory.command("doctor", {"--no-request", "--name=a", "--bundle", archive});
  const auto at = std::find(command.arguments.begin(), command.arguments.end(), "-f") + 1;
  command.input = read_text(*at);
  *at = "-";
  CHECK(run(command).exit_code == 1);
  const auto member = [&archive](const std::string& name) {
    return run({.arguments = {"/bin/tar", "-xzOf", archive, name},
                .environment = {"PATH=/usr/bin:/bin"}})
        .output;
  };
  CHECK(has(member("clusterprofiles.yaml"), "https://127.0.0.1:1"));
  CHECK_FALSE(has(member("clusterprofiles.yaml"), "https://127.0.0.1:2"));
  for (const char* const name : {"show-config-0.txt", "show-config-1.txt"}) {
    CHECK(has(member(name), "/no/such/file"));
    CHECK_MESSAGE(!has(member(name), "error"), member(name));
  }
}

TEST_CASE("bundle: the home directory is not in it, however HOME names it") {
  const Sandbox sandbox;
  const std::string archive = sandbox.at("bundle.tar.gz");
  const std::string home = sandbox.at("real");
  std::filesystem::create_directory(home);
  std::filesystem::create_directory_symlink(home, sandbox.at("link"));
  const Inventory inventory(
      mapping({mapped("p", kTokenFile, R"(,"args":["--token-file=)" + home + R"(/tok"])")}),
      profile("a", {provider("p", "https://127.0.0.1:1")}));
  for (const std::string& one : {home, home + "/", sandbox.path().native() + "//real",
                                 sandbox.at("./real"), sandbox.at("link")}) {
    CAPTURE(one);
    inventory.run("doctor", {"--no-request", "--bundle", archive}, {"HOME=" + one});
    const Outcome all =
        run({.arguments = {"/bin/tar", "-xzOf", archive}, .environment = {"PATH=/usr/bin:/bin"}});
    CHECK(has(all.output, "--token-file=~/tok"));
    CHECK_FALSE(has(all.output, home));
  }
}

TEST_CASE("bundle: one that cannot be written is 2, and --log excludes it") {
  const Sandbox sandbox;
  const Inventory inventory = inventory_with_canaries(sandbox.at("log"));
  const Outcome outcome =
      inventory.run("doctor", {"--no-request", "--bundle", sandbox.at("none/bundle.tar.gz")});
  CHECK(outcome.exit_code == 2);
  CHECK(has(outcome.error_output, "writing --bundle"));
  CHECK(run({.arguments = {kCli, "doctor", "--log", sandbox.at("log"), "--bundle=x"}}).exit_code ==
        2);
}
