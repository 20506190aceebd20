// SPDX-License-Identifier: Apache-2.0
// The common behaviour of the commands: broken documents beside valid ones, folders, spellings of
// arguments, output formats, readers of the output that are gone.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <regex>

using namespace blackbox;

namespace {

constexpr const char* kBrokenName = "fleet/broken";

std::string good(const std::string& name) { return profile(name, {provider("p")}); }
std::string with_conditions(std::string profile,
                            const std::vector<std::pair<std::string, std::string>>& conditions) {
  std::string list;
  for (const auto& [type, status] : conditions) {
    list += (list.empty() ? R"({"type":")" : R"(,{"type":")") + type + R"(","status":")" + status +
            "\"}";
  }
  const std::string status = R"("status":{)";
  profile.insert(profile.find(status) + status.size(), R"("conditions":[)" + list + "],");
  return profile;
}
// Nothing listens there.
std::string unreachable(const std::string& name) {
  return profile(name, {provider("p", "https://127.0.0.1:1")});
}
// A ClusterProfile whose cluster is invalid.
std::string broken() { return profile("broken", {R"({"name":"p","cluster":{"server":5}})"}); }

Inventory inventory_of(const std::string& profiles) {
  return {mapping({mapped("p", "/bin/true")}), profiles};
}

// The text without durations, and without the column width that depends on them.
std::string without_times(const std::string& text) {
  static const std::regex times(R"([0-9.]+(m|µ|n)?s\b|_ms.*|durationMs.*)");
  static const std::regex spaces(" +");
  return std::regex_replace(std::regex_replace(text, times, ""), spaces, " ");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("a broken ClusterProfile does not stop the others, all commands print the same error") {
  const std::string text = good("a") + "\n---\n" + broken() + "\n---\n" + good("c");
  const Inventory inventory = inventory_of(text);
  const Outcome resolved = inventory.run("resolve", {"-o", "json"});
  CHECK_MESSAGE(resolved.exit_code == 1, describe(resolved));
  CHECK(json_at(resolved.output, "items.0.clusterProfile.name") == "a");
  CHECK(json_at(resolved.output, "items.1.clusterProfile.name") == "c");
  CHECK(json_at(resolved.output, "items.2") == "(missing)");
  CHECK(count(resolved.error_output, "execcred: error: ") == 1);
  CHECK(says(resolved, "status.accessProviders[0].cluster.server must be a string"));
  CHECK(says(resolved, "  while resolving ClusterProfile fleet/broken\n"));
  const Outcome written = inventory.run("kubeconfig");
  CHECK(written.exit_code == 1);
  CHECK(written.error_output == resolved.error_output);
  const Outcome secrets = inventory.run("resolve", {"-o", "istio-secret"});
  CHECK(secrets.exit_code == 1);
  CHECK(count(secrets.output, "kind: Secret") == 2);
  CHECK(says(secrets, resolved.error_output));
}

TEST_CASE("a document that is no valid YAML does not stop the others of its file") {
  const std::string text = good("a") + "\n---\nbroken: [\n---\n" + good("b") +
                           "\n---\nname: 'no end\n---\nx: {\n...\n%YAML 1.1\n---\n" + good("c");
  const Inventory inventory = inventory_of(text);
  const Outcome resolved = inventory.run("resolve", {"-o", "json"});
  CHECK_MESSAGE(resolved.exit_code == 1, describe(resolved));
  CHECK(json_at(resolved.output, "items.0.clusterProfile.name") == "a");
  CHECK(json_at(resolved.output, "items.1.clusterProfile.name") == "b");
  CHECK(json_at(resolved.output, "items.2.clusterProfile.name") == "c");
  CHECK(count(resolved.error_output, "execcred: error: the document is no valid YAML") == 3);
  // Line numbers are those of the file, not of the document.
  for (const std::string line : {" at line 4,", " at line 8,", " at line 10,"}) {
    CHECK_MESSAGE(says(resolved, line), (line + describe(resolved)));
  }
  CHECK(inventory.run("kubeconfig").error_output == resolved.error_output);
  const Outcome linted = run({.arguments = {kCli, "lint", "--no-files", "-o", "json",
                                            inventory.sandbox().at("profiles.yaml")}});
  CHECK(json_at(linted.output, "errors") == "3");
}

TEST_CASE("with --name, another ClusterProfile that is broken is a warning") {
  const std::string sibling = R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1",)"
                              R"("kind":"ClusterProfile","metadata":{"name":"UPPER"}})";
  const std::string text = sibling + "\n---\n" + good("a") + "\n---\n" + broken();
  const Inventory inventory(
      mapping({mapped("p", "/bin/sh", R"(,"args":["-c",)" + json_string(printing("t0ken")) + "]")}),
      text);
  for (const std::string subcommand : {"resolve", "get"}) {
    CAPTURE(subcommand);
    const Outcome outcome = inventory.run(subcommand, {"--name=a"});
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.output != "");
    CHECK(outcome.error_output.starts_with("execcred: warning: metadata.name 'UPPER' is no "));
    CHECK(count(outcome.error_output, "execcred: ") == 1);
  }
  // Without it, a document that cannot be read is an error, and the only ClusterProfile is used.
  const Inventory two(
      mapping({mapped("p", "/bin/sh", R"(,"args":["-c",)" + json_string(printing("t0ken")) + "]")}),
      sibling + "\n---\n" + good("a"));
  const Outcome only = two.run("get", {"-o", "token"});
  CHECK(only.exit_code == 1);
  CHECK(only.output == "t0ken\n");
  CHECK(only.error_output.starts_with("execcred: error: metadata.name 'UPPER' is no "));
  // If the broken one itself is named, it is an error.
  const Outcome named = inventory.run("get", {"--name", kBrokenName});
  CHECK(named.exit_code == 2);
  CHECK(named.output == "");
  CHECK(says(named, "execcred: error: status.accessProviders[0].cluster.server must be a string"));
  const Outcome missing = inventory.run("resolve", {"--name=none"});
  CHECK(missing.exit_code == 2);
  CHECK(missing.output == "");
  CHECK(says(missing, "holds no readable ClusterProfile named 'none'\n"));
}

TEST_CASE("-n and -l choose among the ClusterProfiles of files, also among broken ones") {
  std::string labelled = good("b");
  labelled.replace(labelled.find("\"fleet\""), 7, R"("other","labels":{"tier":"gold"})");
  const Inventory inventory = inventory_of(good("a") + "\n---\n" + labelled + "\n---\n" + broken());
  const auto names = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"-oname"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = inventory.run("resolve", arguments);
    return std::to_string(outcome.exit_code) + " " + outcome.output;
  };
  CHECK(names({"-nfleet"}) == "1 fleet/a\n");
  CHECK(names({"-n", "other"}) == "0 other/b\n");
  CHECK(names({"-ltier=gold"}) == "0 other/b\n");
  CHECK(names({"-l", "tier!=gold,x"}) == "2 ");
  CHECK(inventory.run("kubeconfig", {"-nother"}).output.find("fleet/a") == std::string::npos);
  const std::string file = inventory.sandbox().at("profiles.yaml");
  const Outcome linted = run({.arguments = {kCli, "lint", "--no-files", "-nfleet", file}});
  CHECK_MESSAGE(linted.exit_code == 1, describe(linted));
  CHECK(linted.output.find("cluster.server: must be a string, not a number\n") !=
        std::string::npos);
  CHECK(run({.arguments = {kCli, "lint", "--no-files", "-ltier=gold", file}}).exit_code == 0);
}

TEST_CASE("-o yaml, name and wide: the same items as -o json") {
  const Inventory inventory = inventory_of(good("a") + "\n---\n" + good("c"));
  const auto text = [&](const std::string& format) {
    return inventory.run("resolve", {"-o", format}).output;
  };
  CHECK(text("name") == "fleet/a\nfleet/c\n");
  CHECK(text("yaml").starts_with("items:\n- clusterProfile:\n    namespace: fleet\n    name: a\n"));
  CHECK(text("wide").starts_with("CLUSTER  PROVIDER  SOURCE"));
  CHECK(text("wide").find("\nfleet/c  p         status.accessProviders[0]  https://10.1.2.3:6443  "
                          "/bin/true  -\n") != std::string::npos);
}

TEST_CASE("-o: each command takes its formats attached, after = and after a space") {
  const Inventory inventory(
      mapping({mapped("p", "/bin/sh",
                      R"(,"args":["-c",)" + json_string(printing(jwt_for(3600))) + "]")}),
      unreachable("a") + "\n---\n" + unreachable("c"));
  const Sandbox cache;
  const std::vector<std::string> source = {"-m" + inventory.sandbox().at("mapping.json"), "-f",
                                           inventory.sandbox().at("profiles.yaml")};
  struct Case {
    std::vector<std::string> command;
    std::vector<std::string> formats;
  };
  for (const Case& row : std::vector<Case>{
           {{"resolve"}, {"yaml", "json", "name", "wide", "text"}},
           {{"get", "--all"}, {"yaml", "json", "name", "wide", "text"}},
           {{"get", "--name=a"}, {"exec-credential", "token", "header"}},
           {{"doctor", "--no-request", "--timeout=5s"}, {"yaml", "json", "name", "wide", "text"}},
           {{"grant", "--can=get/pods"}, {"yaml", "text", "json"}},
           {{"lint", "--no-files", source.back()},
            {"yaml", "json", "name", "wide", "text", "sarif"}},
           {{"cache", "list"}, {"yaml", "json", "name", "wide", "text"}},
           {{"version"}, {"json", "text"}}}) {
    const bool reads_inventory = row.command.front() == "resolve" || row.command.front() == "get" ||
                                 row.command.front() == "doctor" || row.command.front() == "grant";
    for (const std::string& format : row.formats) {
      std::vector<std::string> outputs;
      for (const std::vector<std::string>& spelling : std::vector<std::vector<std::string>>{
               {"-o", format}, {"-o" + format}, {"-o=" + format}, {"--output=" + format}}) {
        Command command{.arguments = {kCli},
                        .environment = {"XDG_CACHE_HOME=" + cache.path().native()}};
        const auto add = [&command](const std::vector<std::string>& more) {
          command.arguments.insert(command.arguments.end(), more.begin(), more.end());
        };
        add(row.command);
        if (reads_inventory) add(source);
        add(spelling);
        const Outcome outcome = run(command);
        CHECK_MESSAGE(outcome.exit_code != 2, describe(outcome));
        outputs.push_back(without_times(outcome.output));
      }
      CAPTURE(format);
      CHECK((outputs.front() != "" || row.command.front() == "cache" || format == "name"));
      for (const std::string& output : outputs) CHECK(output == outputs.front());
    }
  }
}

// script(1) gives the command a terminal.
TEST_CASE("colour: on a terminal, unless NO_COLOR, TERM=dumb or --color=never is set") {
  const Inventory inventory(mapping({mapped("p", "/no/such/plugin")}),
                            unreachable("a") + "\n---\n" + unreachable("c"));
  const std::string source = " -m " + inventory.sandbox().at("mapping.json") + " -f " +
                             inventory.sandbox().at("profiles.yaml");
  for (const std::string& line :
       {"doctor --no-request" + source, "get --all" + source,
        "lint --no-files " +
            inventory.sandbox().write("m.json", mapping({mapped("p", "relative")}))}) {
    CAPTURE(line);
    const auto is_coloured = [&line](const std::string& option, const std::string& variable) {
      const Outcome outcome =
          run({.arguments = {"/usr/bin/script", "-qec", kCli + " " + line + option, "/dev/null"},
               .environment = {"PATH=/usr/bin:/bin", "TERM=xterm", variable}});
      CHECK_MESSAGE(std::regex_search(outcome.output, std::regex("fail|error")), describe(outcome));
      return outcome.output.find('\x1b') != std::string::npos;
    };
    CHECK(is_coloured("", "NO_COLOR="));
    CHECK_FALSE(is_coloured("", "NO_COLOR=1"));
    CHECK_FALSE(is_coloured("", "TERM=dumb"));
    CHECK_FALSE(is_coloured(" --color=never", "NO_COLOR="));
    CHECK(is_coloured(" --color=always", "NO_COLOR=1"));
    CHECK_FALSE(is_coloured(" --color=auto", "NO_COLOR=1"));
  }
}

TEST_CASE(
    "kubeconfig: --only-healthy leaves out those whose manager says that they are unhealthy") {
  const std::string healthy = "ControlPlaneHealthy";
  const Inventory inventory(
      mapping({mapped("p", "/bin/true")}),
      good("silent") + "\n---\n" + with_conditions(good("well"), {{healthy, "True"}}) + "\n---\n" +
          with_conditions(good("unknown"), {{healthy, "Unknown"}}) + "\n---\n" +
          with_conditions(good("ill"), {{healthy, "False"}}) + "\n---\n" +
          with_conditions(good("gone"), {{healthy, "True"}, {"Joined", "False"}}));
  const Outcome outcome = inventory.run("kubeconfig", {"--only-healthy"});
  CAPTURE(outcome.error_output);
  CHECK(outcome.exit_code == 0);
  for (const std::string name : {"silent", "well", "unknown", "ill", "gone"}) {
    const bool is_left_out = name == "ill" || name == "gone";
    CHECK((outcome.output.find("/" + name) == std::string::npos) == is_left_out);
  }
}

TEST_CASE("lint: behind a broken JSON document, findings have their document and line") {
  const Inventory inventory = inventory_of("{\"a\" 1}\n" + good("a") + "\n" + broken() + "\n");
  const Outcome linted =
      run({.arguments = {kCli, "lint", "--no-files", inventory.sandbox().at("profiles.yaml")}});
  CHECK(count(linted.output, ": error: ") == 2);
  CHECK_MESSAGE(linted.output.find("profiles.yaml:3:") != std::string::npos, linted.output);
  CHECK(linted.output.find("document[2].status") != std::string::npos);
}

TEST_CASE("a broken JSON document takes no other of its file with it, also without ---") {
  std::string twice = good("bad");
  twice.insert(twice.find("\"name\""), R"("name":"x",)");
  std::string deep = good("bad");
  deep.insert(1, "\"x\":" + std::string(40, '[') + std::string(40, ']') + ",");
  for (const std::string& text :
       {good("a") + "\n" + twice + "\n" + good("c") + "\n", good("a") + deep + good("c"),
        good("a") + "\n" + good("c") + "\n{\"a\":\n"}) {
    CAPTURE(text);
    const Inventory inventory = inventory_of(text);
    const Outcome resolved = inventory.run("resolve", {"-o", "json"});
    CHECK_MESSAGE(resolved.exit_code == 1, describe(resolved));
    CHECK(json_at(resolved.output, "items.0.clusterProfile.name") == "a");
    CHECK(json_at(resolved.output, "items.1.clusterProfile.name") == "c");
    CHECK(count(resolved.error_output, "execcred: error: ") == 1);
    const Outcome named = inventory.run("resolve", {"--name", "c"});
    CHECK_MESSAGE(named.exit_code == 0, describe(named));
    CHECK(inventory.run("kubeconfig").exit_code == 1);
    const Outcome linted = run({.arguments = {kCli, "lint", "--no-files", "-o", "json",
                                              inventory.sandbox().at("profiles.yaml")}});
    CHECK(json_at(linted.output, "errors") == "1");
  }
}

TEST_CASE("--name: a full name chooses its ClusterProfile alone, also one without a namespace") {
  std::string bare = good("c1");
  const std::string name_space = R"("namespace":"fleet",)";
  const std::string other = R"(,"namespace":"fleet")";
  for (const std::string& part : {name_space, other}) {
    if (const auto at = bare.find(part); at != std::string::npos) bare.erase(at, part.size());
  }
  REQUIRE(bare.find("namespace") == std::string::npos);
  for (const std::string& text : {bare + "\n---\n" + good("c1") + "\n---\n" + good("c2"),
                                  good("c2") + "\n---\n" + good("c1") + "\n---\n" + bare}) {
    const Inventory inventory(
        mapping({mapped("p", "/bin/sh", R"(,"args":["-c",)" + json_string(printing("t")) + "]")}),
        text);
    for (const std::string name : {"c1", "fleet/c1", "c2", "fleet/c2"}) {
      CAPTURE(name);
      const std::string full = name == "c2" ? "fleet/c2" : name;
      const Outcome got = inventory.run("get", {"--name", name, "-o", "json"});
      CHECK_MESSAGE(got.exit_code == 0, describe(got));
      CHECK(json_at(got.output, "clusterProfile") == full);
      CHECK(inventory.run("resolve", {"--name", name, "-o", "name"}).output == full + "\n");
      CHECK(inventory.run("doctor", {"--name", name, "-o", "name", "--no-request"}).output ==
            full + "\n");
    }
    CHECK(count(inventory.run("resolve", {"--name=c1,c2", "-o", "name"}).output, "\n") == 2);
    CHECK(count(inventory.run("resolve", {"--name=c1,fleet/c1", "-o", "name"}).output, "\n") == 2);
  }
}

TEST_CASE("get -o json prints one document, also for no ClusterProfile with --allow-empty") {
  const Inventory inventory = inventory_of(good("a"));
  const Outcome none = inventory.run("get", {"--name=none", "--allow-empty", "-o", "json"});
  CHECK_MESSAGE(none.exit_code == 0, describe(none));
  CHECK(none.output == "{}\n");
}

// PEM whose END line is missing.
std::string unreadable_authority() {
  return provider("p", "https://h",
                  R"(,"certificate-authority-data":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==")");
}

TEST_CASE("kubeconfig: without a usable ClusterProfile the file stays as it was") {
  const Sandbox sandbox;
  const std::string mapping_path =
      sandbox.write("mapping.json", mapping({mapped("p", "/bin/true")}));
  std::filesystem::create_directory(sandbox.at("empty"));
  sandbox.write("sick/a.yaml", with_conditions(good("a"), {{"ControlPlaneHealthy", "False"}}));
  struct Case {
    std::string source;
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Case& row : std::vector<Case>{
           {sandbox.at("empty"), {}, "holds no ClusterProfile"},
           {sandbox.write("broken.yaml", broken()), {}, "cluster.server must be a string"},
           {sandbox.write("yaml.yaml", "a: ["), {}, "no valid YAML"},
           {sandbox.write("http.yaml", profile("c", {provider("p", "http://h")})),
            {},
            "cluster.server"},
           {sandbox.write("ca.yaml", profile("c", {unreadable_authority()})), {}, "no END line"},
           {sandbox.at("sick"), {"--only-healthy"}, "holds no healthy ClusterProfile"}}) {
    CAPTURE(row.source);
    const std::string file = sandbox.write("fleet.kubeconfig", "as before\n");
    Command command{
        .arguments = {kCli, "kubeconfig", "-m", mapping_path, "-f", row.source, "-o", file}};
    command.arguments.insert(command.arguments.end(), row.arguments.begin(), row.arguments.end());
    CHECK_REFUSAL(run(command), 2, row.message);
    CHECK(read_text(file) == "as before\n");
    command.arguments.emplace_back("--allow-empty");
    const Outcome empty = run(command);
    CHECK((empty.exit_code == 0 || says(empty, row.message)));
    CHECK(read_text(file).find("clusters: []") != std::string::npos);
  }
}

TEST_CASE("kubeconfig: a refused ClusterProfile does not count, and the other is current") {
  const Inventory inventory(
      mapping({mapped("p", "/bin/true")}),
      profile("bad", {unreadable_authority()}) + "\n---\n" + profile("good", {provider("p")}));
  const std::string file = inventory.sandbox().at("fleet.kubeconfig");
  const Outcome outcome = inventory.run("kubeconfig", {"-o", file});
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(says(outcome, "no END line"));
  CHECK(outcome.output.find("1 cluster") != std::string::npos);
  CHECK(read_text(file).find("current-context: fleet/good\n") != std::string::npos);
}

TEST_CASE("folders: resolve and lint read the same files of a folder") {
  const Sandbox sandbox;
  const std::string mapping_path =
      sandbox.write("mapping.json", mapping({mapped("p", "/bin/true")}));
  const std::string folder = sandbox.at("folder");
  sandbox.write("folder/a.yaml", good("a"));
  sandbox.write("folder/inner/b.yml", good("b"));
  sandbox.write("folder/inner/deeper/c.json", good("c"));
  sandbox.write("folder/.hidden/no.yaml", good("hidden"));
  sandbox.write("folder/.d.yaml", good("d"));
  sandbox.write("folder/readme.md", good("readme"));
  sandbox.write("elsewhere/no.yaml", good("linked"));
  std::filesystem::create_directory_symlink(sandbox.at("elsewhere"), sandbox.at("folder/linked"));
  std::filesystem::create_directory_symlink(folder, sandbox.at("folder/inner/loop"));
  sandbox.write("folder/1/2/3/4/5/6/7/8/e.yaml", good("e"));
  const auto resolve = [&] {
    return run({.arguments = {kCli, "resolve", "-m", mapping_path, "-f", folder, "-o", "json"}});
  };
  const auto lint = [&] { return run({.arguments = {kCli, "lint", "--no-files", folder}}); };
  Outcome resolved = resolve();
  CHECK_MESSAGE(resolved.exit_code == 0, describe(resolved));
  std::string names;
  for (int i = 0; i < 6; ++i) {
    names += json_at(resolved.output, "items." + std::to_string(i) + ".clusterProfile.name") + " ";
  }
  CHECK(names == "d a e b c (missing) ");
  CHECK(lint().output.ends_with("in 5 files\n"));

  sandbox.write("folder/1/2/3/4/5/6/7/8/9/f.yaml", good("f"));
  const std::string deep = sandbox.at("folder/1/2/3/4/5/6/7/8");
  resolved = resolve();
  CHECK(resolved.exit_code == 1);
  CHECK(json_at(resolved.output, "items.5") == "(missing)");
  CHECK(says(resolved,
             "'" + deep + "' holds folders that are nested too deeply, which are skipped\n"));
  CHECK(lint().output.find(
            deep + ": warning: holds folders that are nested too deeply, which are skipped\n") !=
        std::string::npos);
  std::filesystem::remove_all(sandbox.at("folder/1"));

  if (geteuid() == 0) {
    MESSAGE("a folder that cannot be read is left out: root reads all");
    return;
  }
  std::filesystem::permissions(sandbox.at("folder/inner"), std::filesystem::perms::none);
  resolved = resolve();
  const Outcome linted = lint();
  std::filesystem::permissions(sandbox.at("folder/inner"), std::filesystem::perms::owner_all);
  CHECK(resolved.exit_code == 1);
  CHECK(says(resolved, "cannot read '" + sandbox.at("folder/inner") + "': Permission denied\n"));
  CHECK(linted.output.find("inner: error: cannot be read: Permission denied\n") !=
        std::string::npos);
}

TEST_CASE("lint: a folder without manifests is an error, unless it may be empty") {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox.at("empty"));
  const Outcome refused = run({.arguments = {kCli, "lint", sandbox.at("empty")}});
  CHECK(refused.exit_code == 2);
  CHECK(refused.output.find("holds no .yaml, .yml or .json file\n") != std::string::npos);
  const Outcome allowed = run({.arguments = {kCli, "lint", "--allow-empty", sandbox.at("empty")}});
  CHECK_MESSAGE(allowed.exit_code == 0, describe(allowed));
}

TEST_CASE("arguments: a value may be attached to an option of one letter") {
  const Sandbox sandbox;
  const std::string mapping_path = sandbox.write("m", mapping({mapped("p", "/bin/true")}));
  const std::string profiles = sandbox.write("p=q", good("a"));
  const Outcome outcome =
      run({.arguments = {kCli, "resolve", "-m" + mapping_path, "-f" + profiles, "-ojson"}});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(json_at(outcome.output, "items.0.clusterProfile.name") == "a");
  const Outcome wrong =
      run({.arguments = {kCli, "resolve", "-m" + mapping_path, "-f" + profiles, "-oxml"}});
  CHECK_REFUSAL(wrong, 2, "--output: 'xml' is no output format");
  CHECK_REFUSAL(run({.arguments = {kCli, "resolve", "-hx"}}), 2, "unknown option '-x'");
}

TEST_CASE("arguments: -- ends the options, for every command") {
  const Sandbox sandbox;
  const std::string mapping_path = sandbox.write("m", mapping({mapped("p", "/bin/true")}));
  const std::string profiles = sandbox.write("p", good("a"));
  Command command{.arguments = {kCli, "resolve", "-m", mapping_path, "-f", profiles, "--"}};
  CHECK(run(command).exit_code == 0);
  command.arguments.emplace_back("--help");
  CHECK_REFUSAL(run(command), 2, "an argument is no option");
  const Outcome linted = run({.arguments = {kCli, "lint", "--no-files", "--", "--from-hub"}});
  CHECK(linted.exit_code == 2);
  CHECK(linted.output.find("cannot read '--from-hub': No such file or directory") !=
        std::string::npos);
  const Outcome listed = run({.arguments = {kCli, "cache", "--", "list"},
                              .environment = {"XDG_CACHE_HOME=" + sandbox.at("none")}});
  CHECK_MESSAGE(listed.exit_code == 0, describe(listed));
  const Outcome migrated = run({.arguments = {kCli, "migrate", "--", "-x"}});
  CHECK_FAILURE(migrated, 2, "cannot read '-x': No such file or directory");
  CHECK(says(migrated, "cannot read '-x'"));
  CHECK_REFUSAL(run({.arguments = {kCli, "install", "--", "--help"}}), 2,
                "cannot open the directory '--help'");
  // Plugins refuse "--": nobody types their arguments, and a ClusterProfile may append to them.
  CHECK_REFUSAL(run({.arguments = {kTokenFile, "--", "--token-file=/x"}}), 2,
                "argument 1 is no option");
}

TEST_CASE("arguments: a file option takes - for standard output") {
  const Sandbox sandbox;
  const Inventory inventory = inventory_of(good("a"));
  const Outcome written = inventory.run("kubeconfig");
  const Outcome dash = inventory.run("kubeconfig", {"-o", "-"});
  CHECK_MESSAGE(dash.exit_code == 0, describe(dash));
  CHECK(dash.output == written.output);
  const std::string kubeconfig = sandbox.write("k", written.output);
  const Outcome migrated = run({.arguments = {kCli, "migrate", kubeconfig}});
  const Outcome to_dash = run({.arguments = {kCli, "migrate", kubeconfig, "-o-"}});
  CHECK(to_dash.exit_code == 0);
  CHECK(to_dash.output == migrated.output);
  CHECK(to_dash.output != "");
  CHECK_FALSE(std::filesystem::exists("-"));
}

TEST_CASE("kubeconfig -o: a killed run's leftovers for the file are removed, other files are not") {
  const Inventory inventory = inventory_of(good("a"));
  const Sandbox& sandbox = inventory.sandbox();
  const std::string file = sandbox.at("kube/config");
  const std::string left_over = sandbox.write("kube/.config.execcred-Ab12Cd", "cut");
  const std::vector<std::string> others = {sandbox.write("kube/.config.backup", "mine"),
                                           sandbox.write("kube/.other.execcred-Ab12Cd", "mine")};
  CHECK(inventory.run("kubeconfig", {"-o", file}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(left_over));
  for (const std::string& other : others) CHECK(read_text(other) == "mine");
}

TEST_CASE("kubeconfig --dry-run and --diff: the file stays as it is") {
  const Inventory inventory = inventory_of(good("a"));
  const std::string file = inventory.sandbox().at("fleet.kubeconfig");
  const Outcome dry = inventory.run("kubeconfig", {"-o", file, "--dry-run"});
  CHECK_MESSAGE(dry.exit_code == 0, describe(dry));
  CHECK(dry.output == "'" + file + "' would be created, with 1 cluster\n");
  const Outcome diff = inventory.run("kubeconfig", {"-o", file, "--diff"});
  CHECK_MESSAGE(diff.exit_code == 0, describe(diff));
  CHECK(diff.output.starts_with("--- " + file + "\n+++ " + file + " (new)\n@@ -0,0 +1,"));
  CHECK(diff.output.find("name: fleet/a\n") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(inventory.run("kubeconfig", {"-o", file}).exit_code == 0);
  CHECK(inventory.run("kubeconfig", {"-o", file, "--diff"}).output == "");
  CHECK(inventory.run("kubeconfig", {"-o", file, "--dry-run"}).output ==
        "'" + file + "' would be unchanged, with 1 cluster\n");
  CHECK_REFUSAL(inventory.run("kubeconfig", {"--diff"}), 2,
                "--diff is given without a file to replace");
}

TEST_CASE(
    "arguments: --diff says how many lines of the old file cannot be read, and none of them") {
  const Inventory inventory(mapping({mapped("p", "/bin/true")}), good("a"));
  const std::string file = inventory.sandbox().write("old", "{\nS3CRET\n]: [\n");
  const Outcome diff = inventory.run("kubeconfig", {"-o", file, "--diff"});
  CHECK_MESSAGE(diff.exit_code == 0, describe(diff));
  CHECK(diff.output.find("\n-(3 lines that are no YAML)\n") != std::string::npos);
  CHECK(diff.output.find("S3CRET") == std::string::npos);
  CHECK(inventory.run("kubeconfig", {"-o", file, "--dry-run"}).output ==
        "'" + file + "' would be replaced, with 1 cluster\n");
}

TEST_CASE("--diff: secrets of the old and the new file are not shown") {
  const Sandbox sandbox;
  remember_secret("S3cretCanary");
  const std::string text =
      "kind: Config\napiVersion: v1\nusers:\n- name: a\n  user: {token: S3cretCanary}\n"
      "- name: b\n  user: {password: S3cretCanary, username: u, client-key-data: S3cretCanary}\n"
      "- name: eks\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n"
      "      command: aws\n      args: [--region, eu-west-1, eks, get-token, --cluster-name, p]\n"
      "      env: [{name: AWS_SECRET_ACCESS_KEY, value: S3cretCanary}]\n"
      "- name: other\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
      "      command: other\n      args: [--user=bob:S3cretCanary, -p, S3cretCanary]\n"
      "      env: [{name: DB_PASS, value: S3cretCanary}]\n";
  const std::string file = sandbox.write("k.yaml", text);
  const Outcome outcome = run({.arguments = {kCli, "migrate", "--diff", file}});
  CHECK_MESSAGE(outcome.output.find("\n-      command: aws\n") != std::string::npos,
                describe(outcome));
  CHECK((outcome.output + outcome.error_output).find("S3cretCanary") == std::string::npos);
  CHECK(read_text(file) == text);
  // Of a file that is no valid document, only the number of lines is shown.
  const std::string broken = sandbox.write("broken", "token: S3cretCanary\n  x: [\n");
  const Outcome over = run({.arguments = {kCli, "migrate", "--diff", file, "-o", broken}});
  CHECK(over.output.find("\n-(2 lines that are no YAML)\n") != std::string::npos);
  CHECK(over.output.find("S3cretCanary") == std::string::npos);
}

TEST_CASE("kubectl-execcred: help says kubectl execcred") {
  const std::string program = EXECCRED_BIN "/kubectl-execcred";
  const Outcome help = run({.arguments = {program, "get", "--help"}});
  CHECK(help.output.starts_with("Usage: kubectl execcred get [OPTION]...\n"));
  CHECK(help.output.find("\n    kubectl execcred get -m ") != std::string::npos);
  CHECK(says(run({.arguments = {program, "gte"}}), "kubectl execcred --help lists the commands"));
  CHECK(run({.arguments = {program, "--version"}}).output.starts_with("execcred "));
}

TEST_CASE("arguments: a mistyped command or option gets a suggestion") {
  struct Case {
    std::vector<std::string> arguments;
    std::string hint;
  };
  for (const Case& row : std::vector<Case>{
           {{"resovle"}, "did you mean resolve? execcred --help lists the commands"},
           {{"kubconfig"}, "did you mean kubeconfig? execcred --help lists the commands"},
           {{"mig"}, "did you mean migrate? execcred --help lists the commands"},
           {{"frobnicate"}, "execcred --help lists the commands"},
           {{"resolve", "--ouput=json"}, "did you mean --output? --help lists the options"},
           {{"get", "--al"}, "did you mean --all? --help lists the options"},
           {{"kubeconfig", "--only-health"},
            "did you mean --only-healthy? --help lists the options"},
           {{"get", "--clusterprofile-provider-fiel", "x"},
            "did you mean --clusterprofile-provider-file? --help lists the options"},
           {{"lint", "--frobnicate"}, "--help lists the options"}}) {
    std::vector<std::string> arguments = {kCli};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Outcome outcome = run({.arguments = arguments});
    CHECK_REFUSAL(outcome, 2, row.arguments.size() == 1 ? "is no command" : "unknown option");
    CHECK_MESSAGE(outcome.error_output.ends_with("\n  hint: " + row.hint + "\n"),
                  describe(outcome));
  }
}

TEST_CASE("a missing reader of a table or a list is no error, of a credential it is an error") {
  const Sandbox sandbox;
  std::string many;
  for (int i = 0; i < 200; ++i) many += good("c" + std::to_string(i)) + "\n---\n";
  const Inventory inventory(
      mapping({mapped("p", "/bin/sh", R"(,"args":["-c",)" + json_string(printing("t0ken")) + "]")}),
      many);
  const auto without_reader = [](Command command) {
    Pipe gone;
    gone.close_read_end();
    command.before_exec = [&gone] { replace_descriptor(1, gone.write_end()); };
    return run(command);
  };
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"resolve"}, {"resolve", "-ojson"}, {"kubeconfig"}}) {
    const Outcome outcome = without_reader(
        inventory.command(arguments.front(), {arguments.begin() + 1, arguments.end()}));
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.error_output == "");
  }
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"lint", "--no-files", inventory.sandbox().at("profiles.yaml")},
           {"--help"},
           {"get", "--help"}}) {
    Command command{.arguments = {kCli}};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    const Outcome outcome = without_reader(command);
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.error_output == "");
  }
  const Outcome got = without_reader(inventory.command("get", {"--name=c1"}));
  CHECK_MESSAGE(got.exit_code == 70, describe(got));
  CHECK(says(got, "execcred: error: cannot write to standard output: its reader is gone"));
}

TEST_SUITE_END();
