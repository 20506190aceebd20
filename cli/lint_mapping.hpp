// SPDX-License-Identifier: Apache-2.0
// Documents that say which program stands for an access provider: the mapping file, and the block
// of Kueue's configuration that does the same.
#pragma once

#include "lint_findings.hpp"

#include <execcred/json/json_reader.hpp>

#include <string_view>

namespace execcred::lint {

// `text` is the whole document, because keys that differ only in case show in the text alone.
void check_mapping(const Scope& scope, std::string_view text);

// multiKueue.clusterProfile.accessProviders of a Configuration (config.kueue.x-k8s.io).
void check_kueue(const Scope& scope, const json::ObjectReader& configuration);

}  // namespace execcred::lint
