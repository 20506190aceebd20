// SPDX-License-Identifier: Apache-2.0
// The findings of execcred lint, and their places. Every check reports all its findings, and does
// not stop at the first.
#pragma once

#include "rules.hpp"

#include "paint.hpp"

#include <execcred/base/error.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>
#include <execcred/kube/provider_mapping.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::lint {

enum class Severity {
  error,
  warning,
  info,  // no problem, but useful for the reader
};

// From 1; columns are characters.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct Finding {
  std::string file = {};
  std::optional<Place> place = std::nullopt;  // in the file, where that could be read
  std::string_view rule = {};                 // the name of one of rules.hpp
  std::string path = {};                      // of the field; empty for the document
  Severity severity = Severity::error;
  std::string message = {};
  std::string hint = {};  // what to do
};

// What the checks may read beside the documents.
struct Limits {
  bool looks_at_programs = true;
  // Where the programs of /plugins are on this machine; empty: in /plugins.
  std::filesystem::path plugin_directory = {};
  bool may_be_empty = false;  // a folder without manifests, a hub without ClusterProfiles
  // The ClusterProfiles to check; unset: all.
  std::function<bool(const ProfileName&)> chooses = {};
};

// A program of a mapping for a provider's name.
struct MappedPlugin {
  std::string file = {};
  std::string place = {};
  ExecConfig exec = {};
  bool appends = false;  // a ClusterProfile's arguments
};

// The access providers of a ClusterProfile of the run.
struct ProfileProviders {
  std::string group = {};
  std::string file = {};
  std::string path = {};
  std::set<std::string> names = {};
};

// What a ClusterProfile passes to the program of a provider.
struct ProfileInput {
  std::string group = {};
  std::string file = {};
  std::string profile = {};  // metadata.name
  std::string provider = {};
  std::string server = {};
  std::string config_path = {};
  json::Value config = {};  // of the extension client.authentication.k8s.io/exec
  std::string arguments_path = {};
  std::vector<std::string> arguments = {};
};

// One run over any number of files.
struct Run {
  Limits limits = {};
  std::vector<Finding> findings = {};
  // A group and "namespace/name", to its file.
  std::map<std::string, std::string> places_of_profiles = {};
  // A group and a value of the label inventory-member-id, to the first ClusterProfile that has it.
  std::map<std::string, std::string> members = {};
  std::size_t passed_over = 0;  // documents of other kinds
  std::size_t unread = 0;       // files that cannot be read
  // A file, and the places of the fields that a finding may be about once all files are read.
  std::map<std::string, std::map<std::string, Place>> places = {};
  // By group and name of the provider.
  std::map<std::pair<std::string, std::string>, std::vector<MappedPlugin>> mapped = {};
  std::vector<ProfileInput> inputs = {};
  std::vector<ProfileProviders> providers = {};
};

// The file, and perhaps the document in it, to which findings belong.
class Scope {
 public:
  // `group`: its subfolder. Documents that belong together (one hub's ClusterProfiles, and their
  // mapping) are in one group.
  Scope(Run& run, std::string file, std::string group = {})
      : run_(&run), file_(std::move(file)), group_(std::move(group)) {}
  // Paths of fields get the prefix, "items[3]".
  Scope inside(std::string_view prefix) const;
  // Findings get this rule.
  Scope as(const Rule& rule) const;
  // The same for a field whose value is a file of its own.
  Scope inside_text(std::string_view prefix) const;

  void error(std::string_view path, std::string_view message, std::string_view hint) const;
  void warning(std::string_view path, std::string_view message, std::string_view hint) const;
  void info(std::string_view path, std::string_view message, std::string_view hint) const;
  void add(Severity severity, std::string_view path, std::string_view message,
           std::string_view hint) const;
  // An error of an ObjectReader at `base`, whose message begins with the field's path.
  void add(Severity severity, const Error& error, std::string_view base = {},
           std::string_view hint = {}) const;

  Run& run() const { return *run_; }
  const Limits& limits() const { return run_->limits; }
  const std::string& file() const { return file_; }
  const std::string& group() const { return group_; }
  // The number of nested files that are values of fields.
  std::size_t texts() const { return texts_; }
  // "FILE: items[3]"
  std::string place() const;
  // With the prefix: "items[3].metadata.name".
  std::string path_of(std::string_view path) const;

 private:
  Run* run_;
  std::string file_;
  std::string group_;
  std::string prefix_;
  std::string_view rule_ = rule::kSyntax.id;
  std::size_t texts_ = 0;
};

// "a" and "b" give "a.b"; "b" alone, if "a" is empty; "a[0]" for "[0]".
std::string join_path(std::string_view path, std::string_view field);
// The step to an element, "[0]", or to a member: "name", or ["a name with other characters"], of
// which a long one is cut: every value below it has the step in its path.
std::string step(std::size_t index);
std::string step(std::string_view member);

std::size_t count(const std::vector<Finding>& findings, Severity severity);

// By file, otherwise in the order in which they were found.
void sort_by_file(std::vector<Finding>& findings);

// The number of checked objects.
struct Looked {
  std::size_t files = 0;
  std::size_t objects = 0;  // of the hub
  std::size_t passed_over = 0;
};

// FILE:LINE:COLUMN: error: PATH: MESSAGE, with the hint on the next line, and the totals at the
// end.
std::string to_text(const std::vector<Finding>& findings, const Looked& looked,
                    const cli::Paint& paint = {});
// The same as a table.
std::string to_table(const std::vector<Finding>& findings, const Looked& looked,
                     const cli::Paint& paint);
// The files that have findings, one a line.
std::string to_names(const std::vector<Finding>& findings);
// {"items": [{file, line, column, path, severity, rule, message, hint}], "errors": N, "warnings":
// N, "passedOver": N}
json::Value to_json(const std::vector<Finding>& findings, const Looked& looked);

}  // namespace execcred::lint
