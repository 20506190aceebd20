// SPDX-License-Identifier: Apache-2.0
#include "providers.hpp"

#include "catalogue.hpp"
#include "suggestion.hpp"

#include <execcred/base/text.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace execcred::lint {
namespace {

// The names that all mappings of a group have together.
struct Mapped {
  std::set<std::string> names = {};
  std::set<std::string> folded_names = {};
  std::string file = {};  // of the first name
};

using MappedByGroup = std::map<std::string, Mapped>;

MappedByGroup mapped_by_group(const Run& run) {
  MappedByGroup groups;
  for (const auto& [key, of_provider] : run.mapped) {
    const auto& [group, name] = key;
    if (name.empty()) continue;
    Mapped& mapped = groups[group];
    if (mapped.names.empty()) mapped.file = of_provider.plugins.front().file;
    mapped.names.insert(name);
    mapped.folded_names.insert(ascii_lower(name));
  }
  return groups;
}

std::string shown(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    if (texts.size() == kMost) break;
    texts.push_back(in_quotes(name));
  }
  if (names.size() > kMost) texts.push_back(std::to_string(names.size() - kMost) + " more");
  return join(texts, ", ");
}

bool has_one_of(const std::set<std::string>& mapped, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&mapped](const std::string& name) { return mapped.contains(name); });
}

bool differs_in_case_alone(const Mapped& mapped, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&mapped](const std::string& name) {
    return mapped.folded_names.contains(ascii_lower(name));
  });
}

// What explains that the mapping has none of the names; empty if nothing does.
std::string explanation_of(const Mapped& mapped, const std::set<std::string>& names) {
  if (differs_in_case_alone(mapped, names)) return "names count with their case; ";
  const std::vector<std::string> words(mapped.names.begin(), mapped.names.end());
  for (const std::string& name : names) {
    const std::string near = cli::misspelled_word(name, words);
    if (!near.empty()) return in_quotes(name) + " is nearly " + in_quotes(near) + "; ";
  }
  for (const std::string& name : names) {
    const std::string known = cli::hint_on_provider(name);
    if (!known.empty()) return known + "; ";
  }
  return {};
}

// Without a mapping, the catalogue alone can tell that a name is misspelled.
void report_misspelled(Run& run, const ProfileProviders& profile) {
  for (const std::string& name : profile.names) {
    const std::string near = cli::misspelled_provider(name);
    if (near.empty()) continue;
    Scope(run, profile.file, profile.group)
        .as(rule::kProviderName)
        .warning(profile.path,
                 "has " + in_quotes(name) + ", and a name in use is " + in_quotes(near),
                 "compare it with the names of the mapping");
  }
}

// Whether the consumer answers one of the names itself.
bool is_built_in(const Run& run, const ProfileProviders& profile) {
  const cli::KnownConsumer* const consumer = cli::catalogue().consumer(run.limits.consumer);
  return consumer != nullptr &&
         std::any_of(profile.names.begin(), profile.names.end(), [consumer](const auto& name) {
           return cli::is_one_of(name, consumer->built_ins);
         });
}

void report_unmapped(Run& run, const ProfileProviders& profile, const Mapped& mapped) {
  Scope(run, profile.file, profile.group)
      .as(rule::kProviderNotMapped)
      .error(profile.path,
             "lists " + shown(profile.names) + ", and the mapping has none of these: it has " +
                 shown(mapped.names),
             explanation_of(mapped, profile.names) + "give an entry of " + mapped.file +
                 " one of the ClusterProfile's names, or let the cluster manager offer one of the "
                 "mapping's");
}

}  // namespace

void note_providers(const Scope& scope, const std::string& path, std::set<std::string> names) {
  if (names.empty()) return;
  scope.run().providers.push_back({.group = scope.group(),
                                   .file = scope.file(),
                                   .path = scope.path_of(path),
                                   .names = std::move(names)});
}

void check_providers_are_mapped(Run& run) {
  const MappedByGroup groups = mapped_by_group(run);
  for (const ProfileProviders& profile : run.providers) {
    const Mapped* nearest = nullptr;
    bool is_mapped = false;
    for (const std::string& group : {profile.group, std::string()}) {
      const auto found = groups.find(group);
      if (found == groups.end()) continue;
      if (nearest == nullptr) nearest = &found->second;
      is_mapped = is_mapped || has_one_of(found->second.names, profile.names);
    }
    if (nearest == nullptr) {
      report_misspelled(run, profile);
    } else if (!is_mapped && !is_built_in(run, profile)) {
      report_unmapped(run, profile, *nearest);
    }
  }
}

}  // namespace execcred::lint
