// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles in files, folders and other texts.
#pragma once

#include <execcred/kube/cluster_profile.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace execcred {

// Gets each ClusterProfile, or why one could not be read, which does not affect the others.
using ReceiveProfileOrError = std::function<void(Result<ClusterProfile>, const ProfileName&)>;

// `source` is for messages: "'profiles.yaml'".
void read_profiles(std::string_view text, const std::string& source,
                   const ReceiveProfileOrError& receive);

// A file, or the manifests of a folder (manifest_walk.hpp), of which those that are no Kubernetes
// objects are ignored. Fails (configuration) where the path itself cannot be read.
Status read_profiles_in(const std::filesystem::path& path, const ReceiveProfileOrError& receive);

}  // namespace execcred
