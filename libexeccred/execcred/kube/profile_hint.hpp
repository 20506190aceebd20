// SPDX-License-Identifier: Apache-2.0
// Hints for what only the author of a ClusterProfile can correct.
#pragma once

#include <execcred/kube/cluster_profile.hpp>

#include <string>

namespace execcred {

inline constexpr const char* kMendProfile = "the author of the ClusterProfile must correct it";

// For an object that is no ClusterProfile of a version that is read. With `tells_notations`, the
// hint also says that the text is YAML or JSON.
inline std::string profile_format_hint(bool tells_notations) {
  return "the format is ClusterProfile of " + known_profile_versions() +
         (tells_notations ? ", in YAML or JSON" : "") +
         "; the author of the object must correct it";
}

}  // namespace execcred
