// SPDX-License-Identifier: Apache-2.0
// The krew manifest that scripts/release writes, checked by the rules of krew's validation
// (sigs.k8s.io/krew/internal/index/validation).
#include "child_process.hpp"
#include "documents.hpp"
#include "sandbox.hpp"
#include "test_paths.hpp"

#include <execcred/json/json.hpp>
#include <execcred/yaml/documents.hpp>

#include <doctest/doctest.h>

#include <regex>

using namespace blackbox;

namespace {

std::string manifest(const Sandbox& archives) {
  const std::string script =
      "EXECCRED_ROOT=$1; . \"$1/scripts/lib/release_package.sh\"\n"
      "for arch in amd64 arm64; do echo \"$arch\" > \"$2/$(krew_name \"$arch\")\"; done\n"
      "krew_manifest https://releases.example.com/v1 \"$2\"";
  const Outcome outcome = run({.arguments = {"/bin/bash", "-euc", script, "krew", EXECCRED_SOURCE,
                                             archives.path().native()},
                               .environment = {"PATH=/usr/bin:/bin"}});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  const auto documents = execcred::parse_documents(outcome.output, 64 * 1024);
  REQUIRE(documents);
  REQUIRE(documents->size() == 1);
  return execcred::json::to_text(documents->front());
}

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, std::regex(pattern));
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("krew: the manifest is a Plugin of a released version") {
  const std::string plugin = manifest(Sandbox());
  CHECK(json_at(plugin, "apiVersion") == "krew.googlecontainertools.github.com/v1alpha2");
  CHECK(json_at(plugin, "kind") == "Plugin");
  CHECK(json_at(plugin, "metadata.name") == "execcred");
  CHECK(matches(json_at(plugin, "spec.version"), R"(v\d+\.\d+\.\d+)"));
  const std::string summary = json_at(plugin, "spec.shortDescription");
  CHECK(matches(summary, "[^\n]{1,50}"));
  CHECK(json_at(plugin, "spec.description").size() > summary.size());
  CHECK(json_at(plugin, "spec.homepage").starts_with("https://"));
  CHECK(plugin.find('@') == std::string::npos);
}

TEST_CASE("krew: each platform has an archive, its checksum, and the program in it") {
  const Sandbox archives;
  const std::string plugin = manifest(archives);
  for (const int i : {0, 1}) {
    const std::string platform = "spec.platforms." + std::to_string(i) + ".";
    const std::string arch = i == 0 ? "amd64" : "arm64";
    CHECK(json_at(plugin, platform + "selector.matchLabels.os") == "linux");
    CHECK(json_at(plugin, platform + "selector.matchLabels.arch") == arch);
    const std::string uri = json_at(plugin, platform + "uri");
    CHECK(matches(uri, "https://[^@]*-krew-linux-" + arch + R"(\.tar\.gz)"));
    CHECK(std::filesystem::exists(archives.at(uri.substr(uri.rfind('/') + 1))));
    CHECK(matches(json_at(plugin, platform + "sha256"), "[0-9a-f]{64}"));
    CHECK(json_at(plugin, platform + "files.0.from") == "kubectl-execcred");
    CHECK(json_at(plugin, platform + "files.0.to") == ".");
    CHECK(json_at(plugin, platform + "bin") == "kubectl-execcred");
  }
  CHECK(json_at(plugin, "spec.platforms.0.sha256") != json_at(plugin, "spec.platforms.1.sha256"));
  CHECK(json_at(plugin, "spec.platforms.2") == "(missing)");
}

TEST_SUITE_END();
