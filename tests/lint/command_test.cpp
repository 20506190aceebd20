// SPDX-License-Identifier: Apache-2.0
// execcred lint: files and folders of any kind, the programs that they name, and what is printed.
#include "cli/inventory.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"
#include "support/certificates.hpp"
#include "support/texts.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

const std::string kMapping = EXECCRED_SOURCE "/config/clusterprofile-provider-file.json";

Outcome lint(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {kCli, "lint"});
  return run({.arguments = std::move(arguments), .input = input});
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Checks the numbers of errors and warnings, and the exit code that follows from them.
void check_numbers(const Outcome& outcome, int errors, int warnings) {
  const auto number = [](int count, const std::string& name) {
    return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
  };
  const std::string summary = number(errors, "error") + ", " + number(warnings, "warning") + " in ";
  CHECK_MESSAGE(has("\n" + outcome.output, "\n" + summary), describe(outcome));
  CHECK_MESSAGE(outcome.exit_code == (errors > 0 ? 1 : 0), describe(outcome));
  CHECK_MESSAGE(outcome.error_output.empty(), describe(outcome));
}

// A mapping that names the program, and has no other finding.
std::string mapping_of(const std::string& command) { return mapping({mapped("p", command)}); }

}  // namespace

TEST_CASE("lint: every document of config/ is valid with the shipped plugins") {
  const Sandbox sandbox;
  const std::string plugins = sandbox.at("plugins");
  fs::create_directory(plugins);
  for (const auto& program : fs::directory_iterator(EXECCRED_BIN)) {
    const std::string name = program.path().filename().native();
    if (!name.starts_with("execcred-")) continue;
    const fs::path copy = fs::path(plugins) / name;
    fs::copy_file(program.path(), copy);
    chmod(copy.c_str(), 0555);
  }
  int documents = 0;
  for (const auto& entry : fs::recursive_directory_iterator(EXECCRED_SOURCE "/config")) {
    const std::string path = entry.path().native();
    if (!entry.is_regular_file() || has(path, "/schemas/")) continue;
    // Other files are for the API server, or for people.
    const std::string name = entry.path().filename().native();
    if (!name.starts_with("mapping") && !name.starts_with("clusterprofile")) continue;
    ++documents;
    // Copied, because a checkout may be writable by its group.
    // The example of another program is not on each machine.
    const std::string text =
        execcred::test::replaced(read_text(path), "/usr/local/bin/aws", "/bin/true");
    const std::string copy = sandbox.write("config/" + entry.path().filename().native(), text);
    const bool is_deprecated = has(path, "credential-providers");
    check_numbers(lint({"--plugin-dir=" + plugins, copy}), 0, is_deprecated ? 1 : 0);
  }
  CHECK(documents >= 60);
}

TEST_CASE("lint: findings are sorted by file, have a hint, and are counted") {
  const Sandbox sandbox;
  const std::string good = sandbox.write("a.json", profile("c1", {provider("p")}));
  const std::string bad = sandbox.write("b.yaml", "kind: Deployment\n");
  const std::string worse = sandbox.write("c.json", mapping_of("relative"));
  const Outcome outcome = lint({worse, good, bad});
  check_numbers(outcome, 1, 1);
  const std::string first =
      bad + ":1:1: warning: is not a document that lint knows: 'Deployment'\n  hint: ";
  CHECK_MESSAGE(outcome.output.starts_with(first), describe(outcome));
  CHECK_MESSAGE(
      has(outcome.output, "\n" + worse +
                              ":1:88: error: providers[0].execConfig.command: is 'relative', "
                              "no absolute path\n  hint: "),
      describe(outcome));
  CHECK_MESSAGE(outcome.output.ends_with("1 error, 1 warning in 3 files\n"), describe(outcome));

  const Outcome folder = lint({sandbox.path().native(), "-o", "json"});
  CHECK(folder.exit_code == 1);
  CHECK(json_at(folder.output, "errors") == "1");
  CHECK(json_at(folder.output, "warnings") == "1");
  CHECK(json_at(folder.output, "items.1.file") == worse);
  CHECK(json_at(folder.output, "items.1.path") == "providers[0].execConfig.command");
  CHECK(json_at(folder.output, "items.1.line") == "1");
  CHECK(json_at(folder.output, "items.1.column") == "88");
  CHECK(json_at(folder.output, "items.1.rule") == "mapping");
  CHECK(json_at(folder.output, "items.1.severity") == "error");
  CHECK(json_at(folder.output, "items.1.message") == "is 'relative', no absolute path");
  CHECK(json_at(folder.output, "items.1.hint").size() > 10);
  CHECK(json_at(folder.output, "items.2") == "(missing)");
  const Outcome nothing = lint({good, "-o", "json"});
  CHECK(nothing.exit_code == 0);
  CHECK(is_same_json(nothing.output, R"({"items":[],"errors":0,"warnings":0,"passedOver":0})"));
}

TEST_CASE("lint: reads standard input, and finds one ClusterProfile in two files") {
  const Sandbox sandbox;
  const std::string one = profile("c1", {provider("p")});
  check_numbers(lint({"-"}, one), 0, 0);
  check_numbers(lint({"-"}, mapping_of("x")), 1, 0);
  const std::string first = sandbox.write("1.json", one);
  const std::string second = sandbox.write("2.json", one);
  const Outcome outcome = lint({first, second, first});
  check_numbers(outcome, 1, 0);
  CHECK_MESSAGE(has(outcome.output, second + ":1:84: error: metadata.name: "), describe(outcome));
  CHECK_MESSAGE(has(outcome.output, "'" + first + "'"), describe(outcome));
}

TEST_CASE("lint: subfolders are read, and each folder stands for a hub of its own") {
  const Sandbox sandbox;
  const std::string one = profile("c1", {provider("p")});
  const std::string secret = R"({"apiVersion":"v1","kind":"Secret"})";
  sandbox.write("d/top.json", one);
  sandbox.write("d/a/same.json", one);
  sandbox.write("d/a/secret.json", secret);
  sandbox.write("d/a/b/c/deep.yaml", "kind: Deployment\n");
  sandbox.write("d/a/b/c/notes.txt", "no manifest");
  const std::string folder = sandbox.at("d");
  // Hidden folders and symbolic links to folders are not read, not even in a loop.
  sandbox.write("d/.git/config.json", "{");
  sandbox.write("d/..2026_01_01/mapping.json", "{");
  sandbox.write("elsewhere/broken.json", "{");
  fs::create_directory_symlink(sandbox.at("elsewhere"), folder + "/link");
  fs::create_directory_symlink(folder, folder + "/a/up");
  fs::create_symlink(sandbox.at("d/top.json"), folder + "/a/b/linked.json");
  const Outcome outcome = lint({folder});
  check_numbers(outcome, 0, 1);
  CHECK_MESSAGE(has(outcome.output, folder + "/a/b/c/deep.yaml:1:1: warning: "), describe(outcome));
  CHECK_MESSAGE(has(outcome.output, "in 5 files; 1 document of other kinds passed over\n"),
                describe(outcome));
  // In one folder, two ClusterProfiles of one name are an error.
  sandbox.write("d/a/second.json", one);
  check_numbers(lint({folder}), 1, 1);
}

TEST_CASE("lint: folders are read to a limited depth, and a warning reports the limit") {
  const Sandbox sandbox;
  std::string path = "d";
  for (int level = 0; level < 12; ++level) {
    path += "/" + std::to_string(level);
    sandbox.write(path + "/x.json", profile("c1", {provider("p")}));
  }
  const Outcome outcome = lint({sandbox.at("d")});
  check_numbers(outcome, 0, 1);
  CHECK_MESSAGE(has(outcome.output, "nested too deeply"), describe(outcome));
  CHECK_MESSAGE(has(outcome.output, "in 8 files\n"), describe(outcome));
}

TEST_CASE("lint: a file that cannot be read is a finding, not a crash") {
  const Sandbox sandbox;
  const std::string big = sandbox.write("big.json", "{");
  fs::resize_file(big, 100 * 1024 * 1024);
  const std::string fifo = sandbox.at("fifo.json");
  REQUIRE(mkfifo(fifo.c_str(), 0644) == 0);
  fs::create_directory(sandbox.at("empty"));
  const std::vector<std::string> files = {big,
                                          fifo,
                                          sandbox.at("empty"),
                                          sandbox.at("missing.yaml"),
                                          sandbox.write("nothing.yaml", ""),
                                          sandbox.write("program",
                                                        "\x7f"
                                                        "ELF\x02\x01\x01"),
                                          sandbox.write("broken.json", "{\"providers\": ["),
                                          sandbox.write("deep.json", std::string(100'000, '['))};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Outcome outcome = lint({files[i]});
    // The first four could not be read at all.
    CHECK_MESSAGE(outcome.exit_code == (i < 4 ? 2 : 1), describe(outcome));
    CHECK_MESSAGE(outcome.output.starts_with(files[i] + ":"), describe(outcome));
    CHECK_MESSAGE(has(outcome.output, ": error: "), describe(outcome));
  }
  check_numbers(lint(files), static_cast<int>(files.size()), 0);
}

TEST_CASE("lint: a command's program must exist, be executable, and not be writable by others") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("m.json", mapping_of("/plugins/tool"));
  const std::string program = sandbox.script("bin/tool", "exit 0");
  const std::string option = "--plugin-dir=" + sandbox.at("bin");
  check_numbers(lint({option, file}), 0, 0);
  const auto refused = [&](const std::string& reason) {
    const Outcome outcome = lint({option, file});
    check_numbers(outcome, 1, 0);
    CHECK_MESSAGE(has(outcome.output, reason), describe(outcome));
    check_numbers(lint({"--no-files", file}), 0, 0);
  };
  chmod(program.c_str(), 0444);
  refused("not executable");
  for (const mode_t mode : {0775U, 0757U}) {
    chmod(program.c_str(), mode);
    refused("may be written by others");
  }
  chmod(program.c_str(), 0755);
  chmod(sandbox.at("bin").c_str(), 0777);
  refused("'" + sandbox.at("bin") + "' may be written by others");
  chmod(sandbox.at("bin").c_str(), 0755);
  fs::rename(program, sandbox.at("bin/other"));
  refused("does not exist");
  const Outcome joined = lint({sandbox.write("joined.json", mapping_of(program + " -x"))});
  CHECK_MESSAGE(has(joined.output, "write only the program as the command"), describe(joined));
  fs::create_directory(program);
  refused("no regular file");
  fs::remove(program);
  // Of a symbolic link, the target must not be writable by others.
  const std::string target = sandbox.script("shared/tool", "exit 0");
  fs::create_symlink(target, program);
  check_numbers(lint({option, file}), 0, 0);
  chmod(sandbox.at("shared").c_str(), 0775);
  refused("'" + sandbox.at("shared") + "' may be written by others");
}

TEST_CASE("lint: a program that --credential of execcred-bootstrap names is checked, too") {
  const Sandbox sandbox;
  sandbox.script("bin/execcred-bootstrap", "exit 0");
  const std::string inner = sandbox.script("inner/tool", "exit 0");
  const std::string option = "--plugin-dir=" + sandbox.at("bin");
  const auto mapping_with = [&](const std::string& program) {
    return sandbox.write(
        "m.json", mapping({mapped(
                      "p", "/plugins/execcred-bootstrap",
                      R"(,"args":["--via=csr","--user=a","--allow-server=https://a.example.com",)" +
                          json_string("--credential=[" + json_string(program) + "]") +
                          R"(],"provideClusterInfo":true)")}));
  };
  const std::string file = mapping_with(inner);
  check_numbers(lint({option, file}), 0, 0);
  const auto refused = [&](const std::string& reason) {
    const Outcome outcome = lint({option, file});
    check_numbers(outcome, 1, 0);
    CHECK_MESSAGE(has(outcome.output, "error: providers[0].execConfig.args[3]: is '"),
                  describe(outcome));
    CHECK_MESSAGE(has(outcome.output, reason), describe(outcome));
    check_numbers(lint({"--no-files", file}), 0, 0);
  };
  chmod(inner.c_str(), 0444);
  refused("'" + inner + "', which is not executable");
  chmod(inner.c_str(), 0775);
  refused("'" + inner + "', which may be written by others");
  chmod(inner.c_str(), 0755);
  chmod(sandbox.at("inner").c_str(), 0777);
  refused("'" + sandbox.at("inner") + "' may be written by others");
  chmod(sandbox.at("inner").c_str(), 0755);
  fs::remove(inner);
  refused("'" + inner + "', which does not exist");
  // A program below /plugins, as in the consumers' manifests, is looked for in --plugin-dir, too.
  const std::string mounted = mapping_with("/plugins/execcred-spiffe");
  const Outcome missing = lint({option, mounted});
  check_numbers(missing, 1, 0);
  CHECK_MESSAGE(has(missing.output, "'" + sandbox.at("bin/execcred-spiffe") + "' does not exist"),
                describe(missing));
  sandbox.script("bin/execcred-spiffe", "exit 0");
  check_numbers(lint({option, mounted}), 0, 0);
}

TEST_CASE(
    "lint: a program on another machine is a warning, as is a mapping that others may write") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("m.json", mapping_of(sandbox.at("nowhere/tool")));
  const Outcome outcome = lint({file});
  check_numbers(outcome, 0, 1);
  CHECK_MESSAGE(has(outcome.output, "is not on this machine"), describe(outcome));
  chmod(file.c_str(), 0664);
  check_numbers(lint({file}), 0, 2);
  check_numbers(lint({"--no-files", file}), 0, 0);
}

TEST_CASE("lint: 2,000 ClusterProfiles with certificates in one file") {
  const Sandbox sandbox;
  const std::string authority =
      R"(,"certificate-authority-data":")" + base64(kAuthorityOne) + R"(")";
  std::string text;
  for (int i = 0; i < 2'000; ++i) {
    text += profile("c" + std::to_string(i), {provider("p", "https://10.1.2.3:6443", authority)}) +
            "\n";
  }
  check_numbers(lint({sandbox.write("all.json", text)}), 0, 0);
}

TEST_CASE("lint: a finding has the line and column of its field, or of the nearest enclosing one") {
  const std::string yaml = "# ours\n" + profile("c1", {provider("p")}) + "\n---\n" +
                           "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\n"
                           "metadata:\n  name: Ünder\nstatus:\n  accessProviders:\n"
                           "  - name: p\n    cluster: {server: 'http://x', extensions: [\n"
                           "      {name: client.authentication.k8s.io/exec, extension: 5}]}\n";
  const std::string output = lint({"-"}, yaml).output;
  for (const std::string line :
       {"input:7:3: error: document[1].metadata.name: ",
        "input:11:15: error: document[1].status.accessProviders[0].cluster.server: ",
        "input:12:49: warning: document[1].status.accessProviders[0].cluster.extensions[0]."}) {
    CHECK_MESSAGE(has(output, line), output);
  }
  const std::string json = "{\"providers\": [\n {\"name\": \"é\", \"execConfig\": {}}]}";
  CHECK(has(lint({"-"}, json).output, "input:2:16: error: providers[0].execConfig.apiVersion: "));
  CHECK(lint({"-"}, "a: b\n---\na: [\n").output.find("input:4:1: error: the document is no ") !=
        std::string::npos);
}

TEST_CASE("lint: a finding that depends on another file has a line, too") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("p.yaml", "\n" + profile("c1", {provider("p")}));
  const Outcome outcome =
      lint({sandbox.write("m.json", mapping({mapped("q", "/bin/true")})), file});
  CHECK_MESSAGE(has(outcome.output, file + ":2:127: error: status.accessProviders: lists 'p'"),
                describe(outcome));
}

TEST_CASE("lint --fail-on=warning: warnings count for the exit code" *
          doctest::description("promise 23")) {
  const std::string text = "kind: Deployment\n";
  CHECK(lint({"-"}, text).exit_code == 0);
  CHECK(lint({"--fail-on=error", "-"}, text).exit_code == 0);
  const Outcome failed = lint({"--fail-on=warning", "-"}, text);
  CHECK_MESSAGE(failed.exit_code == 1, describe(failed));
  CHECK_MESSAGE(has(failed.output, "\n0 errors, 1 warning in 1 file\n"), describe(failed));
  CHECK(lint({"--fail-on=warning", "-"}, profile("c1", {provider("p")})).exit_code == 0);
}

TEST_CASE("lint -o sarif: one run, and every finding's rule, level and place") {
  const Sandbox sandbox;
  const std::string file = sandbox.write("a b.json", mapping_of("relative"));
  const std::string sarif = lint({"-osarif", file}).output;
  CHECK(json_at(sarif, "version") == "2.1.0");
  CHECK(json_at(sarif, "runs.0.tool.driver.name") == "execcred lint");
  const std::string result = "runs.0.results.0.";
  CHECK(json_at(sarif, result + "ruleId") == "mapping");
  CHECK(json_at(sarif, "runs.0.tool.driver.rules." + json_at(sarif, result + "ruleIndex") +
                           ".id") == "mapping");
  CHECK(json_at(sarif, result + "level") == "error");
  const std::string place = result + "locations.0.physicalLocation.";
  CHECK(json_at(sarif, place + "artifactLocation.uri").ends_with("/a%20b.json"));
  CHECK(json_at(sarif, place + "region.startColumn") == "88");
  CHECK(json_at(lint({"-osarif", "-"}, profile("c1", {provider("p")})).output, "runs.0.results") ==
        "[]");
}

TEST_CASE("lint -o yaml, name and wide, colour where it is asked for") {
  const std::string text = mapping_of("relative");
  CHECK(lint({"-oname", "-"}, text).output == "standard input\n");
  CHECK(lint({"-oyaml", "-"}, text).output.starts_with("items:\n- file: "));
  CHECK(lint({"-owide", "-"}, text).output.starts_with("SEVERITY  RULE     PLACE"));
  CHECK(has(lint({"--color=always", "-"}, text).output, ": \x1b[31merror\x1b[0m: providers[0]"));
  CHECK_FALSE(has(lint({"--color=auto", "-"}, text).output, "\x1b"));
}

TEST_CASE("lint: invalid arguments are usage errors") {
  CHECK_REFUSAL(lint({}), 2, "no file is given");
  CHECK_REFUSAL(lint({"-o", "xml", "x"}), 2, "--output: 'xml' is no output format");
  CHECK_REFUSAL(lint({"--fail-on=info", "x"}), 2, "--fail-on: 'info' is no choice");
  CHECK_REFUSAL(lint({"--bogus", "x"}), 2, "unknown option '--bogus'");
  CHECK(has(lint({"--help"}).output, "--plugin-dir=DIR"));
}
