// SPDX-License-Identifier: Apache-2.0
// ClusterProfiles in files, folders and other texts.
#pragma once

#include <execcred/kube/cluster_profile.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace execcred {

// Receives each file without content, which its writer may not have finished.
using ReceiveEmptyFile = std::function<void(const std::filesystem::path&)>;

// `source` is the name of the text in messages: "'profiles.yaml'".
void read_profiles(std::string_view text, const std::string& source,
                   const ReceiveProfileOrError& receive);

// Reads a file, or the manifests of a folder (manifest_walk.hpp). Manifests that are not Kubernetes
// objects are ignored in a folder. Fails (configuration, or unavailable if it may pass) if `path`
// is a file that cannot be read. In a folder, the receiver gets that error.
Status read_profiles_in(const std::filesystem::path& path, const ReceiveProfileOrError& receive,
                        const ReceiveEmptyFile& receive_empty = {});

}  // namespace execcred
