// SPDX-License-Identifier: Apache-2.0
#include "version.hpp"

#include <execcred/base/version.hpp>
#include <execcred/exec/exec_credential.hpp>

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

void Version::add_options(CommandOptions& options) {
  add_format_option(options, output_, {"text", "json"});
  options.add_example("Print name and version", "execcred version");
  options.add_example("Print them, and the API versions of exec plugins, for a program",
                      "execcred version -o json");
}

Result<Outcome> Version::run() {
  return Outcome{.text = SecretString(output_ == "text" ? version_text() : version_json())};
}

}  // namespace execcred::cli
