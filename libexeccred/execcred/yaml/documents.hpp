// SPDX-License-Identifier: Apache-2.0
// Reads what Kubernetes tools accept as a manifest: JSON or YAML, one or many documents.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/json/json.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace execcred {

// The text in UTF-8, if it is UTF-16 with a byte order mark, as PowerShell's > writes it; nullopt
// if it is not.
std::optional<SecretString> from_utf16(std::string_view text);

// A text that starts with '{' is one or more JSON documents, optionally with "---" between them. If
// it is not valid JSON, and in all other cases, the text is YAML. Fails (configuration) with "the
// document …" and the position.
Result<std::vector<json::Value>> parse_documents(std::string_view text, std::size_t max_bytes);

// The problems of items of a list, by their index.
using ItemProblems = std::map<std::size_t, Error>;

struct Document {
  json::Value value = {};
  // The list's items that cannot be read. Of such an item, `value` has only its apiVersion, kind,
  // and names.
  ItemProblems item_problems = {};
};

// The same, but a document that cannot be read becomes an error at its position in the result. The
// other documents are read: those behind a "---", which no document can contain at the start of a
// line, and those behind a broken JSON document whose brackets are closed. The items of a list are
// read one by one if it cannot be read as a whole. In YAML, that needs a list whose syntax is
// right: where an item ends is known only when all before it has been read.
std::vector<Result<Document>> parse_each_document(std::string_view text, std::size_t max_bytes);

}  // namespace execcred
