// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <execcred/file.hpp>
#include <execcred/text.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

bool is_manifest(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// The manifests of a folder, in the order of their names; folders inside are not entered.
Result<std::vector<fs::path>> list_manifests(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (is_manifest(entry->path()) && !entry->is_directory()) files.push_back(entry->path());
  }
  if (problem) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "cannot read " + in_quotes(folder.native()) + ": " + problem.message()};
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status read_text(const std::string& text, const std::string& source,
                 const ReceiveClusterProfile& receive) {
  const auto tell = [&source](auto result) {
    return std::move(result)
        .context("reading " + source)
        .hint(
            "the format is ClusterProfile of multicluster.x-k8s.io/v1alpha1, in YAML or JSON; "
            "whoever writes the object must mend it");
  };
  bool was_received = false;
  Status read = for_each_cluster_profile(text, [&](Result<ClusterProfile> profile) -> Status {
    Status received = receive(tell(std::move(profile)));
    was_received = !received;
    return received;
  });
  // An error that the receiver returned has its story already.
  return was_received ? std::move(read) : tell(std::move(read));
}

}  // namespace

void AccessOptions::add_to(OptionSet& options) {
  add_input_options(options, mapping_path_, profiles_path_);
  options.add("name", name_, "[NAMESPACE/]NAME", "Only the ClusterProfile of this name")
      .no_environment();
  options
      .add("provider", provider_, "NAME", "This access provider, not the mapping's first that fits")
      .no_environment();
}

Status for_each_profile_in(const std::string& path, const ReceiveClusterProfile& receive) {
  if (path == "-") {
    TRY_ASSIGN(const std::string text, read_stream(STDIN_FILENO, kMaxInventory, "standard input"));
    return read_text(text, "standard input", receive);
  }
  std::vector<fs::path> files = {path};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    TRY_ASSIGN(files, list_manifests(path));
  }
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string text, read_untrusted_file(file, kMaxInventory));
    TRY(read_text(text, in_quotes(file.native()), receive));
  }
  return {};
}

Result<ProviderMapping> read_mapping(const std::string& path) {
  TRY_ASSIGN(const std::string text,
             read_file(path, kMaxKubeconfig).hint("-m names the controller's mapping file"));
  return parse_provider_mapping(text)
      .context("reading " + in_quotes(path))
      .hint("the format is that of config/clusterprofile-provider-file.json");
}

Result<ProviderMapping> AccessOptions::mapping() const { return read_mapping(mapping_path_); }

Result<std::vector<ClusterProfile>> AccessOptions::profiles() const {
  std::vector<ClusterProfile> profiles;
  TRY(for_each_profile_in(profiles_path_, [&](Result<ClusterProfile> profile) -> Status {
    if (!profile) return std::move(profile).error();
    const bool is_wanted = name_.empty() || profile->name == name_ || profile->full_name() == name_;
    if (is_wanted) profiles.push_back(std::move(profile).value());
    return {};
  }));
  if (!profiles.empty()) return profiles;
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(profiles_path_) + " holds no ClusterProfile" +
                          (name_.empty() ? "" : " named " + in_quotes(name_)),
               .hint = "a folder's .yaml, .yml and .json files are read, other kinds passed over"};
}

Result<ClusterProfile> AccessOptions::one_profile() const {
  TRY_ASSIGN(std::vector<ClusterProfile> profiles, this->profiles());
  if (profiles.size() == 1) return std::move(profiles.front());
  std::vector<std::string> names;
  for (const ClusterProfile& profile : profiles) {
    if (names.size() < 10) names.push_back(profile.full_name());
  }
  return Error{.kind = Error::Kind::configuration,
               .message = in_quotes(profiles_path_) + " holds " + std::to_string(profiles.size()) +
                          " ClusterProfiles",
               .hint = "choose one with --name: " + join(names, ", ") +
                       (profiles.size() > names.size() ? ", ..." : "")};
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
