// SPDX-License-Identifier: Apache-2.0
// execcred migrate as a process: where it writes the document and the changes, and its exit code.
#include "cli/inventory.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace blackbox;

namespace {

namespace fs = std::filesystem;

const std::string kEks =
    "- name: eks\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n"
    "      command: aws\n      args: [--region, eu-west-1, eks, get-token, --cluster-name, prod]\n"
    "      env:\n      - {name: AWS_SECRET_ACCESS_KEY, value: S3CRET}\n";
const std::string kInteractive =
    "- name: laptop\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n"
    "      command: kubectl\n      args: [oidc-login, get-token, "
    "--oidc-issuer-url=https://i.example.com, --oidc-client-id=k, --oidc-client-secret=S3CRET]\n";

std::string kubeconfig(const std::string& users) {
  return "apiVersion: v1\nkind: Config\nusers:\n" + users;
}

void append(std::string& text, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) text += part;
}

// A kubeconfig of this many users, each with a cluster and a context of its own.
std::string kubeconfig_of(int users) {
  std::string clusters = "kind: Config\nclusters:\n";
  std::string contexts = "contexts:\n";
  std::string list = "users:\n";
  for (int i = 0; i < users; ++i) {
    const std::string name = "c" + std::to_string(i);
    append(clusters, {"- {name: ", name, ", cluster: {server: 'https://", name, "'}}\n"});
    append(contexts, {"- {name: ", name, ", context: {user: ", name, ", cluster: ", name, "}}\n"});
    append(list, {"- {name: ", name, ", user: {exec: {command: gke-auth-plugin}}}\n"});
  }
  return clusters + contexts + list;
}

Outcome migrate(std::vector<std::string> arguments,
                std::optional<std::string> input = std::nullopt) {
  Command command{.arguments = {kCli, "migrate"},
                  .environment = {"PATH=/usr/bin:/bin"},
                  .input = std::move(input)};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return run(command);
}

std::size_t count_files(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("migrate prints the document on standard output and the changes on standard error") {
  const Sandbox sandbox;
  const std::string before = kubeconfig(kEks);
  const std::string file = sandbox.write("config", before);
  const Outcome outcome = migrate({file});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.find("command: /plugins/execcred-aws\n") != std::string::npos);
  CHECK(outcome.output.find("value: S3CRET\n") != std::string::npos);
  CHECK(outcome.error_output.starts_with(
      "users[0].user.exec 'eks': aws eks get-token → /plugins/execcred-aws\n"));
  CHECK(says(outcome, "  kept     --cluster-name → --cluster-id=prod\n"));
  CHECK(says(outcome, "1 user carried over\n"));
  CHECK_FALSE(says(outcome, "S3CRET"));
  CHECK(read_text(file) == before);
}

TEST_CASE("migrate --wrap finds a bare name in PATH, and lint accepts the new entry") {
  const Sandbox sandbox;
  const std::string file = sandbox.write(
      "config",
      kubeconfig("- {name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "
                 "cat, args: ['{x}']}}}\n") +
          "clusters: [{name: c, cluster: {server: 'https://a.example.com'}}]\n"
          "contexts: [{name: c, context: {cluster: c, user: u}}]\n",
      0600);
  const Outcome without = migrate({file});
  CHECK(without.exit_code == 0);
  CHECK(says(without, "with --wrap, execcred-wrap runs them"));
  const Outcome outcome =
      migrate({file, "--wrap", std::string("--plugin-dir=") + EXECCRED_BIN, "-o", file});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  const std::string after = read_text(file);
  CHECK_MESSAGE(after.find(R"(- "--command=[\"/usr/bin/cat\",\"{{x}}\"]")") != std::string::npos,
                after);
  Command lint{.arguments = {kCli, "lint", file}, .environment = {"PATH=/usr/bin:/bin"}};
  const Outcome linted = run(lint);
  CHECK_MESSAGE(linted.exit_code == 0, describe(linted));
}

TEST_CASE("migrate -o can replace the input file, writes it once, and prints the changes") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("config", kubeconfig(kEks), 0600);
  const Outcome first = migrate({file, "-o", file});
  CHECK_MESSAGE(first.exit_code == 0, describe(first));
  CHECK(first.error_output.empty());
  CHECK(first.output.find("users[0].user.exec 'eks': ") == 0);
  CHECK(first.output.find("' is written\n") != std::string::npos);
  CHECK(first.output.find("S3CRET") == std::string::npos);
  struct stat status = {};
  REQUIRE(stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600U);
  const std::string after = read_text(file);
  const auto changed = fs::last_write_time(file);

  const Outcome second = migrate({file, "-o", file});
  CHECK_MESSAGE(second.exit_code == 0, describe(second));
  CHECK(second.output.find("no user of a known plugin was found\n") == 0);
  CHECK(second.output.find("' is unchanged\n") != std::string::npos);
  CHECK(read_text(file) == after);
  CHECK(fs::last_write_time(file) == changed);
  CHECK(count_files(sandbox.path()) == 1);
}

TEST_CASE("migrate --dry-run and --diff: the file stays as it is") {
  const Sandbox sandbox;
  const std::string before = kubeconfig(kEks);
  const std::string file = sandbox.write("config", before);
  const Outcome dry = migrate({file, "-o", file, "--dry-run"});
  CHECK_MESSAGE(dry.exit_code == 0, describe(dry));
  CHECK(dry.output.starts_with("users[0].user.exec 'eks': "));
  CHECK(dry.output.ends_with("\n'" + file + "' would be replaced\n"));
  const std::string other = sandbox.at("other");
  CHECK(migrate({file, "-o", other, "--dry-run"})
            .output.ends_with("'" + other + "' would be created\n"));
  const Outcome diff = migrate({file, "-o", file, "--diff"});
  CHECK_MESSAGE(diff.exit_code == 0, describe(diff));
  CHECK(diff.output.starts_with("--- " + file + "\n+++ " + file + " (new)\n"));
  CHECK(diff.output.find("\n-      command: aws\n") != std::string::npos);
  CHECK(diff.output.find("\n+      command: /plugins/execcred-aws\n") != std::string::npos);
  CHECK(says(diff, "1 user carried over\n"));
  for (const Outcome& outcome : {dry, diff}) {
    CHECK((outcome.output + outcome.error_output).find("S3CRET") == std::string::npos);
  }
  CHECK(read_text(file) == before);
  CHECK(count_files(sandbox.path()) == 1);

  CHECK(migrate({file, "-o", file}).exit_code == 0);
  CHECK(migrate({file, "-o", file, "--diff"}).output == "");
  CHECK(migrate({file, "-o", file, "--dry-run"})
            .output.ends_with("\n'" + file + "' would be unchanged\n"));
  CHECK_REFUSAL(migrate({file, "--dry-run"}), 2, "--dry-run is given without a file to replace");
  CHECK_REFUSAL(migrate({"-", "--diff"}, before), 2, "--diff is given without a file to replace");
}

TEST_CASE("migrate --dry-run and --diff refuse the file that migrate -o would refuse") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("config", kubeconfig(kEks));
  const std::string link = sandbox.at("link");
  fs::create_symlink(file, link);
  REQUIRE(mkfifo(sandbox.at("pipe").c_str(), 0600) == 0);
  for (const std::string option : {"--dry-run", "--diff"}) {
    CHECK_REFUSAL(migrate({file, "-o", link, option}), 2,
                  "cannot write '" + link + "': it is a symbolic link");
    for (const std::string name : {"pipe", "."}) {
      CHECK_FAILURE(migrate({file, "-o", sandbox.at(name), option}), 2, "it is no regular file");
    }
  }
  // A file that is only read may be a symbolic link.
  CHECK(migrate({link, "--diff"}).output.find("\n-      command: aws\n") != std::string::npos);
}

TEST_CASE("migrate carries over what it can, and exits with 1 for the rest") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("config", kubeconfig(kEks + kInteractive));
  const Outcome outcome = migrate({file});
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(outcome.output.find("command: /plugins/execcred-aws\n") != std::string::npos);
  CHECK(outcome.output.find("command: kubectl\n") != std::string::npos);
  CHECK(
      says(outcome, "users[1].user.exec 'laptop': kubectl oidc-login get-token stays as it is\n"));
  CHECK(says(outcome, "  not carried over  --oidc-client-secret: a secret on the command line"));
  CHECK(says(outcome, "--client-secret-file"));
  CHECK(says(outcome, "1 user carried over, 1 user left\n"));
  CHECK_FALSE(says(outcome, "S3CRET"));

  const std::string other = sandbox.at("other");
  const Outcome written = migrate({file, "-o", other});
  CHECK_MESSAGE(written.exit_code == 1, describe(written));
  CHECK(written.output.find("1 user carried over, 1 user left\n") != std::string::npos);
  CHECK(read_text(other) == outcome.output);
}

TEST_CASE("migrate prints a document without known plugins unchanged") {
  const Sandbox sandbox;
  const std::string text = "# comment\nkind:   Config\nusers:\n- {name: a, user: {token: t}}\n";
  const Outcome outcome = migrate({sandbox.write("config", text)});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output == text);
  CHECK(says(outcome, "no user of a known plugin was found\n"));
}

TEST_CASE("migrate reads a mapping, from standard input too, and resolve takes the result") {
  const std::string text =
      mapping({mapped("ocm", "/plugins/cp-creds", R"(,"args":["--managed-serviceaccount=m"])")});
  const Outcome outcome = migrate({"-", "--plugin-dir=/opt/x/"}, text);
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(json_at(outcome.output, "providers.0.execConfig.command") ==
        "/opt/x/execcred-static-secret");
  CHECK(json_at(outcome.output, "providers.0.execConfig.provideClusterInfo") == "true");
  const Inventory inventory(outcome.output, profile("c1", {provider("ocm")}));
  const Outcome resolved = inventory.run("resolve", {"-o", "json"});
  CHECK_MESSAGE(resolved.exit_code == 0, describe(resolved));
  CHECK(json_at(resolved.output, "items.0.exec.args") ==
        R"(["--convention=cp-creds","--managed-serviceaccount=m"])");
}

// If --show-config accepts the options, so does the plugin: it has read and checked all of them.
TEST_CASE("migrate writes arguments that the plugins themselves accept") {
  const std::string oidc =
      R"("--oidc-issuer-url=https://i.example.com","--oidc-client-id=k","--grant-type=client-credentials")";
  const std::string concierge =
      R"("login","static","--token-env=T","--enable-concierge","--concierge-authenticator-name=a",)"
      R"("--concierge-authenticator-type=)";
  struct Case {
    std::string_view command;
    std::string args;
  };
  int count = 0;
  for (
      const Case& c : std::vector<Case>{
          {"kubectl", R"("oidc-login","get-token",)" + oidc},
          {"kubelogin",
           R"("get-token","--oidc-use-access-token","--oidc-extra-scope=a,b",)" + oidc},
          {"kubectl-oidc_login",
           R"("get-token","--oidc-auth-request-extra-params=audience=x,y=z","--certificate-authority=/c",)" +
               oidc},
          {"pinniped", concierge + R"(jwt")"},
          {"pinniped", concierge + R"(webhook","--concierge-endpoint=https://c.example.com")"},
          {"pinniped", concierge + R"(jwt","--concierge-api-group-suffix=a.example.com")"},
          {"pinniped", R"("login","static","--token-env=T")"},
          {"secretreader", ""},
          {"kubeconfig-secretreader", ""},
          {"token-secretreader", ""},
          {"cp-creds", R"("--managed-serviceaccount=m")"},
          {"argocd-k8s-auth", R"("oidc","--token-file=/t")"}}) {
    CAPTURE(c.command);
    CAPTURE(c.args);
    const Outcome migrated =
        migrate({"-", "--plugin-dir=" EXECCRED_BIN},
                mapping({mapped("p", c.command, ",\"args\":[" + c.args + "]")}));
    REQUIRE_MESSAGE(migrated.exit_code == 0, describe(migrated));
    const std::string exec = "providers.0.execConfig.";
    Command plugin{.arguments = {json_at(migrated.output, exec + "command")}};
    REQUIRE(plugin.arguments.front().starts_with(EXECCRED_BIN "/execcred-"));
    for (int i = 0;; ++i) {
      const std::string argument = json_at(migrated.output, exec + "args." + std::to_string(i));
      if (argument == "(missing)") break;
      plugin.arguments.push_back(argument);
    }
    plugin.arguments.emplace_back("--show-config");
    const Outcome shown = run(plugin);
    CHECK_MESSAGE(shown.exit_code == 0, describe(shown));
    ++count;
  }
  CHECK(count == 12);
}

TEST_CASE("migrate: a mapping file has the limit that the other commands have") {
  const std::string mapping = R"({"providers":[],"padding":")" + std::string(1 << 20, 'x') + "\"}";
  const Outcome outcome = migrate({"-"}, mapping);
  CHECK_REFUSAL(outcome, 2, "the mapping file is larger than 1 MiB");
}

TEST_CASE("migrate: a relative --plugin-dir is refused, and the hint does not suggest PATH") {
  for (const std::string folder : {"plugins", "./plugins", ".", "../plugins"}) {
    const Outcome outcome = migrate({"-", "--plugin-dir=" + folder}, kubeconfig(kEks));
    CHECK_REFUSAL(outcome, 2, "--plugin-dir: '" + folder + "' is no absolute path");
    CHECK(says(outcome, "hint: write the absolute path: "));
    CHECK_FALSE(says(outcome, "in PATH"));
  }
}

TEST_CASE("migrate: the report names the options that the binding of stored kubeconfigs may need") {
  const Outcome outcome =
      migrate({"-"}, mapping({mapped("p", "/plugins/kubeconfig-secretreader")}));
  CHECK(outcome.exit_code == 0);
  for (const std::string flag : {"--allow-server-mismatch=PATTERN", "--allow-profile-ca",
                                 "--allow-namespace=NS", "--both"}) {
    CHECK_MESSAGE(says(outcome, flag), describe(outcome));
  }
  CHECK(says(outcome, "  note     a stored kubeconfig is given to its own server alone: "));
}

TEST_CASE("migrate refuses what it cannot read or write, and leaves nothing behind") {
  const Sandbox sandbox;
  const std::string good = sandbox.write("good", kubeconfig(kEks));
  fs::create_symlink(good, sandbox.at("link"));
  struct Case {
    std::vector<std::string> arguments;
    std::string text;
  };
  const std::vector<Case> cases = {
      {{}, "0 files are given"},
      {{good, good}, "2 files are given"},
      {{sandbox.at("missing")}, "No such file or directory"},
      {{sandbox.path().native()}, "it is a directory"},
      {{sandbox.write("binary", std::string("\0\1\2\xff", 4))}, "control characters"},
      {{sandbox.write("empty", "")}, "the file holds 0 documents"},
      {{sandbox.write("manifest", "apiVersion: v1\nkind: Secret\n")},
       "neither a kubeconfig nor a mapping file"},
      {{sandbox.write("cut", "{\"kind\": \"Config\", \"users\": [")}, "no valid JSON at line 1"},
      {{good, "--plugin-dir=plugins"}, "'plugins' is no absolute path"},
      {{good, "--plugin-dir="}, "--plugin-dir has an empty value"},
      {{good, "-o", sandbox.at("link")}, "it is a symbolic link"},
      {{good, "-o", sandbox.path().native()}, "it is no regular file"},
      {{good, "-o", sandbox.at("missing/file")}, "cannot write"},
      {{good, "--wat"}, "unknown option '--wat'"},
  };
  const std::size_t files = count_files(sandbox.path());
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK_FAILURE(migrate(c.arguments), 2, c.text);
  }
  CHECK(read_text(good) == kubeconfig(kEks));
  CHECK(count_files(sandbox.path()) == files);
}

TEST_CASE("migrate takes 10,000 users") {
  const Sandbox sandbox;
  const std::string config = sandbox.write("config", kubeconfig_of(10'000));
  const Outcome outcome = migrate({config, "-o", sandbox.at("migrated")});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome).substr(0, 500));
  CHECK(outcome.output.find("10000 users carried over\n") != std::string::npos);
}

TEST_CASE("migrate --context: only the user of that context") {
  const Sandbox sandbox;
  const auto user = [](const std::string& name) {
    return "- name: " + name +
           "\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      "
           "command: "
           "aws\n      args: [--region, eu-west-1, eks, get-token, --cluster-name, p]\n";
  };
  const std::string file = sandbox.write(
      "k.yaml", "kind: Config\ncontexts:\n- name: one\n  context: {user: a, cluster: c}\nusers:\n" +
                    user("a") + user("b"));
  const Outcome outcome = run({.arguments = {kCli, "migrate", "--context=one", file}});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(outcome.output.find("/plugins/execcred-aws") < outcome.output.find("command: aws"));
  CHECK(outcome.output.find("command: aws") != std::string::npos);
  CHECK_REFUSAL(run({.arguments = {kCli, "migrate", "--context=two", file}}), 2,
                "the context 'two' is not among the kubeconfig's contexts");
  const std::string mapping_path = sandbox.write("m.json", mapping({mapped("p", "/bin/true")}));
  CHECK_REFUSAL(run({.arguments = {kCli, "migrate", "--context=two", mapping_path}}), 2,
                "--context is given, and the file is a mapping");
}
