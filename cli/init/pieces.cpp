// SPDX-License-Identifier: Apache-2.0
#include "pieces.hpp"

#include <embedded/argocd_application_controller.hpp>
#include <embedded/argocd_clusterprofile_controller.hpp>
#include <embedded/argocd_mapping.hpp>
#include <embedded/argocd_server.hpp>
#include <embedded/controller_mapping.hpp>
#include <embedded/controller_pod.hpp>
#include <embedded/headlamp_mapping.hpp>
#include <embedded/headlamp_pod.hpp>
#include <embedded/knative_mapping.hpp>
#include <embedded/knative_pod.hpp>
#include <embedded/kueue_mapping.hpp>
#include <embedded/kueue_pod.hpp>
#include <embedded/multicluster_runtime_mapping.hpp>
#include <embedded/multicluster_runtime_pod.hpp>
#include <embedded/sveltos_mapping.hpp>
#include <embedded/sveltos_pod.hpp>
#include <execcred/base/text.hpp>
#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/yaml_write.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace execcred::init {
namespace {

using json::Value;

constexpr std::string_view kPod = "init-container.yaml";
constexpr std::string_view kMapping = "mapping.yaml";
constexpr std::size_t kMost = 1024UL * 1024;

struct Template {
  std::string_view consumer;
  std::string_view file;
  std::string_view text;
};

const std::vector<Template>& templates() {
  static const std::vector<Template> kAll = {
      {"generic", kMapping, embedded::controller_mapping},
      {"generic", kPod, embedded::controller_pod},
      {"kueue", kMapping, embedded::kueue_mapping},
      {"kueue", kPod, embedded::kueue_pod},
      {"argocd", kMapping, embedded::argocd_mapping},
      {"argocd", "application-controller-init-container.yaml",
       embedded::argocd_application_controller},
      {"argocd", "server-init-container.yaml", embedded::argocd_server},
      {"argocd", "clusterprofile-controller.yaml", embedded::argocd_clusterprofile_controller},
      {"multicluster-runtime", kMapping, embedded::multicluster_runtime_mapping},
      {"multicluster-runtime", kPod, embedded::multicluster_runtime_pod},
      {"headlamp", kMapping, embedded::headlamp_mapping},
      {"headlamp", kPod, embedded::headlamp_pod},
      {"sveltos", kMapping, embedded::sveltos_mapping},
      {"sveltos", kPod, embedded::sveltos_pod},
      {"knative", kMapping, embedded::knative_mapping},
      {"knative", kPod, embedded::knative_pod},
  };
  return kAll;
}

Value* member(Value* object, std::string_view name) {
  if (object == nullptr || object->object() == nullptr) return nullptr;
  for (json::Member& one : *object->object()) {
    if (one.name == name) return &one.value;
  }
  return nullptr;
}

bool is_named(const Value& item, std::string_view name) {
  const Value* const value = item.find("name");
  return value != nullptr && value->string() != nullptr && *value->string() == name;
}

// The list of this name; an empty one is added if there is none.
json::Array& list(Value& object, std::string_view name) {
  if (member(&object, name) == nullptr) object.add(name, Value(json::Array()));
  return *member(&object, name)->array();
}

void name_plugins(Value& container, const std::set<std::string>& plugins) {
  json::Array& command = list(container, "command");
  json::Array named(command.begin(), command.begin() + 2);
  for (const std::string& plugin : plugins) named.emplace_back("--plugin=" + plugin);
  named.push_back(command.back());
  command = std::move(named);
}

// A projected token of a server, as execcred-token-file reads it.
struct Token {
  std::string volume;
  std::string host;
  std::string server;
};

std::vector<Token> tokens_of(const FleetNeeds& fleet) {
  std::vector<Token> tokens;
  for (const auto& [host, server] : fleet.projected()) {
    tokens.push_back(
        {.volume = "token-" + std::to_string(tokens.size() + 1), .host = host, .server = server});
  }
  return tokens;
}

Value object(json::Object members) { return Value(std::move(members)); }

Value volume_of(const Token& token) {
  Value source = object({{"path", Value("token")},
                         {"audience", Value(token.server)},
                         {"expirationSeconds", Value(json::Number{"3600"})}});
  json::Array sources;
  sources.push_back(object({{"serviceAccountToken", std::move(source)}}));
  return object({{"name", Value(token.volume)},
                 {"projected", object({{"sources", Value(std::move(sources))}})}});
}

// Adds the tokens' volumes instead of the example's, and their mounts where the plugins are.
void project_tokens(Value& pod, const std::vector<Token>& tokens) {
  const auto drop_example = [](json::Array& items) {
    const auto is_example = [](const Value& item) { return is_named(item, "spoke-1"); };
    items.erase(std::remove_if(items.begin(), items.end(), is_example), items.end());
  };
  for (Value& container : list(pod, "containers")) {
    json::Array& mounts = list(container, "volumeMounts");
    drop_example(mounts);
    const bool runs_plugins = std::any_of(mounts.begin(), mounts.end(), [](const Value& mount) {
      return is_named(mount, "plugins");
    });
    if (!runs_plugins) continue;
    for (const Token& token : tokens) {
      mounts.push_back(object({{"name", Value(token.volume)},
                               {"mountPath", Value("/var/run/secrets/execcred/" + token.host)},
                               {"readOnly", Value(true)}}));
    }
  }
  json::Array& volumes = list(pod, "volumes");
  drop_example(volumes);
  for (const Token& token : tokens) volumes.push_back(volume_of(token));
}

// Replaces the folder of the plugins in the examples, in paths and in commands.
void move_plugins(Value& value, const std::string& directory) {
  constexpr std::string_view kExample = "/plugins";
  if (std::string* const text = value.string()) {
    if (*text == kExample) *text = directory;
  } else if (json::Array* const items = value.array()) {
    for (Value& item : *items) move_plugins(item, directory);
  } else if (json::Object* const members = value.object()) {
    for (json::Member& one : *members) move_plugins(one.value, directory);
  }
}

void fit_pod(Value& document, const FleetNeeds& fleet) {
  Value* const pod = member(member(member(&document, "spec"), "template"), "spec");
  if (pod == nullptr || member(pod, "initContainers") == nullptr) return;
  std::set<std::string> plugins;
  for (const auto& [name, need] : fleet.needs()) plugins.insert(need.known->plugin);
  for (Value& container : list(*pod, "initContainers")) name_plugins(container, plugins);
  project_tokens(*pod, tokens_of(fleet));
}

// The mapping in Kueue's configuration, which has no policies.
std::string kueue_text(const std::string& example, const Value& mapping) {
  Value configuration = parse_documents(example, kMost).value().front();
  Value* const block = member(member(&configuration, "multiKueue"), "clusterProfile");
  json::Array entries;
  for (const Value& entry : *mapping.find("providers")->array()) {
    entries.push_back(
        object({{"name", *entry.find("name")}, {"execConfig", *entry.find("execConfig")}}));
  }
  list(*block, "accessProviders") = std::move(entries);
  return yaml::to_text(configuration);
}

// The ConfigMap, which has one file.
std::string mapping_text(Value config_map, const Value& mapping) {
  std::string& file = *member(&config_map, "data")->object()->front().value.string();
  const bool is_json = file.starts_with('{');
  file = std::string(trim(is_json ? json::to_indented_text(mapping) : kueue_text(file, mapping))) +
         "\n";
  return yaml::to_text(config_map);
}

}  // namespace

std::vector<Piece> pieces_of(const FleetNeeds& fleet, const Value& mapping,
                             const std::string& directory) {
  std::vector<Piece> pieces;
  for (const Template& one : templates()) {
    if (one.consumer != fleet.consumer().name) continue;
    Value document = parse_documents(one.text, kMost).value().front();
    const bool is_mapping = one.file == kMapping;
    if (!is_mapping) {
      fit_pod(document, fleet);
      move_plugins(document, directory);
    }
    pieces.push_back({.file = std::string(one.file),
                      .text = is_mapping ? mapping_text(std::move(document), mapping)
                                         : yaml::to_text(document)});
  }
  return pieces;
}

}  // namespace execcred::init
