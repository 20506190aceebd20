// SPDX-License-Identifier: Apache-2.0
// The XML that STS answers: elements that hold either elements or text.
//
// Read by expat, as UTF-8 whatever the declaration says. Besides malformed XML, these are refused:
// a document type, so that nothing is expanded or fetched; comments, CDATA sections and processing
// instructions, which readers handle differently; an element that occurs twice in another. Bounded
// in size, depth and number of elements.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <string_view>

namespace execcred::aws {

// As JSON would have it: an object with the root's name, whose value is an object of the elements
// in it, or a string. Attributes (a namespace's, for STS) are left out. Fails
// (no_credential) with the position, and nothing of the text.
Result<json::Value> parse_xml(std::string_view text);

}  // namespace execcred::aws
