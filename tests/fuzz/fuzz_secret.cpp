// SPDX-License-Identifier: Apache-2.0
// A Secret of the API, compared with nlohmann/json: its name, labels and values. A value that is
// not base64 is an error only when it is read.
#include "fuzz.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/kube/stored_secret.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace execcred::fuzz {
namespace {

std::string text_of(const nlohmann::json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_string()
             ? object[name].get<std::string>()
             : "";
}

void check_texts(const nlohmann::json& metadata, const char* name, const Labels& ours) {
  Labels wanted;
  if (metadata.contains(name) && metadata[name].is_object()) {
    for (const auto& [key, value] : metadata[name].items()) {
      if (value.is_string()) wanted.emplace(key, value.get<std::string>());
    }
  }
  require(ours == wanted, "the labels and annotations of the document");
}

void check_value(const StoredSecret& secret, const std::string& key, const std::string& encoded) {
  const Result<std::optional<SecretString>> value = secret.value(key);
  const std::optional<std::string> wanted = decode_base64(encoded);
  require(value.has_value() == wanted.has_value(), "a value where it is base64");
  if (!value) {
    require(value.error().kind == Error::Kind::no_credential, "bad base64 is no credential");
    return;
  }
  require(value->has_value() && (*value)->reveal() == *wanted, "the bytes of the value");
}

void check_data(const nlohmann::json& document, const StoredSecret& secret) {
  std::size_t count = 0;
  if (document.contains("data") && document["data"].is_object()) {
    for (const auto& [key, value] : document["data"].items()) {
      require(secret.has(key) == value.is_string(), "the keys that are texts");
      if (!value.is_string()) continue;
      ++count;
      check_value(secret, key, value.get<std::string>());
    }
  }
  require(secret.data.size() == count, "no other keys");
  require(!secret.value("no such key")->has_value(), "an absent key is absent");
}

void check_as(std::string_view input, bool is_item) {
  Result<json::Value> document = json::parse(input);
  if (!document) return;
  const Result<StoredSecret> secret = take_secret(*std::move(document), is_item);
  if (!secret) {
    require(secret.error().kind == Error::Kind::no_credential, "what is no Secret is data");
    return;
  }
  const nlohmann::json theirs = nlohmann::json::parse(input, nullptr, false);
  // Unread fields may contain numbers that no double can hold.
  if (theirs.is_discarded()) return;
  const std::string kind = text_of(theirs, "kind");
  require(kind == "Secret" || (is_item && kind.empty()), "nothing but Secrets");
  require(theirs.contains("metadata") && theirs["metadata"].is_object(), "metadata is there");
  require(secret->name == text_of(theirs["metadata"], "name"), "its name");
  require(secret->name_space == text_of(theirs["metadata"], "namespace"), "its namespace");
  require(secret->type == text_of(theirs, "type"), "its type");
  check_texts(theirs["metadata"], "labels", secret->labels);
  check_texts(theirs["metadata"], "annotations", secret->annotations);
  check_data(theirs, *secret);
}

void check_key(std::string_view text) {
  if (!is_secret_key(text)) return;
  require(text.find_first_of("/\\%?# \n") == std::string_view::npos && text != "." && text != "..",
          "a key is one name in a path and a URL");
}

}  // namespace

void check(std::string_view input) {
  check_as(input, false);
  check_as(input, true);
  check_key(input);
}

}  // namespace execcred::fuzz
