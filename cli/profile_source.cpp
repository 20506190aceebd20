// SPDX-License-Identifier: Apache-2.0
#include "profile_source.hpp"

#include "hub_profiles.hpp"
#include "manifest_walk.hpp"

#include <execcred/base/text.hpp>
#include <execcred/json/documents.hpp>
#include <execcred/os/file.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace execcred::cli {
namespace {

namespace fs = std::filesystem;

template <class T>
Result<T> with_context(Result<T> result, const std::string& source) {
  return std::move(result)
      .context("reading " + source)
      .hint(
          "the format is ClusterProfile of multicluster.x-k8s.io/v1alpha1 or v1alpha2, in YAML or "
          "JSON; whoever writes the object must mend it");
}

using Receive = std::function<void(Result<ClusterProfile>)>;

void read_text(const std::string& text, const std::string& source, const Receive& receive) {
  // Fails only where the receiver does.
  (void)for_each_cluster_profile(text, [&](Result<ClusterProfile> profile) -> Status {
    receive(with_context(std::move(profile), source));
    return {};
  });
}

// Those of a folder may be anything; a file that is named is meant.
bool is_of_others(const std::string& text) {
  const std::vector<Result<json::Value>> documents = parse_each_document(text, kMaxInventory);
  return std::all_of(documents.begin(), documents.end(), [](const Result<json::Value>& one) {
    return one && one->object() != nullptr && one->find("kind") == nullptr &&
           one->find("apiVersion") == nullptr;
  });
}

void read_folder(const fs::path& folder, const Receive& receive) {
  const auto wrong = [&receive](std::string message, std::string hint) {
    receive(Error{.kind = Error::Kind::configuration,
                  .message = std::move(message),
                  .hint = std::move(hint)});
  };
  walk_manifests(
      folder, {.file =
                   [&receive](const fs::path& file, const std::string&) {
                     Result<std::string> text = read_untrusted_file(file, kMaxInventory);
                     if (!text) return receive(std::move(text).error());
                     if (!is_of_others(*text)) read_text(*text, in_quotes(file.native()), receive);
                   },
               .unreadable =
                   [&wrong](const fs::path& inner, const std::string&, const std::string& reason) {
                     wrong("cannot read " + in_quotes(inner.native()) + ": " + reason,
                           "name a folder that can be read");
                   },
               .too_deep =
                   [&wrong](const fs::path& inner, const std::string&) {
                     wrong(in_quotes(inner.native()) +
                               " holds folders that lie too deep, and are not "
                               "entered",
                           "name them too");
                   }});
}

// Fails (configuration) where a path that was named cannot be read.
Status read_path(const std::string& path, const Receive& receive) {
  std::error_code ignored;
  if (path == "-") {
    TRY_ASSIGN(const std::string text, read_stream(STDIN_FILENO, kMaxInventory, "standard input"));
    read_text(text, "standard input", receive);
  } else if (fs::is_directory(path, ignored)) {
    read_folder(path, receive);
  } else {
    TRY_ASSIGN(const std::string text, read_untrusted_file(path, kMaxInventory));
    read_text(text, in_quotes(path), receive);
  }
  return {};
}

Status read_hub(const HubOptions& options, std::string_view name, const Receive& receive) {
  TRY_ASSIGN(HubClient hub, options.connect());
  return for_each_profile_of(hub, options, name, [&receive](const json::Value& document) -> Status {
    receive(with_context(parse_cluster_profile(document),
                         "ClusterProfile " + in_quotes(full_name_of(document)) + " of the hub"));
    return {};
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

Result<Inventory> ProfileSource::for_each(std::string_view name,
                                          const ReceiveProfile& receive) const {
  Inventory inventory;
  const auto take = [&](const Result<ClusterProfile>& profile) {
    if (!profile) {
      inventory.problems.push_back({.error = profile.error(), .is_of_unknown = true});
    } else if (is_named(*profile, name)) {
      ++inventory.found;
      const Status taken = receive(*profile);
      if (!taken) inventory.problems.push_back({.error = taken.error()});
    }
  };
  if (hub_.is_used()) {
    TRY(read_hub(hub_, name, take));
  } else {
    for (const std::string& path : paths_) TRY(read_path(path, take));
  }
  return inventory;
}

std::string ProfileSource::hint() const {
  return hub_.is_used()
             ? "--namespace and --selector say where on the hub to look"
             : "a folder's .yaml, .yml and .json files are read, and those of the folders inside; "
               "documents of other kinds are passed over";
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
