// SPDX-License-Identifier: Apache-2.0
#include "profile_source.hpp"

#include "hub_profiles.hpp"

#include <execcred/documents.hpp>
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
    std::error_code ignored;
    if (is_manifest(entry->path()) && !entry->is_directory(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (problem) {
    return Error{.kind = Error::Kind::configuration,
                 .message = "cannot read " + in_quotes(folder.native()) + ": " + problem.message()};
  }
  std::sort(files.begin(), files.end());
  return files;
}

template <class T>
Result<T> with_story(Result<T> result, const std::string& source) {
  return std::move(result)
      .context("reading " + source)
      .hint(
          "the format is ClusterProfile of multicluster.x-k8s.io/v1alpha1, in YAML or JSON; "
          "whoever writes the object must mend it");
}

// A file that stands alone is meant; those of a folder may be anything.
enum class Place { alone, folder };

bool is_of_others(const std::string& text) {
  const Result<std::vector<json::Value>> documents = parse_documents(text, kMaxInventory);
  return documents && std::all_of(documents->begin(), documents->end(), [](const json::Value& one) {
           return one.object() != nullptr && one.find("kind") == nullptr &&
                  one.find("apiVersion") == nullptr;
         });
}

Status read_text(const std::string& text, const std::string& source,
                 const ReceiveClusterProfile& receive) {
  bool was_received = false;
  Status read = for_each_cluster_profile(text, [&](Result<ClusterProfile> profile) -> Status {
    Status received = receive(with_story(std::move(profile), source));
    was_received = !received;
    return received;
  });
  // An error that the receiver returned has its story already.
  return was_received ? std::move(read) : with_story(std::move(read), source);
}

// What is wrong with one file of a folder is no reason not to read the others.
Status read_file_at(const fs::path& file, const ReceiveClusterProfile& receive,
                    Place place = Place::alone) {
  const std::string source = in_quotes(file.native());
  Result<std::string> text = read_untrusted_file(file, kMaxInventory);
  if (place == Place::alone) {
    if (!text) return std::move(text).error();
    return read_text(*text, source, receive);
  }
  if (!text) return receive(std::move(text).error());
  if (is_of_others(*text)) return {};
  bool was_received = false;
  Status read = read_text(*text, source, [&](Result<ClusterProfile> profile) {
    Status received = receive(std::move(profile));
    was_received = !received;
    return received;
  });
  return read || was_received ? std::move(read) : receive(std::move(read).error());
}

Status read_path(const std::string& path, const ReceiveClusterProfile& receive) {
  if (path == "-") {
    TRY_ASSIGN(const std::string text, read_stream(STDIN_FILENO, kMaxInventory, "standard input"));
    return read_text(text, "standard input", receive);
  }
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return read_file_at(path, receive);
  TRY_ASSIGN(const std::vector<fs::path> files, list_manifests(path));
  for (const fs::path& file : files) TRY(read_file_at(file, receive, Place::folder));
  return {};
}

Status read_hub(const HubOptions& options, std::string_view name,
                const ReceiveClusterProfile& receive) {
  TRY_ASSIGN(HubClient hub, options.connect());
  return for_each_profile_of(hub, options, name, [&receive](const json::Value& document) {
    return receive(
        with_story(parse_cluster_profile(document),
                   "ClusterProfile " + in_quotes(full_name_of(document)) + " of the hub"));
  });
}

bool is_named(const ClusterProfile& profile, std::string_view name) {
  return name.empty() || profile.name == name || profile.full_name() == name;
}

}  // namespace

void ProfileSource::add_to(OptionSet& options) {
  options
      .add("clusterprofile", paths_, "PATH|-",
           "ClusterProfiles, YAML or JSON: a file, a folder, or standard input")
      .short_name('f')
      .no_environment();
  hub_.add_to(options);
}

Status ProfileSource::check() const {
  TRY(hub_.check());
  if (paths_.empty() == hub_.is_used()) return {};
  return Error{.kind = Error::Kind::configuration,
               .message = paths_.empty() ? "neither --clusterprofile nor --from-hub is given"
                                         : "--clusterprofile and --from-hub are both given",
               .hint = "-f=PATH reads ClusterProfiles from files, --from-hub from the hub's API"};
}

Status ProfileSource::for_each(std::string_view name, const ReceiveClusterProfile& receive) const {
  if (hub_.is_used()) return read_hub(hub_, name, receive);
  for (const std::string& path : paths_) {
    TRY(read_path(path, [&](Result<ClusterProfile> profile) -> Status {
      return profile && !is_named(*profile, name) ? Status() : receive(std::move(profile));
    }));
  }
  return {};
}

std::string ProfileSource::hint() const {
  return hub_.is_used()
             ? "--namespace and --selector say where on the hub to look"
             : "a folder's .yaml, .yml and .json files are read, other kinds passed over";
}

std::string ProfileSource::title() const {
  if (hub_.is_used()) {
    const std::string& name_space = hub_.name_space();
    return name_space.empty() ? "the hub" : "namespace " + in_quotes(name_space) + " of the hub";
  }
  std::vector<std::string> paths;
  for (const std::string& path : paths_) paths.push_back(in_quotes(path));
  return join(paths, ", ");
}

}  // namespace execcred::cli
