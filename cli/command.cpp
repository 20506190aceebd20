// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <execcred/file.hpp>
#include <execcred/text.hpp>

#include <algorithm>
#include <optional>
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
}

Result<ProviderMapping> read_mapping(const std::string& path) {
  TRY_ASSIGN(const std::string text,
             read_file(path, kMaxKubeconfig).hint("-m names the controller's mapping file"));
  return parse_provider_mapping(text)
      .context("reading " + in_quotes(path))
      .hint("the format is that of config/clusterprofile-provider-file.json");
}

Result<ProviderMapping> AccessOptions::mapping() const {
  TRY(source_.check());
  return read_mapping(mapping_path_);
}

Status AccessOptions::for_each_profile(const Receive& receive) const {
  bool is_empty = true;
  TRY(source_.for_each(name_, [&](const Result<ClusterProfile>& profile) -> Status {
    if (!profile) return profile.error();
    is_empty = false;
    return receive(*profile);
  }));
  if (!is_empty) return {};
  return Error{.kind = Error::Kind::configuration,
               .message = source_.title() + " holds no ClusterProfile" +
                          (name_.empty() ? "" : " named " + in_quotes(name_)),
               .hint = source_.hint()};
}

Result<ClusterProfile> AccessOptions::one_profile() const {
  std::optional<ClusterProfile> first;
  std::size_t count = 0;
  std::vector<std::string> names;
  TRY(for_each_profile([&](const ClusterProfile& profile) -> Status {
    if (++count == 1) first = profile;
    if (names.size() < 10) names.push_back(profile.full_name());
    return {};
  }));
  if (count == 1) return *std::move(first);
  return Error{.kind = Error::Kind::configuration,
               .message = source_.title() + " holds " + std::to_string(count) + " ClusterProfiles",
               .hint = "choose one with --name: " + join(names, ", ") +
                       (count > names.size() ? ", ..." : "")};
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
