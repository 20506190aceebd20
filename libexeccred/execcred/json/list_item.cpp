// SPDX-License-Identifier: Apache-2.0
#include <execcred/json/list_item.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/json/json_scan.hpp>

#include <initializer_list>
#include <utility>

namespace execcred {
namespace {

using json::Value;

// Adds the members of `text` that can be read: it may end within one of them.
void add_members(std::string_view text, std::initializer_list<std::string_view> names,
                 Value& object) {
  for (const std::string_view name : names) {
    const std::optional<std::string_view> member = json::member_text(text, name);
    if (!member) continue;
    Result<Value> value = json::parse(*member, {.bytes = kMaxItem});
    if (value) object.add(name, std::move(*value));
  }
}

// What tells an object from others.
Value outline_of(std::string_view text) {
  const std::string_view its_metadata = json::member_text(text, "metadata").value_or("");
  Value metadata;
  add_members(its_metadata, {"name", "namespace", "uid", "resourceVersion", "labels"}, metadata);
  if (metadata.find("name") == nullptr) return {};
  Value object;
  add_members(text, {"apiVersion", "kind"}, object);
  object.add("metadata", std::move(metadata));
  return object;
}

}  // namespace

Error item_problem(const std::string& problem) {
  return {.kind = Error::Kind::configuration,
          .message = "the object " + problem,
          .hint = "it is left out; its author must correct it, or remove it"};
}

ListItem unread_item(std::string_view text, const std::string& problem) {
  return {.object = outline_of(text), .problem = item_problem(problem)};
}

ListItem parse_item(std::string_view text, std::size_t max_bytes) {
  Result<Value> object = json::parse(text, {.bytes = max_bytes});
  if (object) return {.object = std::move(*object)};
  return unread_item(text, object.error().message);
}

std::string full_name_of(const Value& object) {
  const Value* const metadata = object.find("metadata");
  if (metadata == nullptr) return {};
  return full_name_of(json::text_or_empty(*metadata, "namespace"),
                      json::text_or_empty(*metadata, "name"));
}

Result<Envelope> open_envelope(std::string_view text, std::string_view member) {
  Envelope envelope;
  const std::optional<std::string_view> content = json::member_text(text, member);
  constexpr std::string_view kNull = "null";
  std::string rest;
  if (content) {
    envelope.content = *content;
    const auto begin = static_cast<std::size_t>(content->data() - text.data());
    rest.append(text.substr(0, begin)).append(kNull);
    rest.append(text.substr(begin + content->size()));
  }
  envelope.rest = TRY(
      json::parse(content ? std::string_view(rest) : text, {.bytes = text.size() + kNull.size()}));
  return envelope;
}

}  // namespace execcred
