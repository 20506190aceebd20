// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <execcred/kube/cluster_profile.hpp>
#include <execcred/yaml/places.hpp>

#include <optional>
#include <set>
#include <vector>

namespace execcred::lint {
namespace {

// The path of the value that contains this one; empty for the document itself.
std::string_view path_around(std::string_view path) {
  const bool is_quoted = path.ends_with("\"]");
  const std::size_t cut = is_quoted             ? path.rfind("[\"")
                          : path.ends_with(']') ? path.rfind('[')
                                                : path.rfind('.');
  return cut == std::string_view::npos ? std::string_view() : path.substr(0, cut);
}

class Wanted {
 public:
  // Adds the path, and those of the values that contain it.
  void add(std::string_view path) {
    while (paths_.emplace(path).second && !path.empty()) path = path_around(path);
  }
  // Adds also all paths inside it.
  void add_whole(const std::string& path) {
    if (path.empty()) return;
    add(path);
    whole_.insert(path);
  }
  bool has(const std::string& path) const { return paths_.contains(path); }
  bool has_whole(const std::string& path) const { return whole_.contains(path); }

 private:
  std::set<std::string, std::less<>> paths_;
  std::set<std::string, std::less<>> whole_;
};

// Follows the paths of all values of a text, and stores the positions of the wanted ones.
class PathWalk {
 public:
  PathWalk(const Wanted& wanted, bool is_one_document, std::map<std::string, Place>& places)
      : wanted_(wanted), is_one_document_(is_one_document), places_(places) {}

  void take(const PlacedValue& value) {
    ends_.resize(value.depth);
    path_.resize(ends_.empty() ? 0 : ends_.back());
    if (whole_depth_ && value.depth <= *whole_depth_) whole_depth_.reset();
    path_ = join_path(path_, step_of(value));
    ends_.push_back(path_.size());
    if (!whole_depth_ && wanted_.has_whole(path_)) whole_depth_ = value.depth;
    if (!whole_depth_ && !wanted_.has(path_)) return;
    places_.emplace(path_, Place{.line = value.line, .column = value.column});
  }

 private:
  std::string step_of(const PlacedValue& value) const {
    if (value.depth == 0) return is_one_document_ ? "" : "document" + step(value.document);
    return value.key ? step(*value.key) : step(value.index);
  }

  const Wanted& wanted_;
  bool is_one_document_;
  std::map<std::string, Place>& places_;
  std::string path_;
  std::vector<std::size_t> ends_;  // of the path of each value that this one is inside of
  std::optional<std::size_t> whole_depth_;
};

void place(const std::map<std::string, Place>& places, Finding& finding) {
  for (std::string path = finding.path;; path = path_around(path)) {
    const auto found = places.find(path);
    if (found != places.end()) finding.place = found->second;
    if (found != places.end() || path.empty()) return;
  }
}

}  // namespace

Mark mark_of(const Run& run) {
  return {.findings = run.findings.size(),
          .inputs = run.inputs.size(),
          .providers = run.providers.size()};
}

void place_findings(const Scope& scope, std::string_view text, std::size_t documents,
                    const Mark& before) {
  Run& run = scope.run();
  Wanted wanted;
  for (std::size_t i = before.findings; i < run.findings.size(); ++i) {
    wanted.add(run.findings[i].path);
  }
  for (std::size_t i = before.inputs; i < run.inputs.size(); ++i) {
    wanted.add_whole(run.inputs[i].config_path);
    wanted.add_whole(run.inputs[i].arguments_path);
  }
  for (std::size_t i = before.providers; i < run.providers.size(); ++i) {
    wanted.add(run.providers[i].path);
  }
  if (!wanted.has("")) return;
  std::map<std::string, Place>& places = run.places[scope.file()];
  PathWalk walk(wanted, documents == 1, places);
  for_each_place(text, kMaxInventory, [&walk](const PlacedValue& value) { walk.take(value); });
  for (std::size_t i = before.findings; i < run.findings.size(); ++i) {
    if (!run.findings[i].place) place(places, run.findings[i]);
  }
}

void place_late_findings(Run& run) {
  for (Finding& finding : run.findings) {
    const auto places = run.places.find(finding.file);
    if (!finding.place && places != run.places.end()) place(places->second, finding);
  }
}

}  // namespace execcred::lint
