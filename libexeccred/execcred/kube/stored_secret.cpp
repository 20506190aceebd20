// SPDX-License-Identifier: Apache-2.0
#include <execcred/json/json_reader.hpp>
#include <execcred/kube/stored_secret.hpp>

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxKey = 253;

Error no_secret(const std::string& why) { return Error::no_credential("the hub's reply " + why); }

Result<Labels> labels_of(const json::Value& metadata, std::string_view name) {
  Labels labels;
  const json::Value* value = metadata.find(name);
  if (value == nullptr || value->is_null()) return labels;
  if (value->object() == nullptr) return no_secret("has " + std::string(name) + " of another kind");
  for (const json::Member& member : *value->object()) {
    if (const std::string* text = member.value.string()) labels.emplace(member.name, *text);
  }
  return labels;
}

Result<StoredSecret> read(const json::Value& document, bool is_item) {
  StoredSecret secret;
  const std::string kind = json::text_or_empty(document.find("kind"));
  if (kind != "Secret" && !(is_item && kind.empty())) {
    return no_secret("is of kind " + in_quotes(kind) + ", not Secret");
  }
  const json::Value* metadata = document.find("metadata");
  if (metadata == nullptr || metadata->object() == nullptr) return no_secret("has no metadata");
  secret.name_space = json::text_or_empty(metadata->find("namespace"));
  secret.name = json::text_or_empty(metadata->find("name"));
  secret.type = json::text_or_empty(document.find("type"));
  secret.labels = TRY(labels_of(*metadata, "labels"));
  secret.annotations = TRY(labels_of(*metadata, "annotations"));
  const json::Value* data = document.find("data");
  if (data == nullptr || data->is_null()) return secret;
  if (data->object() == nullptr) return no_secret("has data that is no object");
  for (const json::Member& member : *data->object()) {
    if (const std::string* text = member.value.string()) {
      secret.data.emplace(member.name, SecretString(*text));
    }
  }
  return secret;
}

}  // namespace

Result<std::optional<SecretString>> StoredSecret::value(std::string_view key) const {
  const auto found = data.find(key);
  if (found == data.end()) return std::optional<SecretString>();
  if (is_decoded) return std::optional(found->second.copy());
  std::optional<std::string> decoded = decode_base64(found->second.reveal());
  if (!decoded) {
    return Error::no_credential("key " + in_quotes(key) + " of Secret " + in_quotes(full_name()) +
                                " is no base64");
  }
  SecretString value(*decoded);
  wipe(*decoded);
  return std::optional(std::move(value));
}

Result<StoredSecret> take_secret(json::Value document, bool is_item) {
  return read(*json::SecretValue(std::move(document)), is_item);
}

bool is_secret_key(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKey && text != "." && text != ".." &&
         is_alphanumeric_or(text, "-_.");
}

}  // namespace execcred
