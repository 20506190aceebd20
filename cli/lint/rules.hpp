// SPDX-License-Identifier: Apache-2.0
// The rules of findings. Their names must not change, because other programs store them.
#pragma once

#include <array>
#include <string_view>

namespace execcred::lint {

struct Rule {
  std::string_view id;
  std::string_view summary;
};

namespace rule {

inline constexpr Rule kUnreadable = {"unreadable", "A file or folder cannot be read"};
inline constexpr Rule kSyntax = {"syntax", "A text is no JSON or YAML document"};
inline constexpr Rule kUnknownDocument = {"unknown-document", "A document of an unknown kind"};
inline constexpr Rule kList = {"list", "A List or ClusterProfileList is malformed"};
inline constexpr Rule kMapping = {"mapping", "A provider mapping is malformed"};
inline constexpr Rule kOwnership = {"ownership", "Others may change a mapping"};
inline constexpr Rule kPolicy = {"policy", "A policy lets a ClusterProfile set too much"};
inline constexpr Rule kClusterProfile = {"cluster-profile", "A ClusterProfile is malformed"};
inline constexpr Rule kDuplicateProfile = {"duplicate-profile", "Two ClusterProfiles of one name"};
inline constexpr Rule kDuplicateMember = {"duplicate-member", "Two ClusterProfiles of one cluster"};
inline constexpr Rule kCluster = {"cluster",
                                  "A cluster's server, CA or proxy is unsafe or malformed"};
inline constexpr Rule kExtension = {"extension",
                                    "An extension of a cluster is malformed or not read"};
inline constexpr Rule kKubeconfig = {"kubeconfig", "A kubeconfig is malformed or unsafe"};
inline constexpr Rule kKueue = {"kueue", "Kueue refuses or ignores a setting"};
inline constexpr Rule kUnknownField = {"unknown-field", "A field that nothing reads"};
inline constexpr Rule kExec = {"exec", "An exec entry is malformed"};
inline constexpr Rule kProgram = {"program", "A program is missing, or others may change it"};
inline constexpr Rule kPluginOption = {"plugin-option", "A plugin refuses its options"};
inline constexpr Rule kAllowServer = {"allow-server", "A token is given to any server"};
inline constexpr Rule kWeakenedCheck = {"weakened-check", "An option weakens a check"};
inline constexpr Rule kBoundary = {"boundary", "--from-profile is not the last argument"};
inline constexpr Rule kTemplate = {"template", "A template or path cannot be used"};
inline constexpr Rule kClusterInfo = {"cluster-info", "A plugin needs provideClusterInfo: true"};
inline constexpr Rule kPluginAdvice = {"plugin-advice",
                                       "A plugin reports a problem of its settings"};
inline constexpr Rule kSecret = {"secret", "A secret is in a document"};
inline constexpr Rule kProviderNotMapped = {"provider-not-mapped",
                                            "No provider of a ClusterProfile is in the mapping"};
inline constexpr Rule kProfileInput = {"profile-input",
                                       "A plugin refuses what a ClusterProfile gives it"};
inline constexpr Rule kIstioCluster = {"istio-cluster", "Two remote Secrets of one Istio cluster"};
inline constexpr Rule kFillIn = {"fill-in", "A value that a person must fill in"};
inline constexpr Rule kProviderName = {"provider-name",
                                       "A provider's name is misspelled, or a consumer's own"};
inline constexpr Rule kHub = {"hub", "Only a part of the hub can be checked"};

inline constexpr std::array kAll = {kUnreadable,
                                    kSyntax,
                                    kUnknownDocument,
                                    kList,
                                    kMapping,
                                    kOwnership,
                                    kPolicy,
                                    kClusterProfile,
                                    kDuplicateProfile,
                                    kDuplicateMember,
                                    kCluster,
                                    kExtension,
                                    kKubeconfig,
                                    kKueue,
                                    kUnknownField,
                                    kExec,
                                    kProgram,
                                    kPluginOption,
                                    kAllowServer,
                                    kWeakenedCheck,
                                    kBoundary,
                                    kTemplate,
                                    kClusterInfo,
                                    kPluginAdvice,
                                    kSecret,
                                    kProviderNotMapped,
                                    kProfileInput,
                                    kIstioCluster,
                                    kFillIn,
                                    kProviderName,
                                    kHub};

}  // namespace rule
}  // namespace execcred::lint
