// SPDX-License-Identifier: Apache-2.0
// One object of a list or of a watch. Its author may be anyone who may create such an object, so
// the limits apply to each object, and an object beyond them is a problem of that one alone.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// The data of a Secret is at most 1 MiB; base64 adds a third, and managedFields and annotations add
// more.
inline constexpr std::size_t kMaxItem = std::size_t{4} * 1024 * 1024;

struct ListItem {
  json::Value object = {};
  // Why the object is not usable: it is too large, nested too deep, or has a key twice. Then
  // `object` has only its apiVersion, kind, and names.
  std::optional<Error> problem = std::nullopt;
};

// Parses the text of an object.
ListItem parse_item(std::string_view text, std::size_t max_bytes = kMaxItem);

// The problem of an object: "the object `problem`".
Error item_problem(const std::string& problem);

// The item of an object that `text` starts with and that is not read further, for example because
// it is too large. `object` is a null if the text has no name.
ListItem unread_item(std::string_view text, const std::string& problem);

// "NAMESPACE/NAME" for messages; a part that is missing or not a string is left out.
std::string full_name_of(const json::Value& object);

// A list or an event: the text without the member that holds the objects, and that member.
struct Envelope {
  json::Value rest = {};
  std::string_view content = {};  // empty if there is no such member
};

// Divides `text`. Fails (configuration) if it is no JSON object apart from the content of `member`.
Result<Envelope> open_envelope(std::string_view text, std::string_view member);

}  // namespace execcred
