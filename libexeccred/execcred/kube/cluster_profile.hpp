// SPDX-License-Identifier: Apache-2.0
// ClusterProfile (multicluster.x-k8s.io, KEP-4322): a cluster of the inventory, and the ways to
// reach it that its manager offers.
//
// The writer of a ClusterProfile's status chooses its whole content. Nothing in it is trusted.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::json {
class ObjectReader;
}

namespace execcred {

inline constexpr std::size_t kMaxInventory = 64 * 1024 * 1024;

inline constexpr std::string_view kProfileGroup = "multicluster.x-k8s.io";
// The label, or property, that identifies a cluster: ClusterProfiles of one hub with the same value
// are the same cluster.
inline constexpr std::string_view kInventoryMemberLabel =
    "multicluster.x-k8s.io/inventory-member-id";

// The versions that are read. v1alpha2 has no status.credentialProviders, and defines which values
// of a cluster are valid: check_profile_cluster().
enum class ProfileVersion { v1alpha1, v1alpha2 };

// Oldest first.
inline constexpr std::array<ProfileVersion, 2> kProfileVersions = {ProfileVersion::v1alpha1,
                                                                   ProfileVersion::v1alpha2};

// "v1alpha2"
std::string_view name_of(ProfileVersion version);
// "multicluster.x-k8s.io/v1alpha1 or v1alpha2", for messages.
std::string known_profile_versions();

// Parses an apiVersion, such as "multicluster.x-k8s.io/v1alpha2". Fails (configuration) for another
// group and for a version that is not read. The message names the versions that are read.
Result<ProfileVersion> parse_profile_version(std::string_view api_version);

// Sveltos has a kind of its own that is named ClusterProfile, and files of a fleet have both.
// Another group is taken for a mistake.
bool is_kind_of_sveltos(std::string_view api_version);

struct AccessProvider {
  std::string name;
  std::string path;  // "status.accessProviders[0]"
  // A kubeconfig v1 Cluster that is not parsed yet, so that a malformed one does not affect others.
  json::Value cluster;
  // The path of a later entry of its list that has its name, so that neither is used; or empty.
  std::string listed_again_at = {};
};

struct ClusterProfile {
  ProfileVersion version = ProfileVersion::v1alpha1;
  std::string name_space;  // empty where the document has none
  std::string name;
  // status.accessProviders, then those of the deprecated status.credentialProviders whose name
  // is not among them.
  std::vector<AccessProvider> access_providers;
  // The condition that says that the cluster is unhealthy, because it is False:
  // ControlPlaneHealthy, or Joined, which v1alpha2 defines and both versions may have. Empty if
  // none is: an absent or Unknown condition says nothing.
  std::string_view unhealthy_condition;
  // The property cluster.clusterset.k8s.io (KEP-2149): the cluster's ID. Not a credential.
  std::string cluster_id;
  // The label kInventoryMemberLabel, or else the property of this name; empty without both.
  std::string inventory_member_id;
  bool has_member_label = false;
  // The first part of these lists that could not be read, so that a provider may be missing above.
  std::optional<Error> provider_problem;
  // Whether its status has credentialProviders, a field that its version does not have. They are
  // ignored.
  bool has_dropped_providers = false;

  bool is_unhealthy() const { return !unhealthy_condition.empty(); }
  // "namespace/name", or the name alone.
  std::string full_name() const;
};

// The version is that of the document's apiVersion. `version` is for a document without one, such
// as an item of a list. Fails (configuration) with the path of the field at fault: a version that
// is not read, a name that is not a DNS-1123 subdomain, a list of providers that is no list or has
// more than 100,000 entries. A field without which the cluster can still be reached does not make
// the ClusterProfile unusable: a malformed property or condition counts as absent, and an entry
// without a name, or a malformed deprecated list, becomes its provider_problem.
Result<ClusterProfile> parse_cluster_profile(const json::Value& document,
                                             ProfileVersion version = ProfileVersion::v1alpha1);

// Checks what the version demands of an access provider's cluster, beyond the demands on a
// kubeconfig's: in v1alpha2, server and proxy-url are URLs with a host. Fails (configuration) with
// the field's path.
Status check_profile_cluster(const json::ObjectReader& cluster, ProfileVersion version);

// An object's name and labels as far as the document has them, also if the object cannot be read.
struct ProfileName {
  std::string name_space = {};
  std::string name = {};
  std::map<std::string, std::string, std::less<>> labels = {};

  std::string full_name() const;
};
// The texts in the metadata, even if they are not valid names: they may contain anything.
ProfileName profile_name_of(const json::Value& document);

// Receives each ClusterProfile, or the reason why one could not be read, which does not affect the
// others.
using ReceiveProfileOrError = std::function<void(Result<ClusterProfile>, const ProfileName&)>;
// The ClusterProfiles of a text: YAML or JSON, one or many documents, each a ClusterProfile, a List
// or a ClusterProfileList. Documents of other kinds are ignored.
void for_each_cluster_profile(std::string_view text, const ReceiveProfileOrError& receive);

// The readable part of an inventory, and the problems of the rest. A bad document does not prevent
// others from being read.
struct LoadedProfiles {
  std::vector<ClusterProfile> profiles = {};
  std::vector<Error> problems = {};
};

// Reads a file, or the .yaml, .yml and .json files of a folder and of the folders inside. Fails
// (configuration, or unavailable if it may pass) if `path` is a file that cannot be read or is
// larger than kMaxInventory. In a folder, that is one of the problems.
Result<LoadedProfiles> load_profiles(const std::filesystem::path& path);

}  // namespace execcred
