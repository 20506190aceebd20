// SPDX-License-Identifier: Apache-2.0
#include <execcred/hub/profiles.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/hub/hub.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/profile_hint.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace execcred {
namespace {

struct Wanted {
  std::string name_space = {};  // empty: all
  std::string name = {};        // empty: all
};

std::string metadata_of(const json::Value& object, std::string_view field) {
  const json::Value* metadata = object.find("metadata");
  return metadata == nullptr ? std::string() : json::text_or_empty(metadata->find(field));
}

// Parses [NAMESPACE/]NAME. The names are checked because they become part of a URL.
Result<Wanted> parse_name(std::string_view text, const std::string& name_space) {
  const std::size_t slash = text.find('/');
  const bool has_namespace = slash != std::string_view::npos;
  Wanted wanted{.name_space = has_namespace ? std::string(text.substr(0, slash)) : name_space,
                .name = std::string(has_namespace ? text.substr(slash + 1) : text)};
  if (text.empty()) return wanted;
  if (!is_dns1123_subdomain(wanted.name) ||
      (has_namespace && !is_dns1123_label(wanted.name_space))) {
    return Error::configuration("--name: " + in_quotes(text) + " is no [NAMESPACE/]NAME",
                                "both are in [a-z0-9-], the name perhaps with dots");
  }
  if (!name_space.empty() && wanted.name_space != name_space) {
    return Error::configuration("--name and --namespace name two namespaces",
                                "leave one of them out");
  }
  return wanted;
}

// The hub's versions, for a message.
std::string shown(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    if (texts.size() == kMost) break;
    texts.push_back(in_quotes(name));
  }
  if (names.size() > kMost) texts.push_back(std::to_string(names.size() - kMost) + " more");
  return texts.empty() ? "no version" : join(texts, ", ");
}

// The versions that both the hub and execcred know, the newest first.
Result<std::vector<ProfileVersion>> served_versions(HubClient& hub) {
  const std::string group(kProfileGroup);
  const std::optional<std::vector<std::string>> served = TRY(hub.versions(group));
  if (!served) {
    return Error::configuration(
        "the hub does not serve the API group " + group,
        "install the CRD of ClusterProfile there, or name the hub that has it");
  }
  std::vector<ProfileVersion> versions;
  for (const ProfileVersion version : kProfileVersions) {
    const bool is_served =
        std::find(served->begin(), served->end(), name_of(version)) != served->end();
    if (is_served) versions.insert(versions.begin(), version);
  }
  if (!versions.empty()) return versions;
  return Error::configuration(
      "the hub serves " + group + " as " + shown(*served) + ", not as " + known_profile_versions(),
      "let the CRD of ClusterProfile serve one of these versions too");
}

HubResource resource_of(const Wanted& wanted, ProfileVersion version) {
  return {.group = std::string(kProfileGroup),
          .version = std::string(name_of(version)),
          .resource = "clusterprofiles",
          .name_space = wanted.name_space};
}

// Adds the apiVersion if it is missing, as it may be in the items of a list.
json::Value with_version(json::Value object, ProfileVersion version) {
  if (object.object() != nullptr && object.find("apiVersion") == nullptr) {
    object.add("apiVersion",
               json::Value(std::string(kProfileGroup) + "/" + std::string(name_of(version))));
  }
  return object;
}

Status find_one(HubClient& hub, const Wanted& wanted, HubResource resource,
                const LabelSelector& selector, const ReceiveItem& receive) {
  resource.name = wanted.name;
  std::optional<json::Value> object = TRY(hub.find(resource));
  if (!object) return {};
  const bool is_asked = json::text_or_empty(object->find("kind")) == "ClusterProfile" &&
                        metadata_of(*object, "namespace") == wanted.name_space &&
                        metadata_of(*object, "name") == wanted.name;
  if (!is_asked) {
    return Error::no_credential("the hub answered with another object than ClusterProfile " +
                                    in_quotes(wanted.name_space + "/" + wanted.name),
                                "is this a Kubernetes API server?");
  }
  return selector.matches(profile_name_of(*object).labels) ? receive({.object = *std::move(object)})
                                                           : Status();
}

Status list_all(HubClient& hub, const Wanted& wanted, const HubResource& resource,
                const LabelSelector& selector, const ReceiveItem& receive) {
  // An error of the receiver already has its context.
  std::optional<Error> received_error;
  const auto take = [&](ListItem item) -> Result<bool> {
    const bool is_wanted = wanted.name.empty() || metadata_of(item.object, "name") == wanted.name;
    if (!is_wanted || !selector.matches(profile_name_of(item.object).labels)) return true;
    Status received = receive(std::move(item));
    const bool goes_on = received.has_value();
    if (!goes_on) received_error = std::move(received).error();
    return goes_on;
  };
  const Result<std::string> listed = hub.list(resource, {.label_selector = selector.text()}, take);
  if (received_error) return *std::move(received_error);
  return listed ? Status() : listed.error();
}

// A version of the group may exist for other kinds than ClusterProfile: then the hub does not find
// the resource, and the next older version is tried.
Status read_newest(HubClient& hub, const Wanted& wanted, const LabelSelector& selector,
                   const ReceiveItem& receive) {
  const std::vector<ProfileVersion> versions = TRY(served_versions(hub));
  for (const ProfileVersion version : versions) {
    const HubResource resource = resource_of(wanted, version);
    bool was_received = false;
    const ReceiveItem receive_versioned = [&](ListItem item) {
      was_received = true;
      item.object = with_version(std::move(item.object), version);
      return receive(std::move(item));
    };
    const bool is_exact = !wanted.name.empty() && !wanted.name_space.empty();
    Status read = is_exact ? find_one(hub, wanted, resource, selector, receive_versioned)
                           : list_all(hub, wanted, resource, selector, receive_versioned);
    const bool may_be_unserved = !read && !was_received && version != versions.back() &&
                                 read.error().kind == Error::Kind::no_credential;
    if (!may_be_unserved) return read;
    const Result<bool> is_served = hub.serves(resource);
    if (!is_served || *is_served) return read;
  }
  return {};
}

}  // namespace

Status for_each_profile_of(HubClient& hub, const ProfileQuery& query, const ReceiveItem& receive) {
  const Wanted wanted = TRY(parse_name(query.name, query.name_space));
  return read_newest(hub, wanted, query.selector, receive);
}

Result<HubResource> newest_profiles(HubClient& hub, const std::string& name_space) {
  const std::vector<ProfileVersion> versions = TRY(served_versions(hub));
  for (const ProfileVersion version : versions) {
    HubResource resource = resource_of({.name_space = name_space}, version);
    // As in read_newest(), the hub may serve a version for other kinds only. The last version is
    // requested in any case, to get the hub's refusal.
    const bool is_served = version == versions.back() || TRY(hub.serves(resource));
    if (is_served) return resource;
  }
  return resource_of({.name_space = name_space}, versions.back());
}

Result<ClusterProfile> parse_profile_of_hub(const ListItem& item) {
  Result<ClusterProfile> profile =
      item.problem ? Result<ClusterProfile>(*item.problem) : parse_cluster_profile(item.object);
  return std::move(profile)
      .context("reading ClusterProfile " + in_quotes(full_name_of(item.object)) + " of the hub")
      .hint(profile_format_hint(true));
}

Result<LoadedProfiles> list_cluster_profiles(const HubQuery& query,
                                             const Environment& environment) {
  if (!query.name_space.empty() && !is_dns1123_label(query.name_space)) {
    return Error::configuration(in_quotes(query.name_space) + " is no name of a namespace",
                                "it must be a DNS-1123 label: [a-z0-9-], at most 63");
  }
  ProfileQuery wanted = {.name_space = query.name_space};
  wanted.selector = TRY(LabelSelector::parse(query.label_selector));
  Hub found = TRY(find_hub(query.kubeconfig, query.context, environment));
  const auto deadline = std::chrono::steady_clock::now() + query.timeout;
  found.http.deadline = deadline;
  HubClient hub(std::move(found), {.deadline = deadline});
  LoadedProfiles loaded;
  TRY(for_each_profile_of(hub, wanted, [&loaded](const ListItem& item) -> Status {
    Result<ClusterProfile> profile = parse_profile_of_hub(item);
    if (profile) {
      loaded.profiles.push_back(std::move(*profile));
    } else {
      loaded.problems.push_back(std::move(profile).error());
    }
    return {};
  }));
  return loaded;
}

}  // namespace execcred
