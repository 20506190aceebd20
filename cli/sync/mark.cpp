// SPDX-License-Identifier: Apache-2.0
#include "mark.hpp"

#include <execcred/base/rfc3339.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json.hpp>

#include <utility>

namespace execcred::sync {
namespace {

using std::chrono::sys_seconds;

std::string text_of(const Texts& texts, std::string_view name) {
  const auto found = texts.find(name);
  return found == texts.end() ? std::string() : found->second;
}

std::optional<sys_seconds> time_of(std::string_view text) {
  const Result<TimePoint> time = parse_rfc3339(text);
  if (!time) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*time);
}

void set(Texts& texts, std::string_view name, const std::string& text) {
  texts.erase(std::string(name));
  if (!text.empty()) texts.emplace(name, text);
}

}  // namespace

bool Mark::is_same_object(const Mark& other) const {
  return uid.empty() || other.uid.empty() || uid == other.uid;
}

bool Mark::is_of(const Mark& other) const {
  return instance == other.instance && name_space == other.name_space && name == other.name;
}

bool Mark::stands_for(const Mark& other, bool shows_end) const {
  // Before a reader sees an end that is over.
  constexpr std::chrono::seconds kBefore(30);
  if (uid != other.uid || digest != other.digest || is_expired != other.is_expired) return false;
  if (expires == other.expires || !shows_end) return true;
  return expires && other.expires && *other.expires > *expires &&
         *expires > SystemClock().now() + kBefore;
}

std::optional<Mark> mark_of(const Texts& labels, const Texts& annotations) {
  if (text_of(labels, kManagedBy) != kManager) return std::nullopt;
  Mark mark{.instance = text_of(labels, kInstance),
            .name_space = text_of(annotations, kProfileNamespace),
            .name = text_of(annotations, kProfileName),
            .uid = text_of(annotations, kProfileUid),
            .issued = time_of(text_of(annotations, kIssued)).value_or(sys_seconds()),
            .expires = time_of(text_of(annotations, kExpires)),
            .digest = text_of(annotations, kDigest),
            .is_expired = text_of(annotations, kExpired) == "true"};
  if (mark.instance.empty() || mark.name_space.empty() || mark.name.empty()) return std::nullopt;
  return mark;
}

void write_mark(const Mark& mark, Texts& labels, Texts& annotations) {
  set(labels, kManagedBy, std::string(kManager));
  set(labels, kInstance, mark.instance);
  set(annotations, kProfileNamespace, mark.name_space);
  set(annotations, kProfileName, mark.name);
  set(annotations, kProfileUid, mark.uid);
  set(annotations, kIssued, format_rfc3339(mark.issued));
  set(annotations, kExpires, mark.expires ? format_rfc3339(*mark.expires) : std::string());
  set(annotations, kDigest, mark.digest);
  set(annotations, kExpired, mark.is_expired ? "true" : "");
}

std::string marker_text(const Mark& mark) {
  Texts labels;
  Texts annotations;
  write_mark(mark, labels, annotations);
  json::Value document((json::Object()));
  for (const Texts* const texts : {&labels, &annotations}) {
    for (const auto& [name, text] : *texts) document.add(name, json::Value(text));
  }
  return json::to_indented_text(document);
}

Result<Mark> parse_marker(std::string_view text) {
  const json::Value document = TRY(json::parse(text));
  Texts texts;
  if (document.object() != nullptr) {
    for (const json::Member& member : *document.object()) {
      if (member.value.string() != nullptr) texts.emplace(member.name, *member.value.string());
    }
  }
  std::optional<Mark> mark = mark_of(texts, texts);
  if (mark) return std::move(*mark);
  return Error::configuration("it is no marker of execcred sync");
}

}  // namespace execcred::sync
