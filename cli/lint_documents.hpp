// SPDX-License-Identifier: Apache-2.0
// The documents that lint knows, recognised by what is in them, never by their file's name.
#pragma once

#include "lint_findings.hpp"

#include <execcred/json/json_reader.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <string_view>

namespace execcred::lint {

// A whole file's text: one document or many. A text that is empty, binary or malformed is an
// error, because nothing says what it was meant to be.
void check_text(const Scope& scope, std::string_view text);

// Whether the text is a mapping, and nothing else.
bool is_mapping(std::string_view text);

// By itself, or an item of a ClusterProfileList, which says for all of them what they are: an item
// without an apiVersion is of the list's.
enum class ProfileOf { document, list };
void check_cluster_profile(const Scope& outer, const json::ObjectReader& document, ProfileOf source,
                           ProfileVersion version = ProfileVersion::v1alpha1);
void check_kubeconfig(const Scope& scope, const json::ObjectReader& document);

}  // namespace execcred::lint
