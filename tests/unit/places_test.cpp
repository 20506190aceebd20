// SPDX-License-Identifier: Apache-2.0
// Lines and columns of the values of documents, in JSON and YAML.
#include "expect.hpp"

#include <execcred/yaml/documents.hpp>
#include <execcred/yaml/places.hpp>

#include <doctest/doctest.h>

#include <string>

namespace execcred {
namespace {

// "DOCUMENT/DEPTH STEP LINE:COLUMN" of each value, one per line.
std::string places_in(std::string_view text) {
  std::string told;
  for_each_place(text, 64 * 1024, [&told](const PlacedValue& value) {
    told += std::to_string(value.document) + "/" + std::to_string(value.depth) + " " +
            (value.key ? std::string(*value.key) : std::to_string(value.index)) + " " +
            std::to_string(value.line) + ":" + std::to_string(value.column) + "\n";
  });
  return told;
}

}  // namespace

TEST_CASE("places: JSON, with escapes, nesting and characters of several bytes") {
  CHECK(places_in("{\"a\": [1, {\"\\u00e9\\\"\": \"}\"}],\n \"é\": \"é\", \"b\": {}}") ==
        "0/0 0 1:1\n0/1 a 1:2\n0/2 0 1:8\n0/2 1 1:11\n0/3 é\" 1:12\n0/1 é 2:2\n0/1 b 2:12\n");
  CHECK(places_in("{}\n---\n{\"a\":\n1}{\"b\":2}") ==
        "0/0 0 1:1\n1/0 0 3:1\n1/1 a 3:2\n2/0 0 4:3\n2/1 b 4:4\n");
}

TEST_CASE("places: YAML, with sequences, flow style, aliases and empty documents") {
  CHECK(places_in("# c\n---\n---\na: &x\n- b\n- {c: 1, d: [2]}\ne: *x\n--- text\n") ==
        "0/0 0 4:1\n0/1 a 4:1\n0/2 0 5:3\n0/2 1 6:3\n0/3 c 6:4\n0/3 d 6:10\n0/4 0 6:14\n0/1 e 7:1\n"
        "1/0 0 8:5\n");
  // A tag makes the first one a string, so it is counted.
  CHECK(places_in("!!str ~\n---\n!!null ~\n---\na: 1\n") == "0/0 0 1:1\n1/0 0 5:1\n1/1 a 5:1\n");
  // Looks like JSON, but is only YAML.
  CHECK(places_in("{a: 1,\n b: 2}") == "0/0 0 1:1\n0/1 a 1:2\n0/1 b 2:2\n");
}

TEST_CASE("places: a document that cannot be read is counted, and has no places") {
  const std::string text = "a: 1\n---\nb: [\n---\n{\"c\": 3}\n---\nd: 4\n";
  CHECK(parse_each_document(text, 64 * 1024).size() == 4);
  CHECK(places_in(text) == "0/0 0 1:1\n0/1 a 1:1\n2/0 0 5:1\n2/1 c 5:2\n3/0 0 7:1\n3/1 d 7:1\n");
  // The same beside a broken JSON document, with or without "---".
  const std::string json =
      "{\"a\": 1} {\"b\" 2}\n{\"c\": 3} {\"d\": 4}\n--- {\"e\":\n--- {\"f\": 6}\n";
  CHECK(parse_each_document(json, 64 * 1024).size() == 6);
  CHECK(
      places_in(json) ==
      "0/0 0 1:1\n0/1 a 1:2\n2/0 0 2:1\n2/1 c 2:2\n3/0 0 2:10\n3/1 d 2:11\n5/0 0 4:5\n5/1 f 4:6\n");
  CHECK(places_in("").empty());
  CHECK(places_in("{\"a\": ").empty());
}

}  // namespace execcred
