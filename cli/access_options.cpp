// SPDX-License-Identifier: Apache-2.0
#include "access_options.hpp"

#include "catalogue.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace execcred::cli {
namespace {

// The names that a value of --name lists, without duplicates.
std::vector<std::string> names_in(const std::string& text) {
  if (text.empty()) return {};
  // A text with other characters is taken as one name, and so is one with an empty part. No
  // ClusterProfile has such a name.
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789.-/,";
  if (text.find_first_not_of(kOfNames) != std::string::npos) return {text};
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const std::string_view name : split(text, ',')) {
    if (name.empty()) return {text};
    if (seen.insert(name).second) names.emplace_back(name);
  }
  return names;
}

// With the problems of its entries. Fails (configuration) if the file is no mapping, or lacks
// `provider` if that is given.
Result<engine::Mapping> read_with_problems(const std::string& path, const std::string& provider) {
  engine::Mapping mapping = TRY(engine::Mapping::load(path, hint_on_provider));
  if (provider.empty() || mapping.find(provider) != nullptr) return mapping;
  return Error::configuration("provider " + in_quotes(provider) + " is not in the mapping",
                              "--provider is the name of an entry of the mapping");
}

// AccessOptions::for_each_profile() for several names. Reads the whole source once.
Status for_each_of(const AccessOptions& options, const std::vector<std::string>& names,
                   const ReceiveProfile& receive, Outcome& outcome) {
  std::unordered_map<std::string_view, bool> is_found;
  for (const std::string& name : names) is_found.emplace(name, false);
  std::size_t found = 0;
  const auto choose = [&](const ClusterProfile& profile) -> Status {
    bool is_chosen = false;
    for (const std::string& name : {profile.name, profile.full_name()}) {
      const auto chosen = is_found.find(name);
      if (chosen == is_found.end()) continue;
      chosen->second = is_chosen = true;
    }
    if (!is_chosen) return {};
    ++found;
    return receive(profile);
  };
  Inventory inventory = TRY(options.source.for_each({}, choose));
  inventory.found = found;
  conclude(std::move(inventory), options.source, join(names, ", "), options.may_be_empty, outcome);
  if (found == 0 || options.may_be_empty) return {};
  for (const std::string& name : names) {
    if (is_found.at(name)) continue;
    outcome.exit_code = 1;
    outcome.problems.push_back(
        {.kind = Error::Kind::configuration,
         .message = options.source.title() + " holds no ClusterProfile named " + in_quotes(name),
         .hint = options.source.hint() + "; the others are done"});
  }
  return {};
}

}  // namespace

void AccessOptions::add_to(CommandOptions& options, bool is_mapping_required) {
  add_mapping_option(options, mapping_path, is_mapping_required);
  source.add_to(options);
  options.group("Input");
  options.add("name", name,
              {.value = "[NAMESPACE/]NAME", .help = "Only the ClusterProfile of this name"});
  options.add("provider", provider,
              {.value = "NAME", .help = "Access provider to use; default: the first that fits"});
  add_allow_empty_option(options, may_be_empty);
}

Result<ProviderMapping> AccessOptions::mapping() const {
  TRY(source.check());
  return read_mapping(mapping_path);
}

Result<engine::Mapping> AccessOptions::mapping_with_problems() const {
  TRY(source.check());
  return read_with_problems(mapping_path, provider);
}

Status AccessOptions::for_each_profile(const ReceiveProfile& receive, Outcome& outcome) const {
  const std::vector<std::string> chosen = names_in(name);
  if (chosen.size() > 1) return for_each_of(*this, chosen, receive, outcome);
  const std::string one = chosen.empty() ? "" : chosen.front();
  Inventory inventory = TRY(source.for_each(one, receive));
  conclude(std::move(inventory), source, one, may_be_empty, outcome);
  return {};
}

bool AccessOptions::has_several_names() const { return names_in(name).size() > 1; }

Result<std::optional<ClusterProfile>> AccessOptions::one_profile(Outcome& outcome) const {
  std::optional<ClusterProfile> first;
  std::size_t count = 0;
  bool have_one_name = true;
  std::vector<std::string> names;
  const auto receive = [&](const ClusterProfile& profile) -> Status {
    if (++count == 1) first = profile;
    have_one_name = have_one_name && profile.full_name() == first->full_name();
    if (names.size() < 10) names.push_back(profile.full_name());
    return {};
  };
  TRY(for_each_profile(receive, outcome));
  if (count <= 1) return first;
  return Error::configuration(
      source.title() + " holds " + std::to_string(count) + " ClusterProfiles",
      have_one_name
          ? "all are named " + names.front() + ": remove all but one"
          : "choose one with --name: " + join(names, ", ") + (count > names.size() ? ", ..." : ""));
}

Result<std::vector<engine::Target>> AccessOptions::targets(
    Outcome& outcome, std::vector<ClusterProfile>* profiles) const {
  const engine::Mapping mapping = TRY(read_with_problems(mapping_path, provider));
  std::vector<engine::Target> targets;
  Inventory inventory;
  const auto take = [&](const Result<ClusterProfile>& profile, const ProfileName& of) {
    if (profile) {
      if (!is_named(*profile, name)) return;
      ++inventory.found;
      targets.push_back(engine::target_of(mapping, *profile, provider));
      if (profiles != nullptr) profiles->push_back(*profile);
    } else if (of.name.empty()) {
      inventory.problems.push_back({.error = profile.error(), .is_of_unknown = true});
    } else if (name.empty() || name == of.name || name == of.full_name()) {
      ++inventory.found;
      targets.push_back(engine::target_of(of, profile.error()));
    }
  };
  const Status is_read = source.for_each_document(name, take);
  deadline::stop();
  TRY(is_read);
  conclude(std::move(inventory), source, name, may_be_empty, outcome);
  return targets;
}

}  // namespace execcred::cli
