// SPDX-License-Identifier: Apache-2.0
// Where ClusterProfiles are read from: a file, a folder, standard input; one or many documents.
#include "inventory.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

using namespace blackbox;

namespace {

std::string one(const std::string& name) { return profile(name, {provider("p")}); }

std::string without_head(const std::string& name) {
  std::string text = one(name);
  return "{" + text.substr(text.find("\"metadata\""));
}

std::string list(const std::string& kind, const std::string& version, const std::string& items) {
  return R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(","items":[)" + items + "]}";
}

constexpr const char* kGroupVersion = "multicluster.x-k8s.io/v1alpha1";

class Files {
 public:
  Files() { mapping_ = sandbox_.write("mapping.json", mapping({mapped("p", "/bin/true")})); }

  Command command(const std::string& source, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {kCli, "resolve", "-m", mapping_, "-f", source});
    return {.arguments = std::move(arguments), .environment = {}};
  }
  // The names of the ClusterProfiles that were resolved, in their order; or the failure.
  std::string names(const std::string& source, std::vector<std::string> arguments = {},
                    std::optional<std::string> input = std::nullopt) const {
    Command resolving = command(source, std::move(arguments));
    resolving.input = std::move(input);
    const Outcome outcome = run(resolving);
    if (outcome.exit_code != 0) return describe(outcome);
    std::string names;
    for (std::size_t at = outcome.output.find("ClusterProfile "); at != std::string::npos;
         at = outcome.output.find("ClusterProfile ", at + 1)) {
      if (at > 0 && outcome.output[at - 1] != '\n') continue;
      const std::size_t end = outcome.output.find('\n', at);
      const std::string line = outcome.output.substr(at, end - at);
      names += (names.empty() ? "" : " ") + line.substr(line.rfind(' ') + 1);
    }
    return names;
  }
  const Sandbox& sandbox() const { return sandbox_; }

 private:
  Sandbox sandbox_;
  std::string mapping_;
};

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("inventory: one or many documents, lists of both kinds, other kinds are skipped") {
  const Files files;
  const std::string other = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})";
  struct Case {
    std::string text;
    std::string names;
  };
  for (const Case& row : std::vector<Case>{
           {one("a"), "fleet/a"},
           {"---\n" + one("a") + "\n---\n" + one("b") + "\n...\n", "fleet/a fleet/b"},
           {"---\n---\n" + one("a") + "\n---\n# comment\n", "fleet/a"},
           {other + "\n---\n" + one("a"), "fleet/a"},
           {list("List", "v1", one("b") + "," + other + "," + one("a")), "fleet/b fleet/a"},
           {list("ClusterProfileList", kGroupVersion, one("b") + "," + one("a")),
            "fleet/b fleet/a"},
           // Items of an API server's list have neither kind nor apiVersion.
           {list("ClusterProfileList", kGroupVersion, without_head("b") + "," + without_head("a")),
            "fleet/b fleet/a"},
           {list("List", "v1", list("List", "v1", one("a"))), "fleet/a"},
           {one("a") + "\n---\n" + list("List", "v1", one("b")), "fleet/a fleet/b"},
       }) {
    CAPTURE(row.text);
    CHECK(files.names(files.sandbox().write("p.yaml", row.text)) == row.names);
    CHECK(files.names("-", {}, row.text) == row.names);
  }
}

TEST_CASE("inventory: a list's item beyond the limits is a problem of its own in every command") {
  const auto too_deep = [](std::size_t depth) {
    std::string bad = one("bad");
    bad.insert(bad.find("\"server\""),
               "\"extensions\":[" +
                   extension("x", std::string(depth, '[') + std::string(depth, ']')) + "],");
    return bad;
  };
  const Sandbox programs;
  const std::string program = programs.script("plugin", printing("t0ken"));
  struct Case {
    std::string command;
    std::vector<std::string> arguments;
  };
  const std::string yaml =
      "apiVersion: v1\nkind: List\nitems:\n- " + too_deep(90) + "\n- " + one("good") + "\n";
  for (const std::string& profiles :
       {list("List", "v1", too_deep(9'990) + ",\n" + one("good")),
        list("ClusterProfileList", kGroupVersion, too_deep(9'990) + ",\n" + one("good")), yaml}) {
    const Inventory inventory(mapping({mapped("p", program)}), profiles);
    std::filesystem::create_directory(inventory.sandbox().path() / "out");
    for (const Case& row :
         std::vector<Case>{{"get", {"--all", "-o", "json"}},
                           {"doctor", {"--no-request", "--timeout=1s", "-o", "json"}},
                           {"kubeconfig", {}},
                           {"resolve", {}},
                           {"sync", {"--once", "--to-dir=" + inventory.sandbox().at("out")}}}) {
      CAPTURE(row.command);
      const Outcome outcome = inventory.run(row.command, row.arguments);
      const std::string text = outcome.output + outcome.error_output;
      CHECK_MESSAGE(outcome.exit_code != 0, describe(outcome));
      const bool is_named = text.find("fleet/bad") != std::string::npos ||
                            text.find(R"("name": "bad")") != std::string::npos;
      CHECK_MESSAGE(is_named, describe(outcome));
      CHECK_MESSAGE(text.find("nested deeper than 32 levels") != std::string::npos,
                    describe(outcome));
      CHECK_MESSAGE(text.find("good") != std::string::npos, describe(outcome));
    }
    CHECK(read_text(inventory.sandbox().path() / "out/fleet/good/token") == "t0ken");
    const Outcome lint = run({.arguments = {kCli, "lint", inventory.sandbox().at("profiles.yaml")},
                              .environment = {"PATH=/usr/bin:/bin"}});
    CHECK(lint.exit_code == 1);
    CHECK_MESSAGE(lint.output.find("items[0]: 'fleet/bad': the object is nested deeper than 32 "
                                   "levels") != std::string::npos,
                  describe(lint));
    CHECK_MESSAGE(lint.output.find("1 error, ") != std::string::npos, describe(lint));
  }
}

TEST_CASE("inventory: a folder's manifests in the order of their names, then its subfolders") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  sandbox.write("folder/20.yaml", one("c"));
  sandbox.write("folder/10.json", one("d"));
  sandbox.write("folder/30.yml", one("b") + "\n---\n" + one("a"));
  sandbox.write("folder/README.md", "no profile");
  sandbox.write("folder/40.yaml.bak", "no profile: [");
  sandbox.write("folder/deep/50.yaml", one("deep"));
  std::filesystem::create_directory(sandbox.at("folder/directory.yaml"));
  const std::string all = "fleet/d fleet/c fleet/b fleet/a fleet/deep";
  CHECK(files.names(sandbox.at("folder")) == all);
  CHECK(files.names(sandbox.at("folder/")) == all);
  CHECK(files.names(sandbox.at("folder"), {"--name=a"}) == "fleet/a");
  sandbox.write("folder/15.yaml", "providers: []\n---\nresources: [a.yaml]\n");
  CHECK(files.names(sandbox.at("folder")) == all);
  // A file that is named itself must be a valid one.
  const Outcome named = run(files.command(sandbox.at("folder/15.yaml")));
  CHECK(named.exit_code == 2);
  CHECK(named.output == "");
  CHECK(says(named, "execcred: error: kind is missing\n"));
}

TEST_CASE("inventory: a kubeconfig has the other ClusterProfiles if a folder has an invalid file") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  sandbox.write("folder/a.yaml", one("a"));
  sandbox.write("folder/b.yaml", "broken: [");
  sandbox.write("folder/c.yaml", one("c"));
  Command command = files.command(sandbox.at("folder"));
  command.arguments[1] = "kubeconfig";
  const Outcome outcome = run(command);
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(says(outcome, "b.yaml"));
  for (const std::string context : {"fleet/a", "fleet/c"}) {
    CHECK(outcome.output.find(context) != std::string::npos);
  }
  command.arguments.emplace_back("--strict");
  CHECK_FAILURE(run(command), 1, "the document is no valid YAML (did not find expected node");
}

TEST_CASE("inventory: a ClusterProfile without kind in a folder is reported, not skipped") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  sandbox.write("folder/a.yaml", one("a"));
  std::string kindless = one("b");
  kindless.replace(kindless.find("kind"), 4, "Kind");
  sandbox.write("folder/b.yaml", kindless);
  sandbox.write("folder/values.yaml", "replicas: 3\n");
  Command command = files.command(sandbox.at("folder"));
  command.arguments[1] = "kubeconfig";
  const Outcome outcome = run(command);
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(says(outcome, "b.yaml"));
  CHECK_FALSE(says(outcome, "values.yaml"));
}

TEST_CASE("inventory: a kubeconfig has the other ClusterProfiles if a folder has a broken link") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  sandbox.write("folder/a.yaml", one("a"));
  std::filesystem::create_symlink("loop.yaml", sandbox.at("folder/loop.yaml"));
  Command command = files.command(sandbox.at("folder"));
  command.arguments[1] = "kubeconfig";
  const Outcome outcome = run(command);
  CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
  CHECK(says(outcome, "loop.yaml"));
  CHECK(outcome.output.find("fleet/a") != std::string::npos);
}

TEST_CASE("inventory: a mounted ConfigMap, which is a folder of symbolic links, is read") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  sandbox.write("volume/..2026/a.yaml", one("a"));
  std::filesystem::create_directory_symlink("..2026", sandbox.at("volume/..data"));
  std::filesystem::create_symlink("..data/a.yaml", sandbox.at("volume/a.yaml"));
  CHECK(files.names(sandbox.at("volume")) == "fleet/a");
}

TEST_CASE("inventory: --name takes a name, or a namespace and a name") {
  const Files files;
  std::string other = one("a");
  other.replace(other.find("fleet"), 5, "other");
  const std::string path =
      files.sandbox().write("p.yaml", one("a") + "\n---\n" + other + "\n---\n" + one("b"));
  CHECK(files.names(path, {"--name", "b"}) == "fleet/b");
  CHECK(files.names(path, {"--name=fleet/a"}) == "fleet/a");
  CHECK(files.names(path, {"--name=other/a"}) == "other/a");
  CHECK(files.names(path, {"--name=a"}) == "fleet/a other/a");
  for (const std::string name : {"c", "A", "fleet/", "/a", "fleet/c", "fleet"}) {
    CAPTURE(name);
    CHECK_REFUSAL(run(files.command(path, {"--name=" + name})), 2, "'" + name + "'");
  }
}

TEST_CASE("inventory: get needs one ClusterProfile, and its error says how to choose it") {
  const std::string text = one("a") + "\n---\n" + one("b");
  const Inventory inventory(mapping({mapped("p", "/bin/true")}), text);
  const Outcome outcome = inventory.run("get");
  CHECK_REFUSAL(outcome, 2, "--name");
  CHECK(says(outcome, "fleet/a, fleet/b"));
  const Inventory same(mapping({mapped("p", "/bin/true")}), one("a") + "\n---\n" + one("a"));
  CHECK(says(same.run("get"), "hint: all are named fleet/a: remove all but one"));
}

TEST_CASE("inventory: an empty inventory is an error, unless --allow-empty is given") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  std::filesystem::create_directory(sandbox.at("empty"));
  for (const std::string& path :
       {sandbox.at("empty"), sandbox.write("list.json", list("List", "v1", "")),
        sandbox.write("other.yaml", "apiVersion: v1\nkind: ConfigMap\n"),
        sandbox.write("blank.yaml", "\n")}) {
    CAPTURE(path);
    for (const std::string subcommand : {"resolve", "get", "kubeconfig"}) {
      CAPTURE(subcommand);
      Command command = files.command(path);
      command.arguments[1] = subcommand;
      CHECK_REFUSAL(run(command), 2, "'" + path + "' holds no ClusterProfile");
      command.arguments.emplace_back("--allow-empty");
      const Outcome empty = run(command);
      CHECK_MESSAGE(empty.exit_code == 0, describe(empty));
      CHECK(empty.error_output == "");
      CHECK((subcommand == "kubeconfig") ==
            (empty.output.find("clusters: []") != std::string::npos));
    }
    const Outcome list = run(files.command(path, {"--allow-empty", "-o", "json"}));
    CHECK(is_same_json(list.output, R"({"items":[]})"));
  }
  CHECK_FAILURE(run(files.command("/dev/null")), 2,
                "cannot read '/dev/null': it is a device, not a regular file");
  Command command = files.command("-");
  command.input = "";
  CHECK_REFUSAL(run(command), 2, "'-' holds no ClusterProfile");
}

TEST_CASE("inventory: the error names the file that cannot be read, and nothing hangs") {
  const Files files;
  const Sandbox& sandbox = files.sandbox();
  const std::string fifo = sandbox.at("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string good = sandbox.write("good.yaml", one("a"));
  for (const std::string& path :
       {sandbox.at("none"), fifo, std::string("/dev/zero"), good + "/x"}) {
    CAPTURE(path);
    const Outcome outcome = run(files.command(path));
    CHECK_FAILURE(outcome, 2, "cannot read");
    CHECK(says(outcome, path));
    CHECK(outcome.elapsed < blackbox::kNoWait);
    Command mapped_by = files.command(good);
    mapped_by.arguments[3] = path;
    const Outcome other = run(mapped_by);
    CHECK_FAILURE(other, 2, "cannot read");
    CHECK(says(other, path));
  }
}

TEST_CASE("inventory: both files are required, and variables do not set them") {
  for (const std::string subcommand : {"get", "resolve"}) {
    CHECK_REFUSAL(run({.arguments = {kCli, subcommand}}), 2, "--clusterprofile-provider-file");
    const Inventory inventory(mapping({mapped("p", "/bin/true")}), one("a"));
    const std::string mapping_path = inventory.sandbox().at("mapping.json");
    const std::string profiles_path = inventory.sandbox().at("profiles.yaml");
    CHECK_REFUSAL(run({.arguments = {kCli, subcommand, "-m", mapping_path},
                       .environment = {"EXECCRED_CLUSTERPROFILE=" + profiles_path}}),
                  2, "neither --clusterprofile nor --from-hub is given");
  }
  const Inventory inventory(mapping({mapped("p", "/bin/true")}), one("a"));
  for (const std::string form : {"=", " "}) {
    std::vector<std::string> arguments = {kCli, "resolve"};
    for (const auto& [flag, file] : {std::pair("--clusterprofile-provider-file", "mapping.json"),
                                     std::pair("--clusterprofile", "profiles.yaml")}) {
      const std::string path = inventory.sandbox().at(file);
      if (form == "=") {
        arguments.push_back(std::string(flag) + "=" + path);
      } else {
        arguments.insert(arguments.end(), {flag, path});
      }
    }
    CHECK(run({.arguments = arguments}).exit_code == 0);
  }
}

TEST_CASE("execcred: no command, an unknown command and unknown options are refused") {
  CHECK_REFUSAL(run({.arguments = {kCli}}), 2, "command");
  CHECK_REFUSAL(run({.arguments = {kCli, "frobnicate"}}), 2, "'frobnicate'");
  CHECK_REFUSAL(run({.arguments = {kCli, "get", "--no-such"}}), 2, "--no-such");
  CHECK_FAILURE(run({.arguments = {kCli, "get", "word"}}), 2, "an argument is no option");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {kCli, "--help"}, {kCli, "-h"}, {kCli, "get", "--help"}, {kCli, "resolve", "-h"}}) {
    const Outcome outcome = run({.arguments = arguments});
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    CHECK(outcome.output.starts_with("Usage: execcred"));
    CHECK(outcome.error_output == "");
  }
  const Outcome version = run({.arguments = {kCli, "--version"}});
  CHECK(version.exit_code == 0);
  CHECK(version.output.starts_with("execcred "));
}

TEST_CASE("inventory: v1alpha2 is read by its own rules, another version is an error") {
  const auto of_version = [](const std::string& version, const std::string& field,
                             const std::string& server = "https://10.1.2.3") {
    std::string text = profile("a", {provider("p", server)}, field);
    return text.replace(text.find("v1alpha1"), 8, version);
  };
  const Files files;
  const auto resolve = [&files](const std::string& text) {
    return run(files.command(files.sandbox().write("p.json", text)));
  };
  CHECK(files.names(files.sandbox().write("p.json", of_version("v1alpha2", "accessProviders"))) ==
        "fleet/a");
  CHECK(files.names(files.sandbox().write(
            "p.json", of_version("v1alpha1", "credentialProviders"))) == "fleet/a");
  const Outcome dropped = resolve(of_version("v1alpha2", "credentialProviders"));
  CHECK_REFUSAL(dropped, 2, "no provider of the mapping is in the ClusterProfile");
  CHECK(dropped.error_output.find("status.credentialProviders is no field of v1alpha2") !=
        std::string::npos);
  CHECK_REFUSAL(resolve(of_version("v1alpha2", "accessProviders", "10.1.2.3:6443")), 2,
                "status.accessProviders[0].cluster.server is '10.1.2.3:6443', no URL with a host");
  for (const char* version : {"v1", "v1beta1", "v1alpha3", "v1alpha11"}) {
    const std::string told = "apiVersion is 'multicluster.x-k8s.io/" + std::string(version) +
                             "', not multicluster.x-k8s.io/v1alpha1 or v1alpha2";
    CHECK_REFUSAL(resolve(of_version(version, "accessProviders")), 2, told);
    CHECK_REFUSAL(
        resolve(list("ClusterProfileList", std::string("multicluster.x-k8s.io/") + version, "")), 2,
        told);
  }
}

TEST_CASE("inventory: kubeconfig warns about two ClusterProfiles of one cluster") {
  const auto member = [](const std::string& name, const std::string& id) {
    std::string text = one(name);
    return text.replace(text.find("\"namespace\""), 0,
                        R"("labels":{"multicluster.x-k8s.io/inventory-member-id":")" + id + "\"},");
  };
  const Files files;
  const auto kubeconfig = [&files](const std::string& text) {
    Command command = files.command(files.sandbox().write("p.yaml", text));
    command.arguments[1] = "kubeconfig";
    return run(command);
  };
  const Outcome outcome = kubeconfig(member("a", "m1") + "\n---\n" + member("b", "m1") + "\n---\n" +
                                     member("c", "m2") + "\n---\n" + one("d"));
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.error_output ==
        "execcred: warning: ClusterProfiles 'fleet/a' and 'fleet/b' are one cluster: both have the "
        "label multicluster.x-k8s.io/inventory-member-id=m1\n"
        "  hint: remove one of them, or choose with --selector\n");
  for (const char* name : {"fleet/a", "fleet/b", "fleet/c", "fleet/d"}) {
    CHECK(outcome.output.find(name) != std::string::npos);
  }
  CHECK(kubeconfig(member("a", "m1") + "\n---\n" + member("b", "m2")).error_output.empty());
}

TEST_SUITE_END();
