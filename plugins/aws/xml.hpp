// SPDX-License-Identifier: Apache-2.0
// Parses the XML of STS's replies: elements that contain either elements or text.
//
// expat reads it as UTF-8, whatever the declaration says. Besides malformed XML, these are refused:
// a document type, so that nothing is expanded or fetched; comments, CDATA sections and processing
// instructions, which readers handle differently; an element that occurs twice in another one.
// Size, depth and number of elements are limited.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <string_view>

namespace execcred::aws {

// The XML as JSON: an object with the root's name, whose value is an object of the elements in the
// root, or a string. Attributes (a namespace's, for STS) are left out. Fails (no_credential); the
// message has the position and nothing of the text.
Result<json::Value> parse_xml(std::string_view text);

}  // namespace execcred::aws
