// SPDX-License-Identifier: Apache-2.0
// The ClusterProfiles of a text, for tests.
#pragma once

#include <execcred/kube/cluster_profile.hpp>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

// Fails with the first one that cannot be read.
inline Result<std::vector<ClusterProfile>> parse_cluster_profiles(std::string_view text) {
  std::vector<ClusterProfile> profiles;
  std::optional<Error> first;
  for_each_cluster_profile(text, [&](Result<ClusterProfile> profile, const ProfileName&) {
    if (profile) {
      profiles.push_back(std::move(profile).value());
    } else if (!first) {
      first = std::move(profile).error();
    }
  });
  if (first) return *std::move(first);
  return profiles;
}

}  // namespace execcred::test
