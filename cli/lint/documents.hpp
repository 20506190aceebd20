// SPDX-License-Identifier: Apache-2.0
// The documents that lint knows, recognised by their content, never by their file's name.
#pragma once

#include "findings.hpp"

#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <string_view>

namespace execcred::lint {

// A whole file's text: one document or many. A text that is empty, binary or malformed is an error,
// because its intended kind is unknown.
void check_text(const Scope& scope, std::string_view text);

// Whether the text is a mapping, and nothing else.
bool is_mapping(std::string_view text);

// A document, or an item of a ClusterProfileList, whose items may lack an apiVersion: they have the
// list's.
enum class ProfileOf { document, list };
void check_cluster_profile(const Scope& outer, const json::ObjectReader& document, ProfileOf source,
                           ProfileVersion version = ProfileVersion::v1alpha1);
void check_kubeconfig(const Scope& scope, const json::ObjectReader& document);

}  // namespace execcred::lint
