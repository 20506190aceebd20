// SPDX-License-Identifier: Apache-2.0
// The XML that STS answers: elements that hold either elements or text.
//
// A small part of XML 1.0, read strictly: one root, names of ASCII, the five entities and
// character references. No DTD, so nothing is expanded or fetched; no CDATA, comments or
// processing instructions but the declaration at the start. Bounded in size and depth. An element
// that stands twice in another is refused.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <string_view>

namespace execcred::aws {

// As JSON would have it: an object with the root's name, whose value is an object of the elements
// in it, or a string. Attributes (a namespace's, for STS) are checked, and left out. Fails
// (no_credential) with the position, and nothing of the text.
Result<json::Value> parse_xml(std::string_view text);

}  // namespace execcred::aws
