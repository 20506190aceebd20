// SPDX-License-Identifier: Apache-2.0
// Files of older versions (tests/upgrade) have the same meaning in this version.
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace blackbox;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> versions() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(EXECCRED_SOURCE "/tests/upgrade")) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  REQUIRE(!folders.empty());
  return folders;
}

Outcome run_execcred(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kCli);
  return run({.arguments = std::move(arguments)});
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("upgrade: a mapping and a ClusterProfile of an older version lead to the same command") {
  for (const fs::path& folder : versions()) {
    CAPTURE(folder.native());
    const Outcome resolved = run_execcred({"resolve", "-m", folder / "mapping.json", "-f",
                                           folder / "clusterprofiles.yaml", "-o", "exec-config"});
    CHECK_MESSAGE(resolved.exit_code == 0, describe(resolved));
    CHECK(is_same_json(resolved.output, read_text(folder / "resolved.exec-config")));
  }
}

TEST_CASE(
    "upgrade: lint finds no error in a mapping, a ClusterProfile and a kubeconfig of an older "
    "version") {
  for (const fs::path& folder : versions()) {
    CAPTURE(folder.native());
    const Outcome linted =
        run_execcred({"lint", "--no-files", folder / "mapping.json",
                      folder / "clusterprofiles.yaml", folder / "fleet.kubeconfig"});
    CHECK_MESSAGE(linted.exit_code == 0, describe(linted));
    CHECK(linted.output.find("0 errors") != std::string::npos);
  }
}

TEST_CASE(
    "upgrade: each plugin takes the arguments that a mapping of an older version has for it") {
  int count = 0;
  for (const fs::path& folder : versions()) {
    const std::string mapping = read_text(folder / "mapping.json");
    for (int i = 0;; ++i) {
      const std::string exec = "providers." + std::to_string(i) + ".execConfig.";
      const std::string command = json_at(mapping, exec + "command");
      if (command == "(missing)") break;
      CAPTURE(command);
      std::vector<std::string> arguments = {EXECCRED_BIN "/" +
                                            fs::path(command).filename().native()};
      for (int j = 0; json_at(mapping, exec + "args." + std::to_string(j)) != "(missing)"; ++j) {
        arguments.push_back(json_at(mapping, exec + "args." + std::to_string(j)));
      }
      const auto boundary = std::find(arguments.begin(), arguments.end(), "--from-profile");
      arguments.insert(boundary, "--show-config");
      const Outcome shown = run({.arguments = std::move(arguments)});
      CHECK_MESSAGE(shown.exit_code == 0, describe(shown));
      ++count;
    }
  }
  CHECK(count >= 7);
}

TEST_SUITE_END();
