// SPDX-License-Identifier: Apache-2.0
// Reads YAML as Kubernetes tools do: the types of scalars follow the rules of go-yaml v2.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/json/json.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

namespace execcred::yaml {

// `is_plain`: written without quotes. `tag` may be empty. Fails (configuration) with a message that
// starts with "has", for a tag that does not fit or is not one of YAML's own, and for a value that
// JSON cannot hold.
Result<json::Value> resolve_scalar(std::string_view text, bool is_plain, std::string_view tag);

// Reads YAML into the same tree as JSON, as Kubernetes tools do (sigs.k8s.io/yaml): plain scalars
// are typed by the YAML 1.1 rules of its decoder, and keys are strings.
//
// Refused: nesting over a depth, duplicate keys, aliases that stand for more than 10,000 nodes or
// for more text than the limit of the input (a "billion laughs" document), merge keys, keys that
// are null or not scalars, another version than 1.1, custom tags, more than 100 %TAG directives,
// and numbers that JSON cannot hold.

struct Limits {
  std::size_t bytes = 128 * 1024;
  std::size_t depth = 32;
  // What aliases may add to all documents of one text: this many nodes, and `bytes` of scalars and
  // keys.
  std::size_t alias_nodes = 10'000;
  // After this many documents, the rest of the text is not read. With 1, an empty one counts too.
  std::size_t documents = std::numeric_limits<std::size_t>::max();
  bool last_key_counts = false;  // of duplicate keys, instead of an error
};

// The progress in a text that is read in pieces.
struct Progress {
  std::size_t lines = 0;  // before this piece, for the places in errors
  // What aliases have added so far, in this piece and earlier ones.
  std::size_t alias_nodes = 0;
  std::size_t alias_bytes = 0;
};

// Reads each document of the text, in order; empty ones are ignored. Stops at the first error, and
// returns it: its own (configuration, with "line L, column C") or the receiver's.
Status for_each_document(std::string_view text, const Limits& limits,
                         const std::function<Status(json::Value)>& receive);
// The same for a piece of a text: what its aliases add is counted together with earlier pieces.
Status for_each_document(std::string_view text, const Limits& limits, Progress& progress,
                         const std::function<Status(json::Value)>& receive);

// The errors of items of a list, by their index.
using ItemErrors = std::map<std::size_t, Error>;

// The same for a text that for_each_document() refuses. What it refuses in one of the `items` of a
// document is an error of that item, of which only the members before the error remain. What is no
// YAML at all is still an error of the text.
Status for_each_divided_document(std::string_view text, const Limits& limits, Progress& progress,
                                 const std::function<Status(json::Value, ItemErrors)>& receive);

// Fails (configuration) if a text in double quotes has the escape "\/" of JSON, which go-yaml v2
// does not know. Succeeds for what is no YAML.
Status check_escapes(std::string_view text);

}  // namespace execcred::yaml
