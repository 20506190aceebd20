// SPDX-License-Identifier: Apache-2.0
#include "secret_manifest.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/json.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <utility>

namespace execcred::cli {
namespace {

using json::Object;
using json::Value;

Value object_of(const std::map<std::string, std::string>& texts) {
  Value object((Object()));
  for (const auto& [name, text] : texts) object.add(name, Value(text));
  return object;
}

}  // namespace

std::string to_text(const SecretManifest& manifest) {
  Value metadata((Object()));
  metadata.add("name", Value(manifest.name));
  metadata.add("namespace", Value(manifest.name_space));
  if (!manifest.labels.empty()) metadata.add("labels", object_of(manifest.labels));
  if (!manifest.annotations.empty()) metadata.add("annotations", object_of(manifest.annotations));
  Value head((Object()));
  head.add("apiVersion", Value("v1"));
  head.add("kind", Value("Secret"));
  head.add("metadata", std::move(metadata));
  head.add("stringData", object_of(manifest.data));
  std::string text;
  for (const std::string& comment : manifest.comments) text += "# " + printable(comment) + "\n";
  return text + yaml::to_text(head);
}

}  // namespace execcred::cli
