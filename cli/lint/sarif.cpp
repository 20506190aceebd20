// SPDX-License-Identifier: Apache-2.0
#include "sarif.hpp"

#include "list_text.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/version.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace execcred::lint {
namespace {

using cli::number_of;
using json::Object;
using json::Value;

constexpr std::string_view kHub = "hub: ";

std::string_view level_of(Severity severity) {
  return severity == Severity::info ? "note" : name_of(severity);
}

Value text_object(std::string_view text) { return Value(Object{{"text", Value(text)}}); }

// The URI of a relative path is relative, to the repository; that of an absolute path is for this
// machine.
std::string uri_of(const std::string& file) {
  std::string uri = file.starts_with('/') ? "file://" : "";
  std::string_view separator;
  for (const std::string_view part : split(file, '/')) {
    uri.append(separator).append(percent_encode(part));
    separator = "/";
  }
  return uri;
}

Value rules() {
  json::Array rules;
  for (const Rule& rule : rule::kAll) {
    rules.emplace_back(
        Object{{"id", Value(rule.id)}, {"shortDescription", text_object(rule.summary)}});
  }
  return Value(std::move(rules));
}

std::size_t index_of(std::string_view id) {
  const auto found = std::find_if(rule::kAll.begin(), rule::kAll.end(),
                                  [id](const Rule& rule) { return rule.id == id; });
  return static_cast<std::size_t>(found - rule::kAll.begin());
}

Value location_of(const Finding& finding) {
  Value location((Object()));
  if (!finding.file.starts_with(kHub)) {
    Value physical(
        Object{{"artifactLocation", Value(Object{{"uri", Value(uri_of(finding.file))}})}});
    if (finding.place) {
      physical.add("region", Value(Object{{"startLine", number_of(finding.place->line)},
                                          {"startColumn", number_of(finding.place->column)}}));
    }
    location.add("physicalLocation", std::move(physical));
  }
  std::string name = finding.path;
  if (finding.file.starts_with(kHub)) {
    const std::string object = printable(finding.file.substr(kHub.size()));
    name = name.empty() ? object : object + ": " + name;
  }
  if (!name.empty()) {
    json::Array names;
    names.emplace_back(Object{{"fullyQualifiedName", Value(name)}});
    location.add("logicalLocations", Value(std::move(names)));
  }
  return location;
}

Value result_of(const Finding& finding) {
  std::string text = finding.path.empty() ? finding.message : finding.path + ": " + finding.message;
  if (!finding.hint.empty()) text += ". Hint: " + finding.hint;
  json::Array locations;
  locations.push_back(location_of(finding));
  return Value(Object{{"ruleId", Value(finding.rule)},
                      {"ruleIndex", number_of(index_of(finding.rule))},
                      {"level", Value(level_of(finding.severity))},
                      {"message", text_object(text)},
                      {"locations", Value(std::move(locations))}});
}

}  // namespace

Value to_sarif(const std::vector<Finding>& findings) {
  json::Array results;
  for (const Finding& finding : findings) results.push_back(result_of(finding));
  Value driver(Object{
      {"name", Value("execcred lint")}, {"semanticVersion", Value(kVersion)}, {"rules", rules()}});
  json::Array runs;
  runs.emplace_back(Object{{"tool", Value(Object{{"driver", std::move(driver)}})},
                           {"columnKind", Value("unicodeCodePoints")},
                           {"results", Value(std::move(results))}});
  return Value(Object{{"$schema", Value("https://json.schemastore.org/sarif-2.1.0.json")},
                      {"version", Value("2.1.0")},
                      {"runs", Value(std::move(runs))}});
}

}  // namespace execcred::lint
