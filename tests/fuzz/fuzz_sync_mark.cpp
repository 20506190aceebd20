// SPDX-License-Identifier: Apache-2.0
// How execcred sync recognizes its own objects, compared with nlohmann/json: by .execcred-sync in a
// folder, and by labels and annotations of a Secret. It may replace and remove such objects.
#include "fuzz.hpp"

#include <sync/mark.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace execcred::fuzz {
namespace {

using sync::Mark;
using sync::Texts;

Texts texts_of(const nlohmann::json& object) {
  Texts texts;
  if (!object.is_object()) return texts;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) texts.emplace(name, value.get<std::string>());
  }
  return texts;
}

bool is_same(const Mark& one, const Mark& other) {
  return one.is_of(other) && one.uid == other.uid && one.issued == other.issued &&
         one.expires == other.expires && one.digest == other.digest &&
         one.is_expired == other.is_expired;
}

std::string text_at(const Texts& texts, std::string_view name) {
  const auto found = texts.find(name);
  return found == texts.end() ? std::string() : found->second;
}

// Checks that the texts contain the mark, and that a changed mark is not execcred's.
void check_owner(const Mark& mark, const Texts& labels, const Texts& annotations) {
  require(text_at(labels, sync::kManagedBy) == sync::kManager, "execcred's label");
  require(!mark.instance.empty() && mark.instance == text_at(labels, sync::kInstance),
          "an instance");
  require(!mark.name.empty() && mark.name == text_at(annotations, sync::kProfileName) &&
              !mark.name_space.empty() &&
              mark.name_space == text_at(annotations, sync::kProfileNamespace),
          "a ClusterProfile");
  Mark other = mark;
  other.instance += "x";
  require(!mark.is_of(other), "another instance's is not ours");
  other = mark;
  other.name += "x";
  require(!mark.is_of(other), "another ClusterProfile's is not ours");
}

void check_marker(std::string_view input) {
  const Result<Mark> mark = sync::parse_marker(input);
  if (!mark) {
    require(!mark.error().message.empty(), "a reason");
    return;
  }
  const nlohmann::json theirs = nlohmann::json::parse(input, nullptr, false);
  // Unread fields may contain numbers that no double can hold.
  if (!theirs.is_discarded()) check_owner(*mark, texts_of(theirs), texts_of(theirs));
  const std::string text = sync::marker_text(*mark);
  const Result<Mark> again = sync::parse_marker(text);
  require(again.has_value() && is_same(*again, *mark), "what is written is read");
  require(sync::marker_text(*again) == text, "one spelling");
}

// The input as the metadata of a Secret from the API server.
void check_secret(std::string_view input) {
  const nlohmann::json metadata = nlohmann::json::parse(input, nullptr, false);
  if (!metadata.is_object()) return;
  const Texts labels = texts_of(metadata.value("labels", nlohmann::json()));
  const Texts annotations = texts_of(metadata.value("annotations", nlohmann::json()));
  const std::optional<Mark> mark = sync::mark_of(labels, annotations);
  if (!mark) return;
  check_owner(*mark, labels, annotations);
  Texts new_labels = labels;
  Texts new_annotations = annotations;
  sync::write_mark(*mark, new_labels, new_annotations);
  const std::optional<Mark> again = sync::mark_of(new_labels, new_annotations);
  require(again.has_value() && is_same(*again, *mark), "what is written is read");
  require(new_labels == labels, "others' labels are kept");
  for (const auto& [name, text] : annotations) {
    const bool is_ours = name.starts_with("execcred.io/");
    require(is_ours || text_at(new_annotations, name) == text, "others' annotations are kept");
  }
}

}  // namespace

void check(std::string_view input) {
  check_marker(input);
  check_secret(input);
}

}  // namespace execcred::fuzz
