// SPDX-License-Identifier: Apache-2.0
// What a YAML scalar means, by the rules of go-yaml v2, on which Kubernetes tools stand.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <string_view>

namespace execcred::yaml {

// `is_plain`: written without quotes. `tag` may be empty. Fails (configuration) with a message
// that starts with "has": a tag that is not one of YAML's own, or a value that JSON cannot hold.
Result<json::Value> resolve_scalar(std::string_view text, bool is_plain, std::string_view tag);

}  // namespace execcred::yaml
