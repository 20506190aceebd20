// SPDX-License-Identifier: Apache-2.0
#include "target_options.hpp"

#include <execcred/base/try.hpp>
#include <execcred/os/deadline.hpp>

#include <utility>

namespace execcred::cli {

void TargetOptions::add_to(CommandOptions& options, bool is_mapping_required) {
  add_mapping_option(options, mapping_path, is_mapping_required);
  source.add_to(options);
  add_choice_options(options, name, provider, may_be_empty);
}

Result<std::vector<engine::Target>> TargetOptions::read(
    Outcome& outcome, std::vector<ClusterProfile>* profiles) const {
  const engine::Mapping mapping = TRY(read_mapping_with_problems(mapping_path, provider));
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
