// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <execcred/base/text.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <utility>

namespace execcred::cli {

void add_mapping_option(OptionSet& options, std::string& mapping) {
  options
      .add("clusterprofile-provider-file", mapping, "PATH",
           "Mapping file: which program stands for which access provider")
      .short_name('m')
      .required()
      .no_environment();
}

void AccessOptions::add_to(OptionSet& options) {
  add_mapping_option(options, mapping_path_);
  source_.add_to(options);
  options.add("name", name_, "[NAMESPACE/]NAME", "Only the ClusterProfile of this name")
      .no_environment();
  options
      .add("provider", provider_, "NAME", "This access provider, not the mapping's first that fits")
      .no_environment();
  add_allow_empty_option(options, may_be_empty_);
}

Result<ProviderMapping> read_mapping(const std::string& path) {
  return load_mapping(path).hint("-m names the controller's mapping file");
}

Result<ProviderMapping> AccessOptions::mapping() const {
  TRY(source_.check());
  return read_mapping(mapping_path_);
}

Status AccessOptions::for_each_profile(const ReceiveProfile& receive, Outcome& outcome) const {
  TRY_ASSIGN(Inventory inventory, source_.for_each(name_, receive));
  conclude(std::move(inventory), source_, name_, may_be_empty_, outcome);
  return {};
}

Result<std::optional<ClusterProfile>> AccessOptions::one_profile(Outcome& outcome) const {
  std::optional<ClusterProfile> first;
  std::size_t count = 0;
  std::vector<std::string> names;
  const auto receive = [&](const ClusterProfile& profile) -> Status {
    if (++count == 1) first = profile;
    if (names.size() < 10) names.push_back(profile.full_name());
    return {};
  };
  TRY(for_each_profile(receive, outcome));
  if (count <= 1) return first;
  return Error{.kind = Error::Kind::configuration,
               .message = source_.title() + " holds " + std::to_string(count) + " ClusterProfiles",
               .hint = "choose one with --name: " + join(names, ", ") +
                       (count > names.size() ? ", ..." : "")};
}

void add_allow_empty_option(OptionSet& options, bool& may_be_empty) {
  options
      .add("allow-empty", may_be_empty, "Nothing to work on is no error: the output is empty then")
      .no_environment();
}

void conclude(Inventory inventory, const ProfileSource& source, const std::string& name,
              bool may_be_empty, Outcome& outcome) {
  const bool is_chosen = !name.empty() && inventory.found > 0;
  bool are_refusals = true;
  std::size_t refused = 0;
  for (Inventory::Problem& problem : inventory.problems) {
    refused += problem.is_of_unknown ? 0 : 1;
    are_refusals = are_refusals && problem.error.kind == Error::Kind::no_credential;
    const bool is_sibling = is_chosen && problem.is_of_unknown;
    (is_sibling ? outcome.warnings : outcome.problems).push_back(std::move(problem.error));
  }
  const bool is_nothing_used = inventory.found == refused;
  const bool is_missing = inventory.found == 0 && (inventory.problems.empty() || !name.empty());
  if (is_missing && !may_be_empty) {
    outcome.problems.push_back(
        {.kind = Error::Kind::configuration,
         .message = source.title() + " holds no " +
                    (inventory.problems.empty() ? "" : "readable ") + "ClusterProfile" +
                    (name.empty() ? "" : " named " + in_quotes(name)),
         .hint = source.hint() + "; --allow-empty is for what may be empty"});
    are_refusals = false;
  }
  if (outcome.problems.empty()) return;
  outcome.exit_code = is_nothing_used && !may_be_empty && !are_refusals ? 2 : 1;
}

Result<std::string> parse_output(const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(text) + " is no output format",
               .hint = "it may be " + join(choices, ", ")};
}

json::Value profile_reference(const ClusterProfile& profile) {
  json::Value reference((json::Object()));
  if (!profile.name_space.empty()) reference.add("namespace", json::Value(profile.name_space));
  reference.add("name", json::Value(profile.name));
  return reference;
}

}  // namespace execcred::cli
