// SPDX-License-Identifier: Apache-2.0
#include "documents.hpp"

#include "catalogue.hpp"
#include "exec.hpp"
#include "mapping.hpp"
#include "places.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/json/list_item.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/kubeconfig_rules.hpp>
#include <execcred/os/file.hpp>
#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/yaml.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace execcred::lint {
namespace {

using json::ObjectReader;
using json::Value;

enum class Kind { mapping, cluster_profile, list, kubeconfig, kueue, config_map, unknown };

bool has_folded(const Value& document, std::string_view name) {
  return std::any_of(
      document.object()->begin(), document.object()->end(),
      [name](const json::Member& member) { return json::fold_key(member.name) == name; });
}

Kind kind_of(const Value& document) {
  if (document.object() == nullptr) return Kind::unknown;
  const std::string kind = json::text_or_empty(document, "kind");
  const std::string version = json::text_or_empty(document, "apiVersion");
  if (is_kind_of_sveltos(version)) return Kind::unknown;
  if (kind == "ClusterProfile") return Kind::cluster_profile;
  if (kind == "List" || kind == "ClusterProfileList") return Kind::list;
  if (kind == "ConfigMap") return Kind::config_map;
  if (kind == "Configuration" && version.starts_with("config.kueue.x-k8s.io/")) return Kind::kueue;
  if (is_kubeconfig(document)) return Kind::kubeconfig;
  if (!kind.empty()) return Kind::unknown;
  return has_folded(document, "providers") ? Kind::mapping : Kind::unknown;
}

// Whether the document belongs to other programs: a JSON Schema, or a Kubernetes object that does
// not look like a misspelled ClusterProfile, kubeconfig or Configuration of Kueue.
bool is_of_others(const Value& document) {
  if (document.object() == nullptr) return false;
  if (json::text_or_empty(document, "$schema").find("//json-schema.org/") != std::string::npos)
    return true;
  const std::string kind = ascii_lower(json::text_or_empty(document, "kind"));
  const std::string version = json::text_or_empty(document, "apiVersion");
  if (kind.empty() || version.empty()) return false;
  if (is_kind_of_sveltos(version)) return true;
  for (const std::string_view group : {"multicluster.x-k8s.io", "config.kueue.x-k8s.io"}) {
    if (ascii_lower(version).starts_with(group)) return false;
  }
  return kind != "clusterprofile" && kind != "clusterprofilelist" && kind != "config";
}

void report_unknown(const Scope& scope, const Value& document) {
  if (is_of_others(document)) {
    ++scope.run().passed_over;
    return;
  }
  const std::string kind = json::text_or_empty(document, "kind");
  scope.as(rule::kUnknownDocument)
      .warning(
          {}, "is not a document that lint knows" + (kind.empty() ? "" : ": " + in_quotes(kind)),
          "it knows provider mappings, ClusterProfiles, kubeconfigs, Kueue's Configuration, and "
          "ConfigMaps and Lists of those");
}

// Reports each FILL-IN-… of `execcred init` in the strings of the value.
void check_fill_ins(const Scope& scope, const Value& value, const std::string& path) {
  if (const std::string* text = value.string()) {
    const std::string_view found = cli::fill_in_of(*text);
    if (found.empty()) return;
    std::string shown_by = "write the value";
    for (const auto& [known, shower] : cli::catalogue().fill_ins) {
      if (known == found) shown_by = "it is shown by: " + shower;
    }
    scope.error(path, "has " + in_quotes(found) + ", which a person must replace", shown_by);
  } else if (const json::Array* items = value.array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      check_fill_ins(scope, (*items)[i], path + step(i));
    }
  } else if (const json::Object* members = value.object()) {
    for (const json::Member& member : *members) {
      check_fill_ins(scope, member.value, join_path(path, step(member.name)));
    }
  }
}

void check_document(const Scope& scope, const Document& document, std::string_view text);

// The items of a ClusterProfileList have no kind.
void check_list(const Scope& outer, const ObjectReader& list, const ItemProblems& problems) {
  const Scope scope = outer.as(rule::kList);
  const bool are_profiles = json::text_or_empty(list.value(), "kind") == "ClusterProfileList";
  const std::string text = json::text_or_empty(list.value(), "apiVersion");
  const Result<ProfileVersion> version = parse_profile_version(text);
  const std::string hint = are_profiles ? "write " + known_profile_versions() : "write v1";
  if (text.empty()) {
    scope.error("apiVersion", "is missing", hint);
  } else if (are_profiles && !version) {
    scope.add(Severity::error, version.error(), {}, hint);
  }
  check_spelling(scope, list, {"items"});
  const Value* items = list.find("items");
  if (items == nullptr) return;
  if (items->array() == nullptr) {
    scope.error("items", "must be an array, not " + std::string(items->kind()), "list the objects");
    return;
  }
  for (std::size_t i = 0; i < items->array()->size(); ++i) {
    const Value& item = (*items->array())[i];
    const Scope inside = scope.inside("items" + step(i));
    const Result<ObjectReader> reader = ObjectReader::open(item, "");
    if (const auto problem = problems.find(i); problem != problems.end()) {
      inside.error({}, in_quotes(full_name_of(item)) + ": " + problem->second.message,
                   problem->second.hint);
    } else if (!reader) {
      inside.add(Severity::error, reader.error(), {}, "list the objects");
    } else if (are_profiles) {
      check_fill_ins(inside.as(rule::kFillIn), item, {});
      check_cluster_profile(inside, *reader, ProfileOf::list,
                            version ? *version : ProfileVersion::v1alpha1);
    } else {
      check_document(inside, {.value = item}, json::to_text(item));
    }
  }
}

bool is_known(const Value& document) { return kind_of(document) != Kind::unknown; }

// Checks each value of the ConfigMap as a separate file. Values without a known document belong to
// other programs.
void check_config_map(const Scope& scope, const ObjectReader& config_map) {
  constexpr std::size_t kDeepest = 4;  // each level parses the levels below it again
  if (scope.texts() == kDeepest) {
    return scope.as(rule::kUnknownDocument)
        .warning({}, "is a ConfigMap inside of " + std::to_string(kDeepest) + " others",
                 "give lint what it holds as a file");
  }
  const Value* data = config_map.find("data");
  bool has_known = false;
  if (data != nullptr && data->object() != nullptr) {
    for (const json::Member& member : *data->object()) {
      const std::string* text = member.value.string();
      if (text == nullptr) continue;
      const bool is_manifest = member.name.ends_with(".yaml") || member.name.ends_with(".yml") ||
                               member.name.ends_with(".json");
      const Result<std::vector<Value>> documents = parse_documents(*text, kMaxInventory);
      if (documents ? std::none_of(documents->begin(), documents->end(), is_known) : !is_manifest) {
        check_fill_ins(scope.as(rule::kFillIn), member.value, join_path("data", step(member.name)));
        continue;
      }
      has_known = true;
      check_text(scope.inside_text(join_path("data", step(member.name))), *text);
    }
  }
  if (!has_known) report_unknown(scope, config_map.value());
}

// `text` is the text of this document alone.
void check_document(const Scope& scope, const Document& document, std::string_view text) {
  const Result<ObjectReader> reader = ObjectReader::open(document.value, "");
  const Kind kind = kind_of(document.value);
  // The documents in the other two are checked one by one.
  if (kind != Kind::list && kind != Kind::config_map) {
    check_fill_ins(scope.as(rule::kFillIn), document.value, {});
  }
  switch (kind) {
    case Kind::mapping:
      return check_mapping(scope.as(rule::kMapping), text);
    case Kind::cluster_profile:
      return check_cluster_profile(scope, *reader, ProfileOf::document);
    case Kind::list:
      return check_list(scope, *reader, document.item_problems);
    case Kind::kubeconfig:
      if (const Status escapes = yaml::check_escapes(text); !escapes) {
        scope.error({}, escapes.error().message, "write / itself");
      }
      return check_kubeconfig(scope.as(rule::kKubeconfig), *reader);
    case Kind::kueue:
      return check_kueue(scope.as(rule::kKueue), *reader);
    case Kind::config_map:
      return check_config_map(scope, *reader);
    case Kind::unknown:
      return report_unknown(scope, document.value);
  }
}

// The place of the first byte that is NUL or not UTF-8; nullopt if there is none.
std::optional<Place> place_of_no_text(std::string_view text) {
  Place place;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = decode_utf8(text.substr(i)).length;
    if (length == 0 || text[i] == '\0') return place;
    if (text[i] == '\n') place = {.line = place.line + 1, .column = 0};
    ++place.column;
    i += length;
  }
  return std::nullopt;
}

// Reports a document that can be read, but not in its file.
void check_file_of(const Scope& scope, const Value& document, bool is_alone, bool is_utf16) {
  const Kind kind = kind_of(document);
  if (is_utf16 && kind != Kind::kubeconfig && kind != Kind::unknown) {
    scope.error({}, "is UTF-16, in which only a kubeconfig is read", "save the file as UTF-8");
  }
  if (kind == Kind::mapping && !is_alone) {
    scope.error({}, "is a mapping beside another document, and is not read",
                "give the mapping a file of its own");
  }
}

// Checks all documents of the text. Returns their number.
std::size_t check_documents(const Scope& scope, std::string_view text, bool is_utf16);

}  // namespace

void check_text(const Scope& scope, std::string_view text) {
  const std::optional<SecretString> converted =
      scope.texts() == 0 ? from_utf16(text) : std::nullopt;
  if (converted) text = converted->reveal();
  if (scope.texts() == 0) scope.run().text_sizes[scope.file()] = text.size();
  const Mark before = mark_of(scope.run());
  const std::size_t documents =
      check_documents(scope.as(rule::kSyntax), text, converted.has_value());
  // Findings in a text inside a field get the position of the field.
  if (scope.texts() == 0) place_findings(scope, text, documents, before);
}

namespace {

std::size_t check_documents(const Scope& scope, std::string_view text, bool is_utf16) {
  constexpr std::string_view kHint = "it must be JSON or YAML";
  const auto refuse = [&](const std::string& message, std::optional<Place> place = {}) {
    std::vector<Finding>& findings = scope.run().findings;
    const std::size_t before = findings.size();
    scope.error({}, message, kHint);
    if (scope.texts() == 0 && findings.size() > before) findings.back().place = place;
    return std::size_t(0);
  };
  if (trim(text).empty()) return refuse("is empty");
  const std::vector<Result<Document>> documents = parse_each_document(text, kMaxInventory);
  if (documents.empty()) return refuse("holds no document");
  const bool is_any_read = std::any_of(documents.begin(), documents.end(),
                                       [](const auto& document) { return document.has_value(); });
  const std::optional<Place> no_text = is_any_read ? std::nullopt : place_of_no_text(text);
  if (no_text) {
    return refuse("is no text: line " + std::to_string(no_text->line) +
                      " has a byte that is no UTF-8, or NUL",
                  no_text);
  }
  if (documents.size() == 1 && documents.front()) {
    const bool is_mapping_file =
        scope.texts() == 0 && kind_of(documents.front()->value) == Kind::mapping;
    if (is_mapping_file) scope.run().mapping_files.push_back(scope.file());
    check_file_of(scope, documents.front()->value, true, is_utf16);
    check_document(scope, *documents.front(), text);
    return 1;
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Result<Document>& document = documents[i];
    if (document) {
      const Scope inside = scope.inside("document" + step(i));
      check_file_of(inside, document->value, false, is_utf16);
      check_document(inside, *document, json::to_text(document->value));
    } else {
      scope.add(Severity::error, document.error(), {}, kHint);
    }
  }
  return documents.size();
}

}  // namespace

bool is_mapping(std::string_view text) {
  if (text.size() > kMaxKubeconfig) return false;  // none may be so large
  const Result<std::vector<Value>> documents = parse_documents(text, kMaxInventory);
  return documents && documents->size() == 1 && kind_of(documents->front()) == Kind::mapping;
}

}  // namespace execcred::lint
