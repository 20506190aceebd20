// SPDX-License-Identifier: Apache-2.0
#include "access_options.hpp"

#include "catalogue.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>

#include <optional>
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
  const std::vector<std::string> values = names_in(name);
  NameChoice names(values);
  Inventory inventory = TRY(source.for_each(names, receive));
  const bool is_any_found = inventory.found > 0;
  conclude(std::move(inventory), source, join(values, ", "), may_be_empty, outcome);
  if (!is_any_found || may_be_empty) return {};
  for (const std::string& value : values) {
    if (names.has_found(value)) continue;
    outcome.exit_code = 1;
    outcome.problems.push_back(
        {.kind = Error::Kind::configuration,
         .message = source.title() + " holds no ClusterProfile named " + in_quotes(value),
         .hint = source.hint() + "; the others are done"});
  }
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
  NameChoice names(name.empty() ? std::vector<std::string>() : std::vector{name});
  struct Taken {
    engine::Target target;
    std::optional<ClusterProfile> profile;
    ProfileName of;
  };
  std::vector<Taken> all;
  Inventory inventory;
  const auto take = [&](Result<ClusterProfile> profile, const ProfileName& of) {
    if (profile) {
      if (!names.take(profile->name_space, profile->name)) return;
      Taken& taken =
          all.emplace_back(Taken{.target = engine::target_of(mapping, *profile, provider),
                                 .profile = std::nullopt,
                                 .of = {.name_space = profile->name_space, .name = profile->name}});
      if (profiles != nullptr) taken.profile = *std::move(profile);
    } else if (of.name.empty()) {
      inventory.problems.push_back({.error = std::move(profile).error(), .is_of_unknown = true});
    } else if (names.take(of.name_space, of.name)) {
      all.push_back({.target = engine::target_of(of, profile.error()),
                     .profile = std::nullopt,
                     .of = {.name_space = of.name_space, .name = of.name}});
    }
  };
  const Status is_read = source.for_each_document(name, take);
  deadline::stop();
  TRY(is_read);
  std::vector<engine::Target> targets;
  for (Taken& taken : all) {
    if (!names.chooses(taken.of.name_space, taken.of.name)) continue;
    ++inventory.found;
    targets.push_back(std::move(taken.target));
    if (taken.profile) profiles->push_back(*std::move(taken.profile));
  }
  conclude(std::move(inventory), source, name, may_be_empty, outcome);
  return targets;
}

}  // namespace execcred::cli
