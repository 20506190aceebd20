// SPDX-License-Identifier: Apache-2.0
// The findings of execcred lint, and their places. Every check reports all its findings, and does
// not stop at the first. A hostile file could fill the memory with its findings: if those of one
// rule are larger than the file and 4 MiB, the rest is not listed.
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
#include <tuple>
#include <utility>
#include <vector>

namespace execcred::lint {

enum class Severity {
  error,
  warning,
  info,  // no problem, but useful for the reader
};

// "error", "warning", "info".
std::string_view name_of(Severity severity);

// Lines and columns are counted from 1. A column is a character, not a byte.
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

// What the checks may read besides the documents, and what they check.
struct Limits {
  bool looks_at_programs = true;
  // The directory on this machine that stands for /plugins; empty: /plugins itself.
  std::filesystem::path plugin_directory = {};
  bool may_be_empty = false;  // a folder without manifests, a hub without ClusterProfiles
  std::string consumer = {};  // who reads the mapping, by its name in the catalogue
  // The ClusterProfiles to check; unset: all.
  std::function<bool(const ProfileName&)> chooses = {};
};

// The program that a mapping has for a provider.
struct MappedPlugin {
  std::string file = {};
  std::string path = {};  // of the entry, in the file
  std::string place = {};
  ExecConfig exec = {};
  bool appends = false;  // a ClusterProfile's arguments
};

// The programs that the mappings of one group have for a provider. Nobody can say which of them
// reads a ClusterProfile's value, so it is judged by each. Equal ones are one.
struct MappedPlugins {
  // Every ClusterProfile is compared with each: a hostile file could name as many as it has
  // ClusterProfiles.
  static constexpr std::size_t kMost = 20;

  std::vector<MappedPlugin> plugins = {};  // kMost at most, and not empty
  // The first one that is not listed. Without all of them, no value is known to be refused.
  std::optional<MappedPlugin> excess = std::nullopt;
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
  // The bytes of the findings of each file, rule and severity. They are limited by those of the
  // file's text.
  std::map<std::tuple<std::string, std::string_view, Severity>, std::size_t> sizes = {};
  std::map<std::string, std::size_t> text_sizes = {};
  // From the group and "namespace/name" of a ClusterProfile to its place.
  std::map<std::string, std::string> places_of_profiles = {};
  std::vector<std::string> mapping_files = {};  // those with a mapping alone
  // From the group and the inventory-member-id, a label or a property, to the first ClusterProfile
  // that has it.
  std::map<std::string, std::string> members = {};
  std::size_t passed_over = 0;  // documents of other kinds
  std::size_t unread = 0;       // files that cannot be read
  // From a file to the places of its fields, by path. Findings about them may come after all files
  // were read.
  std::map<std::string, std::map<std::string, Place>> places = {};
  // By the group of the mapping and the name of the provider.
  std::map<std::pair<std::string, std::string>, MappedPlugins> mapped = {};
  std::vector<ProfileInput> inputs = {};
  std::vector<ProfileProviders> providers = {};
};

// The file, and perhaps the document in it, to which findings belong.
class Scope {
 public:
  // `group` is the subfolder of the file, below the folder that was named. Documents that belong
  // together (the ClusterProfiles of one hub, and their mapping) are in one group.
  Scope(Run& run, std::string file, std::string group = {})
      : run_(&run), file_(std::move(file)), group_(std::move(group)) {}
  // A scope in which the paths of fields begin with `prefix`, such as "items[3]".
  Scope inside(std::string_view prefix) const;
  // A scope whose findings have this rule.
  Scope as(const Rule& rule) const;
  // The same as inside(), for a field whose value is the text of a file.
  Scope inside_text(std::string_view prefix) const;

  void error(std::string_view path, std::string_view message, std::string_view hint) const;
  void warning(std::string_view path, std::string_view message, std::string_view hint) const;
  void info(std::string_view path, std::string_view message, std::string_view hint) const;
  void add(Severity severity, std::string_view path, std::string_view message,
           std::string_view hint) const;
  // Adds an error of an ObjectReader at the path `base`. If the error's message begins with the
  // path of a field, that is the path of the finding. If it is a parser's, the finding has its
  // place.
  void add(Severity severity, const Error& error, std::string_view base = {},
           std::string_view hint = {}) const;

  Run& run() const { return *run_; }
  const Limits& limits() const { return run_->limits; }
  const std::string& file() const { return file_; }
  const std::string& group() const { return group_; }
  // The number of texts inside fields that contain this scope: 0 for the file itself.
  std::size_t texts() const { return texts_; }
  // "FILE: items[3]"
  std::string place() const;
  // The path with the prefix: "items[3].metadata.name".
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
// The part of a path for an element, "[0]", or for a member: name, or ["a name with other
// characters"]. A long name is cut, because the path of every value inside contains it.
std::string step(std::size_t index);
std::string step(std::string_view member);

std::size_t count(const std::vector<Finding>& findings, Severity severity);

// Sorts by file. The findings of one file stay in the order in which they were found.
void sort_by_file(std::vector<Finding>& findings);

// The numbers of checked files and objects.
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
// The files that have findings, one line each. The findings must be sorted by file.
std::string to_names(const std::vector<Finding>& findings);
// {"items": [{file, line, column, path, severity, rule, message, hint}], "errors": N, "warnings":
// N, "passedOver": N}
json::Value to_json(const std::vector<Finding>& findings, const Looked& looked);

}  // namespace execcred::lint
