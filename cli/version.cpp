// SPDX-License-Identifier: Apache-2.0
// execcred version: the release, and the known versions of the exec credential API. The output does
// not contain the machine or time of the build.
#include "version.hpp"

#include "commands.hpp"

#include <execcred/base/version.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <string>

namespace execcred::cli {

std::string version_text() { return std::string(kProgram) + " " + kVersion + "\n"; }

std::string version_json() {
  json::Value document((json::Object()));
  document.add("name", json::Value(std::string(kProgram)));
  document.add("version", json::Value(std::string(kVersion)));
  json::Array versions;
  for (const ApiVersion version : {ApiVersion::v1, ApiVersion::v1beta1}) {
    versions.emplace_back(std::string(full_name(version)));
  }
  document.add("apiVersions", json::Value(std::move(versions)));
  return json::to_indented_text(document);
}

namespace {

class Version final : public Command {
 public:
  void add_options(CommandOptions& options) override {
    add_format_option(options, output_, {"text", "json"});
    options.add_example("Print name and version", "execcred version");
    options.add_example("Print them, and the API versions of exec plugins, for a program",
                        "execcred version -o json");
  }

  Result<Outcome> run() override {
    return Outcome{.text = SecretString(output_ == "text" ? version_text() : version_json())};
  }

 private:
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_version() { return std::make_unique<Version>(); }

}  // namespace execcred::cli
