// SPDX-License-Identifier: Apache-2.0
// A Secret (core/v1), from the API or from a volume: named values, and what the API says about it.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/label_selector.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct StoredSecret {
  std::string name_space = {};
  std::string name = {};
  std::string type = {};
  Labels labels = {};
  Labels annotations = {};
  // The values are in base64, as in the API, unless is_decoded. Malformed base64 affects only the
  // reader of that value.
  std::map<std::string, SecretString, std::less<>> data = {};
  bool is_decoded = false;

  std::string full_name() const { return name_space + "/" + name; }
  bool has(std::string_view key) const { return data.find(key) != data.end(); }
  // nullopt if there is no such key. Fails (no_credential) for malformed base64.
  Result<std::optional<SecretString>> value(std::string_view key) const;
};

// Copies the values out of the document, and overwrites the document's strings. `is_item`: an item
// of a list, which has no kind. Fails (no_credential) if the document is not a Secret.
Result<StoredSecret> take_secret(json::Value document, bool is_item = false);

// Whether the text is 1 to 253 characters of [-._a-zA-Z0-9], but not "." or "..".
bool is_secret_key(std::string_view text);

}  // namespace execcred
