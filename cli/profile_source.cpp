// SPDX-License-Identifier: Apache-2.0
#include "profile_source.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/profiles.hpp>
#include <execcred/kube/profile_files.hpp>
#include <execcred/os/deadline.hpp>
#include <execcred/os/file.hpp>

#include <unistd.h>

#include <utility>

namespace execcred::cli {
namespace {

Status read_hub(const HubOptions& options, std::string_view name,
                const ReceiveProfileOrError& receive) {
  HubClient hub = TRY(options.connect());
  const ProfileQuery query = {.name_space = options.name_space(),
                              .selector = options.selector(),
                              .name = std::string(name)};
  deadline::enter_phase("reading ClusterProfiles from the hub");
  Status read = for_each_profile_of(hub, query, [&receive](const ListItem& item) -> Status {
    receive(parse_profile_of_hub(item), profile_name_of(item.object));
    return {};
  });
  deadline::enter_phase(nullptr);
  return read;
}

}  // namespace

NameChoice::NameChoice(const std::vector<std::string>& values) {
  for (const std::string& value : values) values_.emplace(value, Found::none);
}

bool NameChoice::take(std::string_view name_space, std::string_view name) {
  const auto in_full = values_.find(full_name_of(name_space, name));
  if (in_full != values_.end()) in_full->second = Found::in_full;
  const auto by_name = values_.find(name);
  if (by_name != values_.end() && by_name->second == Found::none) by_name->second = Found::by_name;
  return is_of_all() || in_full != values_.end() || by_name != values_.end();
}

bool NameChoice::chooses(std::string_view name_space, std::string_view name) const {
  if (is_of_all() || values_.contains(full_name_of(name_space, name))) return true;
  const auto by_name = values_.find(name);
  return by_name != values_.end() && by_name->second == Found::by_name;
}

bool NameChoice::has_found(std::string_view value) const {
  const auto found = values_.find(value);
  return found != values_.end() && found->second != Found::none;
}

void ProfileSource::add_to(CommandOptions& options) {
  options.group("Input");
  options.add("clusterprofile", paths_,
              {.letter = 'f',
               .value = "PATH",
               .help = "ClusterProfiles: a file, a folder or - for standard input",
               .takes = Takes::file});
  hub_.add_to(options);
}

Status ProfileSource::check(bool asks_hub) const {
  TRY(hub_.check(asks_hub));
  if (paths_.empty() == hub_.is_used()) return {};
  return Error::configuration(
      paths_.empty() ? "neither --clusterprofile nor --from-hub is given"
                     : "--clusterprofile and --from-hub are both given",
      "-f=PATH reads ClusterProfiles from files, --from-hub from the hub's API");
}

Result<Inventory> ProfileSource::for_each(const ReceiveProfile& receive) const {
  NameChoice all({});
  return for_each(all, receive);
}

Result<Inventory> ProfileSource::for_each(NameChoice& names, const ReceiveProfile& receive) const {
  Inventory inventory;
  const auto pass = [&](const ClusterProfile& profile) {
    ++inventory.found;
    const Status taken = receive(profile);
    if (!taken) inventory.problems.push_back({.error = taken.error()});
  };
  std::vector<ClusterProfile> named;
  const auto take = [&](Result<ClusterProfile> profile, const ProfileName&) {
    if (!profile) {
      inventory.problems.push_back({.error = std::move(profile).error(), .is_of_unknown = true});
    } else if (names.is_of_all()) {
      pass(*profile);
    } else if (names.take(profile->name_space, profile->name)) {
      named.push_back(*std::move(profile));
    }
  };
  TRY(for_each_document(names.only(), take));
  for (const ClusterProfile& profile : named) {
    if (names.chooses(profile.name_space, profile.name)) pass(profile);
  }
  return inventory;
}

Status ProfileSource::for_each_document(std::string_view name,
                                        const ReceiveProfileOrError& receive) const {
  if (hub_.is_used()) return read_hub(hub_, name, receive);
  const auto choose = [&](Result<ClusterProfile> profile, const ProfileName& its_name) {
    if (hub_.chooses(its_name)) receive(std::move(profile), its_name);
  };
  for (const std::string& path : paths_) TRY(for_each_document_in(path, choose));
  return {};
}

Status ProfileSource::for_each_document_in(const std::string& path,
                                           const ReceiveProfileOrError& receive,
                                           const ReceiveEmptyFile& receive_empty) {
  if (path != "-") return read_profiles_in(path, receive, receive_empty);
  const std::string text = TRY(read_stream(STDIN_FILENO, kMaxInventory, "standard input"));
  read_profiles(text, "standard input", receive);
  return {};
}

std::string ProfileSource::hint() const {
  if (hub_.is_used()) return "--namespace and --selector say where on the hub to look";
  return hub_.is_choice()
             ? "--namespace and --selector choose among its ClusterProfiles"
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
