// SPDX-License-Identifier: Apache-2.0
// Secrets of the hub, read and written whole.
//
// A Secret is the hub's JSON object, so that a change keeps what others wrote to it (labels,
// annotations, fields of later versions). Only what was read is overwritten: a replace and a remove
// send the uid and the resourceVersion.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/hub/change.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/label_selector.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct HubSecretsSettings {
  // Of one operation with all its attempts; of a list, of each page.
  Duration timeout = std::chrono::seconds(30);
  // Of all objects of a list, as JSON.
  std::size_t max_list_bytes = std::size_t{128} * 1024 * 1024;
};

class HubSecrets {
 public:
  // The client must outlive this, and is used by one thread at a time.
  explicit HubSecrets(HubClient& hub, HubSecretsSettings settings = {});

  // All that match, as one snapshot; an empty namespace means all namespaces. Never only a part of
  // them: fails as HubClient::find() does, and with no_credential for more than max_list_bytes. A
  // resourceVersion that expires between two pages begins the list again. The caller wipes whole
  // objects (json::wipe).
  Result<std::vector<json::Value>> list(const std::string& name_space,
                                        const LabelSelector& selector, HubContent content);

  // nullopt where there is no such Secret. Fails as HubClient::find() does, and with configuration
  // for what is no name.
  Result<std::optional<json::Value>> get(const std::string& name_space, const std::string& name);

  // POST. The name stands in the object. After `unknown` and `conflict`, read it: it may be ours.
  ChangeOutcome create(const std::string& name_space, const json::Value& object);

  // PUT, if the hub's object still has the uid and resourceVersion of `object`; an object without
  // them is not sent (configuration).
  ChangeOutcome replace(const std::string& name_space, const std::string& name,
                        const json::Value& object);

  // DELETE with these preconditions. `done` may mean only that it is marked: an object with
  // finalizers stays until they are removed.
  ChangeOutcome remove(const std::string& name_space, const std::string& name,
                       const std::string& uid, const std::string& resource_version);

 private:
  void begin();

  HubClient& hub_;
  HubSecretsSettings settings_;
};

// metadata.FIELD, where that is a string; else empty.
std::string_view metadata_text(const json::Value& object, std::string_view field);

}  // namespace execcred
