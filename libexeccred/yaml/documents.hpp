// SPDX-License-Identifier: Apache-2.0
// What Kubernetes tools take as a manifest: JSON or YAML, one or many documents.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace execcred {

// A text that starts with '{' is JSON documents, one after the other, perhaps with "---" between
// them; if it is no JSON, and in every other case, it is YAML. Fails (configuration) with "the
// document …" and the place.
Result<std::vector<json::Value>> parse_documents(std::string_view text, std::size_t max_bytes);

// The same, but each document that cannot be read is an error in its place: the others are there
// where "---" separates them, which no document can hold at the start of a line.
std::vector<Result<json::Value>> parse_each_document(std::string_view text, std::size_t max_bytes);

}  // namespace execcred
