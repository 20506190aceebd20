// SPDX-License-Identifier: Apache-2.0
// The documents that lint knows, recognised by their content, never by their file's name.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <string_view>

namespace execcred::lint {

// Checks the whole text of a file, which has one document or several. A text that is empty, binary
// or malformed is an error, because its intended kind is unknown.
void check_text(const Scope& scope, std::string_view text);

// Whether the text is one document, and that is a mapping.
bool is_mapping(std::string_view text);

// Whether a ClusterProfile is a document, or an item of a ClusterProfileList. Such an item may have
// no apiVersion; it then has that of the list, `version`.
enum class ProfileOf { document, list };
void check_cluster_profile(const Scope& outer, const json::ObjectReader& document, ProfileOf source,
                           ProfileVersion version = ProfileVersion::v1alpha1);
void check_kubeconfig(const Scope& scope, const json::ObjectReader& document);

}  // namespace execcred::lint
